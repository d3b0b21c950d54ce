package report

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/jiffyperf/jiffy/csvexport"
	"github.com/jiffyperf/jiffy/runtime-collector/eventlog"
	"github.com/jiffyperf/jiffy/runtime-collector/eventlog/eventlogtest"
)

var update = flag.Bool("update", false, "write the golden files anew")

const (
	second = int64(1e9)
	base   = 100 * second // start of the runs on CLOCK_MONOTONIC
	slept  = 5 * second   // CLOCK_BOOTTIME is ahead by
)

// Ids of the probe map.
const (
	mainID, bakeID, foldID, brewID, strangeID = 0xa1, 0xb2, 0xc3, 0xd4, 0xeee
)

const probeMap = `id,kind,class,method,descriptor,site,file,line,flags,body_hash,body_size
000000000000,option,exits,all,,0,,0,,0000000000000000,0
0000000000a1,method,com.acme.Main,main,([Ljava/lang/String;)V,0,Main.java,10,static,0000000000000001,20
0000000000b2,method,com.acme.Oven,bake,"(I[Ljava/lang/String;)V",0,Oven.java,20,,0000000000000002,30
0000000000c3,method,com.acme.Dough,fold,(I)J,0,Dough.java,30,,0000000000000003,40
0000000000d4,method,com.acme.Coffee,brew,(Lkotlin/coroutines/Continuation;)Ljava/lang/Object;,0,Coffee.kt,0,suspend,0000000000000004,50
`

func call(id uint64, start, end int64) eventlog.Event {
	return eventlog.Event{ID: id, Start: base + start, End: base + end, Clock: eventlog.NanoTime}
}

func with(e eventlog.Event, o eventlog.Outcome) eventlog.Event {
	e.Outcome = o
	return e
}

// bakery is a log of two threads: recursion, an exception, a suspension, a slow
// call on the main thread, and a method that is in no map.
func bakery() *eventlogtest.Writer {
	w := eventlogtest.New("pid", "50", "main_class", "com.acme.Main --loaves 3", "start_wall_ns", "1700000000000000000")
	w.Pairing = eventlog.Pairing{Mono: base + 1_000_000, Boot: base + slept, Wall: 1_700_000_000_001_000_000, Uncertainty: 10_000_000}
	w.Thread(eventlog.Thread{Index: 0, JavaID: 1, TID: 51, Flags: eventlog.MainThread, Name: "main"})
	w.Thread(eventlog.Thread{Index: 1, JavaID: 20, TID: 52, Name: `pool, "oven" 1) 1)`})
	w.Thread(eventlog.Thread{Index: 2, JavaID: 21, Name: "short"})
	w.Cost("start", 60, 20)
	ms := int64(1e6)
	w.Events(0,
		call(foldID, 110*ms, 120*ms), call(foldID, 105*ms, 150*ms), call(foldID, 100*ms, 200*ms),
		with(call(bakeID, 300*ms, 460*ms), eventlog.Thrown),
		call(mainID, 50*ms, 2400*ms))
	w.Events(1,
		with(call(brewID, 500*ms, 510*ms), eventlog.Suspended), call(brewID, 900*ms, 1500*ms),
		call(strangeID, 1600*ms, 1700*ms))
	w.Events(2, call(bakeID, 1000*ms, 1001*ms))
	return w
}

func ended(w *eventlogtest.Writer) *eventlogtest.Writer {
	w.Pairing.Mono = base + 2_500_000_000
	w.Pairing.Boot = w.Pairing.Mono + slept
	w.Open(0, "taken_ns", fmt.Sprint(base+2_450_000_000), "java_id", "1", "state", "RUNNABLE", "depth", "2",
		"frame0", "com.acme.Main#linger:33", "frame1", "com.acme.Main#main:-1")
	w.Counters("events", "9", "dropped", "2", "discarded_own", "1", "folded", "0", "writer_cpu_ns", "5000000")
	return w.Cost("export", 50, 18).End("shutdown")
}

const logName = "events-50-10000-0.jiffy"

