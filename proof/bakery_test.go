package proof

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jiffyperf/jiffy/proof/jdk"
)

// The sample application's arguments: loaves, turns of the kneading loop, ticks of the timers. About a second.
var bakeryDay = []string{"60", "8000000", "24"}

// A bakeryRun is the sample application, instrumented, run under `jiffy collect` and reported with `--calls`.
type bakeryRun struct {
	run, report string // folders
	plainOutput string // what the application printed without probes
	output      string // what it printed with them
	actions     []row  // of `jiffy instrument --report`
}

// bakery runs the whole chain once for all tests.
var bakery = sync.OnceValues(func() (*bakeryRun, error) {
	dir, err := os.MkdirTemp(helpers, "bakery")
	if err != nil {
		return nil, err
	}
	j := jdks[0]
	classes := filepath.Join(dir, "classes")
	if err := j.Compile(classes, []string{"--release", strconv.Itoa(jdk.Oldest), "-g"}, "../fixtures/apps/bakery/src"); err != nil {
		return nil, err
	}
	plain, timed := filepath.Join(dir, "app.jar"), filepath.Join(dir, "app-jiffy.jar")
	if _, err := j.Run("jar", "--create", "--file", plain, "-C", classes, "."); err != nil {
		return nil, err
	}
	plainOutput, err := j.Run("java", slices.Concat([]string{"-cp", plain, "com.acme.bakery.Main"}, bakeryDay)...)
	if err != nil {
		return nil, err
	}
	b := &bakeryRun{plainOutput: plainOutput, run: filepath.Join(dir, "run"), report: filepath.Join(dir, "report")}
	actions := filepath.Join(dir, "actions.csv")
	steps := [][]string{
		{"instrument", "--runtime", "--include", "com.acme.**", "--report", actions, "-o", timed, plain},
		slices.Concat([]string{"collect", "-o", b.run, "--", j.Tool("java"), "-cp", timed, "com.acme.bakery.Main"}, bakeryDay),
		{"report", "--calls", "-o", b.report, b.run},
	}
	for _, step := range steps {
		stdout, err := runJiffy(step...)
		if err != nil {
			return nil, err
		}
		if step[0] == "collect" {
			b.output = stdout
		}
	}
	b.actions, err = parseCSV(actions)
	return b, err
})

// A methodKey names a method. The number in a lambda's name is left out, since it is up to the compiler.
type methodKey struct{ class, method, descriptor string }

var lambdaNumber = regexp.MustCompile(`^(lambda\$.*\$)\d+$`)

func keyOf(r row) methodKey {
	return methodKey{r["class"], lambdaNumber.ReplaceAllString(r["method"], "${1}?"), r["descriptor"]}
}

// A census is what the application says of itself: calls and thrown, by method.
type census map[methodKey]struct{ calls, thrown int64 }

var expectLine = regexp.MustCompile(`(?m)^expect ([^#\s]+)#([^(\s]+)(\(\S+) calls=(\d+) thrown=(\d+)$`)

func parseCensus(t *testing.T, output string) census {
	t.Helper()
	expected := census{}
	for _, found := range expectLine.FindAllStringSubmatch(output, -1) {
		calls, err := strconv.ParseInt(found[4], 10, 64)
		check(t, err)
		thrown, err := strconv.ParseInt(found[5], 10, 64)
		check(t, err)
		expected[methodKey{found[1], found[2], found[3]}] = struct{ calls, thrown int64 }{calls, thrown}
	}
	if len(expected) < 80 {
		t.Fatalf("the application names %d methods, want at least 80; it printed:\n%s", len(expected), output)
	}
	return expected
}

