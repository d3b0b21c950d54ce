package probe_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jiffyperf/jiffy/instrument/mapping"
	"github.com/jiffyperf/jiffy/instrument/probe"
	"github.com/jiffyperf/jiffy/proof/jdk"
)

const driver = "../../fixtures/driver"

// outcome is how often a method was left, in the run of Driver.
type outcome struct{ returned, thrown int }

// outcomes are counted by hand from Driver.java: what is not reported twice, or forgotten, shows here. Methods that are not
// listed are checked for balance only.
var outcomes = map[string]outcome{
	"Straight.empty()V":                                       {1, 0},
	"Straight.fails()V":                                       {0, 1},
	"Branches.spin(Z)V":                                       {1, 0}, // jumps back to its first instruction
	"Branches.severalExits(I)I":                               {4, 0},
	"Switches.table(I)I":                                      {6, 0},
	"Switches.string(Ljava/lang/String;)I":                    {4, 1},
	"Exceptions.caught(Ljava/lang/String;)I":                  {5, 0},
	"Exceptions.propagates(I)V":                               {0, 4},
	"Exceptions.nestedFinally()V":                             {1, 0},
	"Locks.block(Z)I":                                         {2, 0},
	"Locks.method()I":                                         {1, 0},
	"Locks.throwing()V":                                       {0, 1},
	"Constructors.<init>()V":                                  {1, 0},
	"Constructors.<init>(Z)V":                                 {2, 0}, // branches before this()
	"Constructors.create(Z)LConstructors;":                    {2, 0},
	"Constructors$Sub.<init>([Ljava/lang/String;)V":           {1, 0}, // "sub of nothing" throws before super(): no event
	"Locals.wide(D)D":                                         {2, 0},
	"Old.loop([I)I":                                           {2, 0},
	"Interfaces.defaultOne(I)I":                               {2, 0},
	"Interfaces.lambda$lambda$0(Ljava/lang/String;)V":         {1, 0},
	"Compiler.compare(Ljava/lang/String;Ljava/lang/String;)I": {1, 0}, // its bridge isn't timed
	"Compiler$Inner.read()I":                                  {2, 0},
	"Modern.<init>(Ljava/lang/String;Ljava/util/List;)V":      {1, 1},
	"Modern.annotated(Ljava/lang/Object;)I":                   {2, 1},
	"Suspending.load(Ljava/lang/String;Lkotlin/coroutines/Continuation;)Ljava/lang/Object;": {3, 1},
	"Suspending.invokeSuspend(Ljava/lang/Object;)Ljava/lang/Object;":                        {1, 0},
	"NormalExits.twice(I)I": {2, 0},
	"Trivial.loop()V":       {1, 0},
}

// TestOnJVM runs the fixture classes before and after they were instrumented, and compares what they do.
func TestOnJVM(t *testing.T) {
	eachJDK(t, func(t *testing.T, j jdk.JDK) {
		before, classes := compileDriver(t, j), t.TempDir()
		probes := instrumentFixtures(t, classes, func(opts *probe.Options) { opts.Clock = probe.ClockAuto })
		after := classes + string(filepath.ListSeparator) + before

		want := run(t, j, before, "Driver", "events")
		got := run(t, j, after, "Driver", "events")
		transcript, events, _ := strings.Cut(got, "event ")
		if diff := cmp.Diff(want, transcript); diff != "" || !strings.Contains(want, "severalExits 50 = 11\n") {
			t.Errorf("the instrumented classes do something else, -want +got:\n%s", diff)
		}
		checkEvents(t, probes, "event "+events)
	})
}

// checkEvents compares the events with the probes and the known numbers.
func checkEvents(t *testing.T, probes []mapping.Row, events string) {
	t.Helper()
	names := map[string]string{}
	for _, p := range probes {
		names[fmt.Sprintf("%012x", p.ID)] = p.Class + "." + p.Method + p.Descriptor
	}
	got := map[string]outcome{}
	for line := range strings.Lines(events) {
		words := strings.Fields(line) // event count id method outcome [result]
		if words[0] == "unbalanced" {
			// What throws in or before super() or this() has no exit.
			if line != "unbalanced 0 Constructors.<init>(Ljava/lang/StringBuilder;Ljava/lang/StringBuilder;)V\n" &&
				line != "unbalanced 0 Constructors$Sub.<init>([Ljava/lang/String;)V\n" {
				t.Error(line)
			}
			continue
		}
		var count int
		if _, err := fmt.Sscan(words[1], &count); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if names[words[2]] != words[3] {
			t.Errorf("probe %s reports %s", names[words[2]], words[3])
		}
		o := got[words[3]]
		if words[4] == "returned" {
			o.returned += count
		} else {
			o.thrown += count
		}
		got[words[3]] = o
	}
	for name, want := range outcomes {
		if got[name] != want {
			t.Errorf("%s: %+v, not %+v", name, got[name], want)
		}
	}
	for _, result := range []string{" returned key\n", " returned continuation\n"} {
		if !strings.Contains(events, result) {
			t.Errorf("no suspend function has handed on%s", result)
		}
	}
}

