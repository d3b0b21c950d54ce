package instrument

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jiffyperf/jiffy/instrument/archive"
	"github.com/jiffyperf/jiffy/instrument/mapping"
	"github.com/jiffyperf/jiffy/instrument/probe"
	"github.com/jiffyperf/jiffy/instrument/rules"
)

// project is two input directories, one after the other on the class path, and an output.
type project struct {
	t                 *testing.T
	dir, first, other string
	options           Options
}

func newProject(t *testing.T) *project {
	dir := t.TempDir()
	p := &project{t: t, dir: dir, first: filepath.Join(dir, "first"), other: filepath.Join(dir, "other")}
	p.put("first/Straight.class", compiled("Straight"))
	p.put("first/Exceptions.class", compiled("Exceptions"))
	p.put("first/Locks.class", compiled("Locks"))
	p.put("first/notes/readme.txt", []byte("text"))
	p.put("first/META-INF/services/a.B", []byte("first\n"))
	p.put("first/META-INF/versions/9/Straight.class", compiled("Straight"))
	p.put("other/META-INF/services/a.B", []byte("other\n"))
	p.put("other/Straight.class", compiled("Switches"))
	p.put("other/Switches.class", compiled("Switches"))
	p.options = Options{Inputs: []string{p.first, p.other}, Output: filepath.Join(dir, "out"), Version: "v1", Rules: new(rules.Rules),
		Verify: true}
	return p
}

// compiled is a compiled fixture class.
func compiled(name string) []byte {
	b, err := os.ReadFile(fixture(name))
	if err != nil {
		panic(err)
	}
	return b
}

func (p *project) put(name string, content []byte) {
	p.t.Helper()
	path := filepath.Join(p.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o666); err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) remove(name string) {
	p.t.Helper()
	if err := os.RemoveAll(filepath.Join(p.dir, filepath.FromSlash(name))); err != nil {
		p.t.Fatal(err)
	}
}

// update runs with a list of changes. The output must be what a clean build makes.
func (p *project) update(changes ...string) *Summary {
	p.t.Helper()
	p.put("changed.txt", []byte(strings.Join(changes, "\n")))
	o := p.options
	o.Changed = filepath.Join(p.dir, "changed.txt")
	s := run(p.t, o)
	if diff := cmp.Diff(p.clean(), contents(p.t, o.Output)); diff != "" {
		p.t.Errorf("output (-clean build +got):\n%s", diff)
	}
	return s
}

// clean is what a build makes that knows of none before.
func (p *project) clean() map[string]string {
	p.t.Helper()
	o := p.options
	o.Output = filepath.Join(p.dir, "clean")
	run(p.t, o)
	defer os.RemoveAll(o.Output)
	return contents(p.t, o.Output)
}

// contents returns the files below a directory, classes in quotes.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(filepath.Join(dir, path))
		files[path] = string(b)
		if strings.HasSuffix(path, ".class") {
			files[path] = strconv.QuoteToASCII(string(b))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestChangedInputsGiveWhatACleanBuildGives(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*project) []string
		kept   int // classes that are not read, of 5 at first
	}{
		{"nothing", func(*project) []string { return nil }, 5},
		{"comments and empty lines", func(*project) []string { return []string{"# made by a test\r", "", "  "} }, 5},
		{"a class is modified", func(p *project) []string {
			p.put("first/Locks.class", compiled("Branches"))
			return []string{"modified Locks.class"}
		}, 4},
		{"one with a shadow in a later version of Java", func(p *project) []string {
			p.put("first/META-INF/versions/9/Straight.class", compiled("Trivial"))
			return []string{"MODIFIED META-INF/versions/9/Straight.class\r"}
		}, 4},
		{"a class is added", func(p *project) []string {
			p.put("other/com/Added.class", compiled("Trivial"))
			return []string{"added " + filepath.Join(p.other, "com/Added.class")}
		}, 5},
		{"a directory is added", func(p *project) []string {
			p.put("other/com/one/Added.class", compiled("Trivial"))
			p.put("other/com/one/Second.class", compiled("Branches"))
			return []string{"added com"}
		}, 5},
		{"all in a directory is modified", func(p *project) []string {
			p.put("other/com/one/Added.class", compiled("Trivial"))
			p.update("added com")
			p.put("other/com/one/Added.class", compiled("Branches"))
			return []string{"modified com"}
		}, 5},
		{"a class that wasn't listed is added", func(p *project) []string {
			p.put("other/com/Added.class", compiled("Trivial"))
			return nil
		}, 5},
		{"a class is removed", func(p *project) []string {
			p.remove("first/Locks.class")
			return []string{"removed " + filepath.Join(p.first, "Locks.class")}
		}, 4},
		{"a class that shadowed another is removed", func(p *project) []string {
			p.remove("first/Straight.class")
			return []string{"removed Straight.class"}
		}, 4},
		{"a class that shadowed another is removed and not listed", func(p *project) []string {
			p.remove("first/Straight.class")
			return nil
		}, 4},
		{"a class that shadows another is added", func(p *project) []string {
			p.put("first/Switches.class", compiled("Trivial"))
			return []string{"added Switches.class"}
		}, 4},
		{"the first class gets other probes, so that all rows of the map move", func(p *project) []string {
			p.put("first/Exceptions.class", compiled("Trivial"))
			return []string{"modified Exceptions.class"}
		}, 4},
		{"a resource is modified", func(p *project) []string {
			p.put("first/notes/readme.txt", []byte("longer text"))
			return []string{"modified notes/readme.txt"}
		}, 5},
		{"a directory is removed", func(p *project) []string {
			p.remove("first/notes")
			return []string{"removed notes"}
		}, 5},
		{"one part of a merged file is removed", func(p *project) []string {
			p.remove("other/META-INF/services/a.B")
			return []string{"removed META-INF/services/a.B"}
		}, 5},
		{"an input is named as it was on the command line", func(p *project) []string {
			p.put("other/Switches.class", compiled("Trivial"))
			return []string{"modified " + p.other}
		}, 4},
		{"a class becomes unreadable, and stays so", func(p *project) []string {
			p.put("first/Locks.class", []byte("no class"))
			p.update("modified Locks.class")
			s := p.update()
			if len(s.Failed) != 1 {
				p.t.Errorf("failed: %q; want Locks.class, again", s.Failed)
			}
			return nil
		}, 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newProject(t)
			run(t, p.options)
			changes := test.change(p)
			s := p.update(changes...)
			if s.Kept != test.kept {
				t.Errorf("%d classes were not read, want %d; notes: %q", s.Kept, test.kept, s.Notes)
			}
		})
	}
}