func TestCallsAndThrownAreExact(t *testing.T) {
	b, err := bakery()
	check(t, err)
	expected := parseCensus(t, b.output)
	skipped := map[methodKey]string{}
	for _, r := range b.actions {
		if r["action"] != "instrumented" {
			skipped[keyOf(r)] = r["reason"]
		}
	}
	reported := map[methodKey]row{}
	for _, r := range readCSV(t, filepath.Join(b.report, "methods.csv")) {
		key := keyOf(r)
		if _, twice := reported[key]; twice {
			t.Errorf("%v has two rows", key)
		}
		reported[key] = r
		if _, ok := expected[key]; !ok {
			t.Errorf("%v is reported, the application does not know it", key)
		}
	}
	for key, want := range expected {
		r, ok := reported[key]
		reason, skip := skipped[key]
		switch {
		case skip && ok:
			t.Errorf("%v is reported, but was not instrumented (%s)", key, reason)
		case skip:
			t.Logf("%v is not instrumented: %s", key, reason)
		case !ok && want.calls > 0:
			t.Errorf("%v: no row, want %d calls", key, want.calls)
		case ok:
			if calls, thrown := r.int64(t, "calls"), r.int64(t, "thrown"); calls != want.calls || thrown != want.thrown {
				t.Errorf("%v: calls %d, thrown %d; want %d, %d", key, calls, thrown, want.calls, want.thrown)
			}
		}
	}
	if len(skipped) > 12 {
		t.Errorf("%d methods of the application are not instrumented, more than the forwarding ones", len(skipped))
	}
}

func TestProgramPrintsTheSame(t *testing.T) {
	b, err := bakery()
	check(t, err)
	if b.output != b.plainOutput {
		t.Errorf("with probes the application printed\n%s\nwithout\n%s", b.output, b.plainOutput)
	}
}

// The night watch is still on its first round when the program ends.
func TestOpenCallIsReportedAsStack(t *testing.T) {
	b, err := bakery()
	check(t, err)
	stacks := map[string][]string{}
	for _, r := range readCSV(t, filepath.Join(b.report, "open_calls.csv")) {
		stacks[r["thread"]] = append(stacks[r["thread"]], r["class"]+"#"+r["method"])
	}
	want := "com.acme.bakery.NightWatch#patrol com.acme.bakery.NightWatch#run"
	if !strings.Contains(strings.Join(stacks["night watch"], " "), want) {
		t.Errorf("the stack of the night watch does not hold %s: %v", want, stacks)
	}
}

// A call is one line of calls.csv, with the time of its direct children.
type call struct {
	key              methodKey
	start, end       int64 // ns
	depth            int64
	children         int64 // ns
	outermost, outer bool  // the method is not among its callers; it has no caller
}

// callsByThread reads calls.csv and works out nesting from nothing but the intervals of each thread.
func callsByThread(t *testing.T, path string) map[string][]*call {
	t.Helper()
	threads := map[string][]*call{}
	for _, r := range readCSV(t, path) {
		key := fmt.Sprintf("%s/%s/%s", r["process"], r["tid"], r["thread"])
		threads[key] = append(threads[key], &call{key: keyOf(r), start: r.int64(t, "start_ns"), end: r.int64(t, "end_ns"), depth: r.int64(t, "depth")})
	}
	for _, calls := range threads {
		slices.SortStableFunc(calls, func(a, b *call) int {
			return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end), cmp.Compare(a.depth, b.depth))
		})
		var open []*call
		for _, c := range calls {
			for len(open) > 0 && open[len(open)-1].depth >= c.depth {
				open = open[:len(open)-1]
			}
			c.outer = len(open) == 0
			c.outermost = !slices.ContainsFunc(open, func(o *call) bool { return o.key == c.key })
			if !c.outer {
				parent := open[len(open)-1]
				parent.children += c.end - c.start
				if c.start < parent.start || c.end > parent.end {
					t.Errorf("%v [%d, %d] is not within its caller %v [%d, %d]", c.key, c.start, c.end, parent.key, parent.start, parent.end)
				}
			}
			open = append(open, c)
		}
	}
	return threads
}