var collectFacts = [][2]string{
	{"key", "value"}, {"schema_version", "1"}, {"jiffy_version", "v0.1"}, {"command", "java -jar 'my app.jar'"}, {"pid", "50"},
	{"start", "2026-11-20T07:00:00.000000001Z"}, {"start_mono_ns", fmt.Sprint(base)}, {"duration_ns", "2600000000"}, {"hz", "100"},
	{"cpus", "2"}, {"host", "oven"}, {"kernel", "Linux 6.1"}, {"interval_ns", "1000000000"}, {"collector_cpu_ns", "7000000"},
	{"samples", "4"}, {"samples_missed", "0"}, {"exit_code", "0"}, {"exit_signal", ""}, {"rusage_cpu_ns", "1900000000"}, {"complete", "true"},
}

const processSamples = `mono_ns,boot_ns,wall_ns,pid,starttime,state,utime,stime,cutime,cstime,num_threads,minflt,majflt,rss_pages,final
100000000000,105000000000,1,50,10500,R,0,0,0,0,1,10,0,100,0
101000000000,106000000000,1,50,10500,S,70,10,0,0,3,20,1,200,0
102000000000,108000000000,1,50,10500,R,160,20,5,1,3,20,1,300,0
102600000000,108600000000,1,50,10500,Z,180,20,5,1,1,20,1,,1
`

const threadSamples = `mono_ns,pid,tid,starttime,event,comm,state,utime,stime,run_ns,wait_ns,slices
100000100000,50,51,10500,sample,java,R,0,0,100000,0,1
101000100000,50,51,10500,sample,java,S,40,10,500000000,2000000,10
101000200000,50,52,10550,sample,"pool, ""oven"" 1) ",S,20,0,200000000,1000000,5
101000300000,50,53,10550,sample,GC Thread#0,S,5,0,,,
102000100000,50,51,10500,sample,java,R,100,15,1150000000,3000000,20
102000200000,50,52,10550,exited,"pool, ""oven"" 1) ",,,,,,
102000300000,50,53,10550,sample,GC Thread#0,S,5,0,,,
`

// collected is a run with everything.
func collected(t *testing.T) string {
	dir := t.TempDir()
	w := ended(bakery())
	w.WriteFile(t, dir, "log", "events-50-10500-0.jiffy")
	var facts strings.Builder
	for _, f := range collectFacts {
		fmt.Fprintf(&facts, "%s,%s\n", f[0], f[1])
	}
	write(t, facts.String(), dir, "collect.csv")
	write(t, processSamples, dir, "process-samples.csv")
	write(t, threadSamples, dir, "thread-samples.csv")
	write(t, "file,readable,note\n/proc/stat,yes,\n/sys/devices,no,permission denied\n", dir, "capabilities.csv")
	write(t, probeMap, dir, "maps", "probes-1.csv")
	return dir
}

// bare is a directory of logs of a process that was killed in the middle of a
// chunk; it only has a map on its class path.
func bare(t *testing.T) string {
	dir := t.TempDir()
	write(t, probeMap, dir, "classes", "META-INF", "jiffy", "probes-0000000000000001.csv")
	w := eventlogtest.New("pid", "50", "java_class_path", "missing.jar"+string(os.PathListSeparator)+"classes", "user_dir", dir,
		"start_wall_ns", "1700000000000000000", "main_class", "com.acme.Main")
	w.Pairing = eventlog.Pairing{Mono: base + 10_000_000, Boot: -1, Wall: 1_700_000_000_010_000_000, Uncertainty: 1000}
	w.Thread(eventlog.Thread{JavaID: 1, Flags: eventlog.MainThread, Name: "main"})
	w.Events(0, call(foldID, 2_000_000, 3_000_000))
	whole := len(w.Bytes())
	w.Events(0, call(foldID, 4_000_000, 5_000_000))
	content := w.Bytes()[:whole+70]
	write(t, string(content), dir, logName)
	return dir
}

// folded is a run whose calls were folded from 1 s on.
func folded(t *testing.T) string {
	dir := t.TempDir()
	w := bakery()
	w.Phase(base+second, "quota")
	w.Thread(eventlog.Thread{Index: 3, JavaID: 30, Name: "folder"})
	w.Events(3, eventlog.Event{Kind: eventlog.Cover, Start: base + second, End: base + 2*second, Covered: 400_000_000},
		call(bakeID, 500_000_000, 2_100_000_000))
	ended(w).WriteFile(t, dir, "log", logName)
	snapshot := eventlogtest.New()
	snapshot.Pairing.Mono = base + 2*second
	snapshot.Fold(3, eventlog.FoldRow{ID: foldID, Calls: 4, Thrown: 1, Total: 400_000_000, Self: 400_000_000, Max: 200_000_000,
		First: base + second, Last: base + 2*second, SelfApprox: true,
		Histogram: []eventlog.BucketCount{{Bucket: eventlog.Bucket(66_000_000), Count: 3}, {Bucket: eventlog.Bucket(200_000_000), Count: 1}}})
	snapshot.End("snapshot")
	snapshot.WriteFile(t, dir, "log", "folded-50-10000-0-0.jiffy")
	write(t, "torn", dir, "log", "folded-50-10000-0-1.jiffy")
	write(t, probeMap, dir, "maps", "probes-1.csv")
	return dir
}