func TestUnlistedClassesAreNotRead(t *testing.T) {
	p := newProject(t)
	run(t, p.options)
	before := contents(t, p.options.Output)
	p.put("first/Locks.class", compiled("Trivial"))
	p.put("first/Exceptions.class", compiled("Trivial"))
	p.put("changed.txt", []byte("modified Exceptions.class"))
	p.options.Changed = filepath.Join(p.dir, "changed.txt")
	run(t, p.options)
	after := contents(t, p.options.Output)
	if after["Locks.class"] != before["Locks.class"] || after["Exceptions.class"] == before["Exceptions.class"] {
		t.Error("Locks.class, which is not listed, was read; or Exceptions.class, which is, was not")
	}
}

// TestWhatForcesEverythingToBeRead: what the earlier output was made with, or what became of it, may not be what it should be.
func TestWhatForcesEverythingToBeRead(t *testing.T) {
	include := func(patterns ...string) *rules.Rules {
		r, err := rules.New(patterns, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	options := func(key string) string { return "the earlier output was made with other options (" + key + ")" }
	const damaged = "the earlier output can't be built on: its record in META-INF/jiffy/build.csv is incomplete or was changed"
	const noMap = "the probe map of the earlier output is missing or was changed"
	for _, test := range []struct {
		name   string
		change func(*project)
		want   string
	}{
		{"another include", func(p *project) { p.options.Rules = include("Straight") }, options("include")},
		{"another clock", func(p *project) { p.options.Clock = probe.ClockNanoTime }, options("clock")},
		{"other exits", func(p *project) { p.options.Exits = probe.ExitsNormal }, options("exits")},
		{"another salt", func(p *project) { p.options.Salt = "1" }, options("id_salt")},
		{"without the verifier", func(p *project) { p.options.Verify = false }, options("verify")},
		{"another version of jiffy", func(p *project) { p.options.Version = "v2" }, options("jiffy_version")},
		{"with the runtime", func(p *project) {
			p.options.AddRuntime, p.options.Runtime = true, []archive.File{{Name: "R.class", Content: []byte("r")}}
		}, options("runtime")},
		{"the inputs in another order", func(p *project) { slices.Reverse(p.options.Inputs) }, options("inputs")},
		{"one input less", func(p *project) { p.options.Inputs = p.options.Inputs[:1] }, options("inputs")},
		{"no output", func(p *project) { p.remove("out") }, "there is no earlier output that was made as a directory"},
		{"the record is cut off", func(p *project) { p.damage(recordName, func(b []byte) []byte { return b[:len(b)/2] }) }, damaged},
		{"the record is cut off in its last line", func(p *project) { p.damage(recordName, func(b []byte) []byte { return b[:len(b)-1] }) }, damaged},
		{"the record was changed", func(p *project) {
			p.damage(recordName, func(b []byte) []byte { return bytes.Replace(b, []byte("Locks"), []byte("Lacks"), 1) })
		}, damaged},
		{"the record is empty", func(p *project) { p.damage(recordName, func([]byte) []byte { return nil }) }, damaged},
		{"the map is gone", func(p *project) { p.remove("out/" + p.mapName()) }, noMap},
		{"the map is cut off", func(p *project) { p.damage(p.mapName(), func(b []byte) []byte { return b[:len(b)-1] }) }, noMap},
		{"the map was changed", func(p *project) {
			p.damage(p.mapName(), func(b []byte) []byte { return bytes.Replace(b, []byte("Locks"), []byte("Lacks"), 1) })
		}, noMap},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newProject(t)
			run(t, p.options)
			test.change(p)
			s := p.update()
			if s.Kept != 0 || !slices.Contains(s.Notes, "everything was read: "+test.want) {
				t.Errorf("%d classes were not read; notes: %q", s.Kept, s.Notes)
			}
			if s = p.update(); s.Kept == 0 {
				t.Errorf("the next run reads everything, too: %q", s.Notes)
			}
		})
	}
}