func TestSelfTimesSumToOutermostTotals(t *testing.T) {
	b, err := bakery()
	check(t, err)
	threads := callsByThread(t, filepath.Join(b.report, "calls.csv"))
	if len(threads) < 8 {
		t.Errorf("calls of %d threads, want at least 8: %v", len(threads), slices.Sorted(maps.Keys(threads)))
	}
	type times struct{ total, self, longest int64 }
	methods := map[methodKey]*times{}
	for thread, calls := range threads {
		var selfSum, outerSum int64
		for _, c := range calls {
			m := methods[c.key]
			if m == nil {
				m = &times{}
				methods[c.key] = m
			}
			duration := c.end - c.start
			m.self += duration - c.children
			m.longest = max(m.longest, duration)
			selfSum += duration - c.children
			if c.outermost {
				m.total += duration
			}
			if c.outer {
				outerSum += duration
			}
		}
		if selfSum != outerSum {
			t.Errorf("thread %s: self times sum to %d ns, its outermost calls to %d ns", thread, selfSum, outerSum)
		}
	}
	var reportedSelf, countedSelf int64
	for _, r := range readCSV(t, filepath.Join(b.report, "methods.csv")) {
		m := methods[keyOf(r)]
		if m == nil {
			t.Errorf("%v is in methods.csv, none of its calls in calls.csv", keyOf(r))
			continue
		}
		got := times{r.int64(t, "total_ns"), r.int64(t, "self_ns"), r.int64(t, "max_ns")}
		if got != *m {
			t.Errorf("%v: total, self, max are %d, the calls give %d", keyOf(r), got, *m)
		}
		reportedSelf += got.self
		countedSelf += m.self
	}
	if reportedSelf != countedSelf || reportedSelf == 0 {
		t.Errorf("self times in methods.csv sum to %d ns, want %d", reportedSelf, countedSelf)
	}
}

func TestThreadCPUSumsToProcessCPU(t *testing.T) {
	b, err := bakery()
	check(t, err)
	facts := keyValues(t, filepath.Join(b.run, "collect.csv"))
	hz, err := strconv.ParseInt(facts["hz"], 10, 64)
	check(t, err)
	want, err := strconv.ParseInt(facts["rusage_cpu_ns"], 10, 64) // of wait4(2), not of procfs
	check(t, err)
	var sum, rows, residual int64
	names := map[string]bool{}
	for _, r := range readCSV(t, filepath.Join(b.report, "threads.csv")) {
		names[r["thread"]] = true
		if r["cpu_ns"] != "" {
			sum += r.int64(t, "cpu_ns")
			rows++
			if r["thread"] == "residual" {
				residual = r.int64(t, "cpu_ns")
			}
		}
	}
	tolerance := 2 * rows * 1e9 / hz
	t.Logf("threads and residual %d ns in %d rows, process %d ns, tolerance %d ns", sum, rows, want, tolerance)
	if sum < want-tolerance || sum > want+tolerance {
		t.Errorf("threads and residual sum to %d ns, the process took %d ns; more than %d apart", sum, want, tolerance)
	}
	if residual < -tolerance {
		t.Errorf("the residual is %d ns: threads were counted twice", residual)
	}
	for _, name := range []string{"main", "mixer 1", "mixer 2", "oven pool) 1)", "oven pool) 2)", "timer (proofing)", "residual"} {
		if !names[name] {
			t.Errorf("threads.csv has no thread %q: %v", name, slices.Sorted(maps.Keys(names)))
		}
	}
}

func TestRunNamesWhatItCounted(t *testing.T) {
	b, err := bakery()
	check(t, err)
	facts := keyValues(t, filepath.Join(b.report, "run.csv"))
	var calls int64
	for _, want := range parseCensus(t, b.output) {
		calls += want.calls
	}
	for _, r := range b.actions {
		if r["action"] != "instrumented" {
			calls -= parseCensus(t, b.output)[keyOf(r)].calls
		}
	}
	for key, want := range map[string]string{"events": fmt.Sprint(calls), "events_dropped": "0"} {
		if facts[key] != want {
			t.Errorf("run.csv: %s is %q, want %q", key, facts[key], want)
		}
	}
	if !strings.Contains(facts["command"], "com.acme.bakery.Main") {
		t.Errorf("run.csv: command is %q", facts["command"])
	}
}