// TestLinksOnJVM links the fixture classes under -Xverify:all with every clock and both kinds of exits.
func TestLinksOnJVM(t *testing.T) {
	var folders []string
	for clock := probe.ClockAuto; clock <= probe.ClockNanoTime; clock++ {
		for exits := probe.ExitsAll; exits <= probe.ExitsNormal; exits++ {
			folder := filepath.Join(t.TempDir(), fmt.Sprintf("clock %v, exits %v", clock, exits))
			instrumentFixtures(t, folder, func(opts *probe.Options) { opts.Clock, opts.Exits = clock, exits })
			folders = append(folders, folder)
		}
	}
	args := []string{"Linker", strings.Join(folders, string(filepath.ListSeparator))}
	for _, file := range fixtureClasses(t) {
		args = append(args, className(file))
	}
	eachJDK(t, func(t *testing.T, j jdk.JDK) { link(t, j, args) })
}

// link runs Linker, whose folders must hold all the classes, all of which must link.
func link(t *testing.T, j jdk.JDK, args []string) {
	t.Helper()
	out := t.TempDir()
	if err := j.Compile(out, nil, driver+"/Linker.java", driver+"/io"); err != nil {
		t.Fatal(err)
	}
	folders := len(filepath.SplitList(args[1]))
	want := fmt.Sprintf("linked %d\n", folders*(len(args)-2))
	if got := run(t, j, out, args...); got != want {
		t.Errorf("%snot %s", got, want)
	}
}

// eachJDK runs a test with the oldest and the newest JDK of the machine.
func eachJDK(t *testing.T, test func(*testing.T, jdk.JDK)) {
	t.Helper()
	found, err := jdk.Find()
	if err != nil {
		t.Skip(err)
	}
	for _, j := range slices.CompactFunc([]jdk.JDK{found[0], found[len(found)-1]}, func(a, b jdk.JDK) bool { return a == b }) {
		t.Run(fmt.Sprintf("JDK %d", j.Release), func(t *testing.T) { test(t, j) })
	}
}

// compileDriver compiles the driver and returns a class path of it and the fixture classes.
func compileDriver(t *testing.T, j jdk.JDK) string {
	t.Helper()
	var folders []string
	for _, file := range fixtureClasses(t) {
		name, _ := filepath.Rel(fixtures, file)
		folder, _, _ := strings.Cut(filepath.ToSlash(name), "/")
		folders = append(folders, filepath.Join(fixtures, folder))
	}
	path := strings.Join(slices.Compact(folders), string(filepath.ListSeparator))
	out := t.TempDir()
	if err := j.Compile(out, []string{"-cp", path}, driver); err != nil {
		t.Fatal(err)
	}
	return out + string(filepath.ListSeparator) + path
}

// instrumentFixtures writes the fixture classes, instrumented, to a folder.
func instrumentFixtures(t *testing.T, folder string, change func(*probe.Options)) (probes []mapping.Row) {
	t.Helper()
	for _, file := range fixtureClasses(t) {
		opts := fixtureOptions(t, filepath.Dir(file))
		change(&opts)
		res, err := probe.New(opts).Class(read(t, file))
		if err != nil {
			t.Fatal(err)
		}
		probes = append(probes, res.Probes...)
		out := res.Out
		if !res.Changed {
			out = read(t, file)
		}
		to := filepath.Join(folder, filepath.FromSlash(strings.ReplaceAll(res.Class, ".", "/"))+".class")
		write(t, to, string(out))
	}
	return probes
}

// className is a fixture's binary name: its path below its case's folder.
func className(file string) string {
	name, _ := filepath.Rel(fixtures, strings.TrimSuffix(file, ".class"))
	_, name, _ = strings.Cut(filepath.ToSlash(name), "/")
	return strings.ReplaceAll(name, "/", ".")
}

func run(t *testing.T, j jdk.JDK, classPath string, args ...string) string {
	t.Helper()
	out, err := j.Run("java", append([]string{"-Xverify:all", "-cp", classPath}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// write writes a file and the folders it lies in.
func write(t *testing.T, file, data string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}