func (p *project) damage(name string, change func([]byte) []byte) {
	p.t.Helper()
	b, err := os.ReadFile(filepath.Join(p.options.Output, name))
	if err != nil {
		p.t.Fatal(err)
	}
	p.put("out/"+name, change(b))
}

// mapName is the probe map in the output.
func (p *project) mapName() string {
	names, err := filepath.Glob(filepath.Join(p.options.Output, mapping.Dir, "probes-*.csv"))
	if err != nil || len(names) != 1 {
		p.t.Fatalf("maps: %q, %v", names, err)
	}
	return mapping.Dir + filepath.Base(names[0])
}

// TestFilesThatWentAwayAreMadeAgain: an output from which somebody deleted files is completed.
func TestFilesThatWentAwayAreMadeAgain(t *testing.T) {
	p := newProject(t)
	run(t, p.options)
	p.remove("out/Locks.class")
	p.remove("out/notes")
	if s := p.update(); s.Kept != 4 {
		t.Errorf("%d classes were not read, want 4", s.Kept)
	}
}

// TestInterruptedUpdateIsNoUpdate: after a run that was stopped, the output is the old one, and the same list brings it up to date.
func TestInterruptedUpdateIsNoUpdate(t *testing.T) {
	p := newProject(t)
	run(t, p.options)
	before := contents(t, p.options.Output)
	p.put("first/Locks.class", compiled("Trivial"))
	p.put("changed.txt", []byte("modified Locks.class"))
	o := p.options
	o.Changed = filepath.Join(p.dir, "changed.txt")
	ctx, cancel := context.WithCancel(t.Context())
	o.Progress = func(done, total int64) {
		if done > total/2 {
			cancel()
		}
	}
	if _, err := Run(ctx, o); err == nil {
		t.Fatal("the run was not stopped")
	}
	if diff := cmp.Diff(before, contents(t, p.options.Output)); diff != "" {
		t.Errorf("output (-before +after):\n%s", diff)
	}
	// What a killed process leaves behind lies beside the output, and is taken for nothing.
	p.put(".out.jiffy-LEFTBEHIND/META-INF/jiffy/build.csv", []byte("kind,name,input,value\n"))
	if s := p.update("modified Locks.class"); s.Kept != 4 {
		t.Errorf("%d classes were not read, want 4", s.Kept)
	}
}

func TestUnchangedFilesKeepTheirTimes(t *testing.T) {
	for _, list := range []bool{false, true} {
		p := newProject(t)
		run(t, p.options)
		before := make(map[string]fs.FileInfo)
		for name := range contents(t, p.options.Output) {
			info, err := os.Stat(filepath.Join(p.options.Output, name))
			if err != nil {
				t.Fatal(err)
			}
			before[name] = info
		}
		p.put("first/Locks.class", compiled("Trivial"))
		if list {
			p.update("modified Locks.class")
		} else {
			run(t, p.options)
		}
		var again []string
		for name := range contents(t, p.options.Output) {
			info, err := os.Stat(filepath.Join(p.options.Output, name))
			if err != nil {
				t.Fatal(err)
			}
			if old, ok := before[name]; !ok || !os.SameFile(old, info) || !old.ModTime().Equal(info.ModTime()) {
				again = append(again, name)
			}
		}
		slices.Sort(again)
		if diff := cmp.Diff([]string{"Locks.class", recordName, p.mapName()}, again); diff != "" {
			t.Errorf("list of changes: %v; written again (-want +got):\n%s", list, diff)
		}
	}
}