func write(t *testing.T, content string, elem ...string) string {
	t.Helper()
	return eventlogtest.WriteBytes(t, []byte(content), elem...)
}

// The tables of three runs. `go test ./csvexport/... -update` writes them anew;
// look at the difference before you keep it.
func TestGoldenTables(t *testing.T) {
	tests := map[string]struct {
		run     func(*testing.T) string
		options Options
	}{
		"collected": {collected, Options{Window: time.Second, Calls: true, Formats: []string{CSV, Demeter}}},
		"bare":      {bare, Options{Calls: true}},
		"folded":    {folded, Options{Calls: true}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := test.run(t)
			o := test.options
			o.Run, o.Version = dir, "v9"
			r, err := Make(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			got := readAll(t, r.Out)
			for i, w := range r.Warnings {
				r.Warnings[i] = strings.ReplaceAll(w, dir, "RUN")
			}
			got["warnings.txt"] = strings.Join(r.Warnings, "\n") + "\n"
			golden := filepath.Join("testdata", name)
			if *update {
				if err := os.RemoveAll(golden); err != nil {
					t.Fatal(err)
				}
				for file, content := range got {
					write(t, content, golden, file)
				}
			}
			if diff := cmp.Diff(readAll(t, golden), got); diff != "" {
				t.Errorf("tables (-want +got):\n%s", diff)
			}
		})
	}
}

// readAll reads the files of a directory.
func readAll(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(content)
	}
	return files
}

// The same run makes the same tables, whichever of its threads is read first.
func TestReportsAreDeterministic(t *testing.T) {
	dir := collected(t)
	var first map[string]string
	for i := range 5 {
		r, err := Make(t.Context(), Options{Run: dir, Out: filepath.Join(t.TempDir(), fmt.Sprint(i)), Calls: true})
		if err != nil {
			t.Fatal(err)
		}
		got := readAll(t, r.Out)
		if first == nil {
			first = got
		}
		if diff := cmp.Diff(first, got); diff != "" {
			t.Fatalf("report %d (-first +this):\n%s", i, diff)
		}
	}
}

func TestBadInputIsOneClearLine(t *testing.T) {
	empty := t.TempDir()
	file := write(t, "x", empty, "sub", "file")
	noLog := t.TempDir()
	write(t, "this is not a log, and long enough to tell", noLog, "log", logName)
	badSamples := collected(t)
	write(t, "mono_ns,pid\n1,2\n", badSamples, "process-samples.csv")
	badMap := collected(t)
	tests := map[string]struct {
		options Options
		want    string
	}{
		"no such run":             {Options{Run: filepath.Join(empty, "none")}, filepath.Join(empty, "none")},
		"an empty directory":      {Options{Run: empty}, "no event logs and no samples"},
		"a file":                  {Options{Run: file}, "not a directory"},
		"nothing but a bad log":   {Options{Run: noLog}, logName + ": not a jiffy event log"},
		"samples of another kind": {Options{Run: badSamples}, "process-samples.csv: no column boot_ns"},
		"into the run itself":     {Options{Run: badMap, Out: badMap}, "can't be written into the run directory itself"},
		"no such map":             {Options{Run: badMap, Maps: []string{filepath.Join(empty, "no.csv")}}, "no.csv"},
		"a map that isn't one":    {Options{Run: badMap, Maps: []string{file}}, file},
		"an unknown format":       {Options{Run: badMap, Formats: []string{"xml"}}, `unknown format "xml"`},
		"out is a file":           {Options{Run: badMap, Out: file}, file},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Make(t.Context(), test.options)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line with %q", err, test.want)
			}
			if test.options.Out == "" {
				if files, _ := filepath.Glob(filepath.Join(test.options.Run, "report", "*")); len(files) > 0 {
					t.Errorf("a failed report leaves %v", files)
				}
			}
		})
	}
}