func TestListsOfChangesThatAreRefused(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"no keyword", "Straight.class", `$/changed.txt:1: "Straight.class" is not ` + "`added PATH`, `modified PATH` or `removed PATH`"},
		{"another keyword", "# x\nchanged Straight.class", `$/changed.txt:2: "changed Straight.class" is not ` + "`added PATH`, `modified PATH` or `removed PATH`"},
		{"no path", "added ", `$/changed.txt:1: "added " is not ` + "`added PATH`, `modified PATH` or `removed PATH`"},
		{"a path that no input has", "modified Strait.class", "$/changed.txt:1: Strait.class is in no input"},
		{"a path from elsewhere", "modified first/Straight.class", "$/changed.txt:1: first/Straight.class is in no input"},
		{"an absolute path outside", "removed $/out/Straight.class", "$/changed.txt:1: $/out/Straight.class is not in a directory among the inputs"},
		{"a path that leads out", "removed ../x", "$/changed.txt:1: ../x is not in a directory among the inputs"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newProject(t)
			run(t, p.options)
			before := contents(t, p.dir)
			p.put("changed.txt", []byte(strings.ReplaceAll(test.text, "$", p.dir)))
			o := p.options
			o.Changed = filepath.Join(p.dir, "changed.txt")
			_, err := Run(t.Context(), o)
			if want := strings.ReplaceAll(test.want, "$", p.dir); err == nil || err.Error() != want {
				t.Errorf("got error %v, want %s", err, want)
			}
			p.remove("changed.txt")
			if diff := cmp.Diff(before, contents(t, p.dir)); diff != "" {
				t.Errorf("files (-before +after):\n%s", diff)
			}
		})
	}
}

func TestChangesInJars(t *testing.T) {
	p := newProject(t)
	jar := filepath.Join(p.dir, "lib.jar")
	run(t, Options{Inputs: []string{p.other}, Output: jar, Rules: nothing(t)})
	p.options.Inputs = []string{p.first, jar}
	run(t, p.options)
	if s := p.update(); s.Kept != 5 {
		t.Errorf("%d classes were not read, want 5; %q", s.Kept, s.Notes)
	}
	p.put("other/Switches.class", compiled("Trivial"))
	p.remove("other/META-INF/services") // the file that was merged from both has only one part now
	run(t, Options{Inputs: []string{p.other}, Output: jar, Rules: nothing(t)})
	if s := p.update("modified " + jar); s.Kept != 4 {
		t.Errorf("%d classes were not read, want 4; %q", s.Kept, s.Notes)
	}
	p.options.Output = filepath.Join(p.dir, "out.jar")
	p.options.Changed = filepath.Join(p.dir, "changed.txt")
	if _, err := Run(t.Context(), p.options); err == nil {
		t.Error("a jar was to be brought up to date, without an error")
	}
}

// nothing are rules that select nothing.
func nothing(t *testing.T) *rules.Rules {
	r, err := rules.New(nil, []string{"**"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRanges(t *testing.T) {
	for text, numbers := range map[string][]int{
		"": nil, "0": {0}, "0-1": {0, 1}, "3-5 9 11-12": {3, 4, 5, 9, 11, 12}, "7 2": {7, 2}, "4 4": {4, 4}, "5 4-6": {5, 4, 5, 6},
	} {
		if got := ranges(numbers); got != text {
			t.Errorf("ranges(%v) = %q, want %q", numbers, got, text)
		}
		if got, err := parseRanges(text); err != nil || !slices.Equal(got, numbers) {
			t.Errorf("parseRanges(%q) = %v, %v; want %v", text, got, err, numbers)
		}
	}
	for _, text := range []string{"x", "-1", "1-", "5-4", "0-99999999999", "1-2-3", "0-70000"} {
		if got, err := parseRanges(text); err == nil {
			t.Errorf("parseRanges(%q) = %v, want an error", text, got)
		}
	}
}

func FuzzReadRecord(f *testing.F) {
	w := newRecordWriter()
	w.row(recordOption, "clock", "", "auto")
	w.entry(recordClass, "a,\"b.class", 1, "0-3 7")
	f.Add(w.b.String())
	f.Add("class,A.class,0,0-65534\nend,0,,")
	f.Fuzz(func(t *testing.T, rows string) {
		w := newRecordWriter()
		w.csv.Flush()
		w.b.WriteString(rows)
		r, err := readRecord(w.bytes())
		if err != nil {
			return
		}
		for name, source := range r.sources {
			if again, err := parseRanges(ranges(source.probes)); err != nil || !slices.Equal(again, source.probes) {
				t.Errorf("%s: %v is written as %q and read as %v, %v", name, source.probes, ranges(source.probes), again, err)
			}
		}
	})
}