func TestACancelledReportLeavesNoFiles(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out := t.TempDir()
	_, err := Make(ctx, Options{Run: collected(t), Out: out, Calls: true, Formats: []string{CSV, Demeter}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	if left, _ := os.ReadDir(out); len(left) > 0 {
		t.Errorf("it leaves %v", left)
	}
}

// A log that can't be read costs only itself.
func TestOneBadLogAmongGoodOnes(t *testing.T) {
	dir := collected(t)
	write(t, "this is not a log, and long enough to tell", dir, "log", "events-60-1-0.jiffy")
	r, err := Make(t.Context(), Options{Run: dir})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(r.Warnings, "\n"), "events-60-1-0.jiffy: not a jiffy event log; left out") {
		t.Errorf("warnings %q don't name the bad log", r.Warnings)
	}
	if len(r.Methods) != 5 {
		t.Errorf("%d methods, want 5", len(r.Methods))
	}
}

func TestMapOfAnotherBuild(t *testing.T) {
	other := write(t, strings.NewReplacer("0000000000", "1111111111").Replace(probeMap), t.TempDir(), "other.csv")
	r, err := Make(t.Context(), Options{Run: collected(t), Maps: []string{other}})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(r.Warnings, "\n"), "9 of 9 calls are of methods that are not in the probe map: it looks like the map of another build") {
		t.Errorf("warnings %q", r.Warnings)
	}
	for _, m := range r.Methods {
		if m.Class != Unmapped || len(m.Method) != 12 {
			t.Errorf("method %s#%s has a name", m.Class, m.Method)
		}
	}
}

func TestTornSamplesAreNoted(t *testing.T) {
	dir := collected(t)
	write(t, threadSamples[:len(threadSamples)-5], dir, "thread-samples.csv")
	r, err := Make(t.Context(), Options{Run: dir})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(r.Warnings, "\n"), "thread-samples.csv: the last line is cut") {
		t.Errorf("warnings %q", r.Warnings)
	}
}

// Threads and residual hold all the CPU that the process used.
func TestThreadsAndResidualSumToTheProcess(t *testing.T) {
	for _, window := range []time.Duration{0, 100 * time.Millisecond, 333 * time.Millisecond} {
		r, err := Make(t.Context(), Options{Run: collected(t), Window: window})
		if err != nil {
			t.Fatal(err)
		}
		var cpu int64
		for _, row := range r.Threads {
			cpu += row.CPU.Value
		}
		if want := int64(200 * 10_000_000); cpu != want {
			t.Errorf("windows of %s: %d ns, want %d", window, cpu, want)
		}
	}
}

func TestCPUEstimatesDoNotExceedTheThreads(t *testing.T) {
	r, err := Make(t.Context(), Options{Run: collected(t)})
	if err != nil {
		t.Fatal(err)
	}
	var methods, threads int64
	for _, m := range r.Methods {
		methods += m.CPU.Value
	}
	for _, row := range r.Threads {
		if row.Thread != "residual" {
			threads += row.CPU.Value
		}
	}
	if methods <= 0 || methods > threads {
		t.Errorf("methods have %d ns of CPU, their threads %d", methods, threads)
	}
}

// The log of a process that was attached to begins before the run.
func TestCallsFromBeforeTheRunAreNegative(t *testing.T) {
	dir := collected(t)
	write(t, fmt.Sprintf("key,value\nstart_mono_ns,%d\nhz,100\n", base+second), dir, "collect.csv")
	r, err := Make(t.Context(), Options{Run: dir, Calls: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := readAll(t, r.Out)["calls.csv"]; !strings.Contains(got, "\n-950000000,1400000000,0,51,main,com.acme.Main,main,") {
		t.Errorf("calls.csv\n%s", got)
	}
	for _, f := range r.Facts {
		if f.Key == "exact_from_ns" && f.Value != "-1000000000" {
			t.Errorf("exact_from_ns is %s, want -1000000000", f.Value)
		}
	}
}

func TestRunCSVHasEveryKeyOnce(t *testing.T) {
	r, err := Make(t.Context(), Options{Run: collected(t)})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range r.Facts {
		got = append(got, f.Key)
	}
	if diff := cmp.Diff(csvexport.FactKeys(), got); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}
