package android

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/jiffyperf/jiffy/runtime-collector/eventlog"
)

func TestStackOverflow(t *testing.T) {
	for _, when := range []string{"first", "later"} {
		t.Run(when+" touch", func(t *testing.T) {
			eachRelease(t, func(t *testing.T, j jdk) {
				r := run{jdk: j, program: "DeepStack", args: []string{when}}.start(t).mustSucceed(t)
				reached, err := strconv.ParseInt(strings.TrimSpace(r.stdout), 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				log := r.open(t)
				log.want(t, 2, 1000, 0)
				// Near the end of the stack there is no room to record: what is not in the log is counted as dropped, but
				// for a few calls in each overflow in which not even the probe can be called.
				got := log.all(1)
				if missing := reached - got.calls - log.Counters.Dropped; missing < 0 || missing > 10*50 {
					t.Errorf("%d recorded and %d dropped of %d calls", got.calls, log.Counters.Dropped, reached)
				}
				if got.calls < reached/2 {
					t.Errorf("only %d of %d calls recorded", got.calls, reached)
				}
			})
		})
	}
}

func TestOutOfMemory(t *testing.T) {
	t.Parallel()
	for _, started := range []string{"0", "300"} {
		t.Run(started+" ms after the first call", func(t *testing.T) {
			r := run{program: "NoMemory", options: []string{"-Xmx24m"}, args: []string{started}}.start(t)
			if r.code != 0 || strings.Contains(r.stderr, "Exception in thread") {
				t.Fatalf("exit code %d:\n%s", r.code, r.stderr)
			}
			log := r.open(t)
			log.want(t, 2, 1000, 0)
			log.want(t, 3, 1, 0)
			if got := log.all(1); got.calls+log.Counters.Dropped != 20*100 {
				t.Errorf("%d recorded and %d dropped of 2000 calls", got.calls, log.Counters.Dropped)
			}
		})
	}
}

func TestKilledProcessLosesAtMostTheLastSecond(t *testing.T) {
	t.Parallel()
	for _, options := range [][]string{nil, {"-Djiffy.quota=0"}} {
		t.Run(fmt.Sprint(options), func(t *testing.T) {
			r := run{program: "Killed", options: options, kill: func(stdout string) bool { return strings.Count(stdout, "\n") >= 25 }}.start(t)
			if r.code != -1 {
				t.Fatalf("exit code %d, want killed:\n%s", r.code, r.stderr)
			}
			log := r.open(t)
			if log.End != nil {
				t.Errorf("end is %+v, want none", log.End)
			}
			lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
			var calls, at, last int64
			fmt.Sscan(lines[len(lines)-1], &calls, &last)
			// The calls that had ended 1.5 s before: drains are a second apart, and the machine may be busy with other tests.
			var before int64
			for _, line := range lines {
				var n int64
				fmt.Sscan(line, &n, &at)
				if at < last-1.5e9 {
					before = n
				}
			}
			if got := log.all(1).calls; got < before || before < 100 {
				t.Errorf("%d calls in the log, %d had ended 1.5 s before the process was killed", got, before)
			}
		})
	}
}

func TestUncaughtExceptionsEndAsWithoutJiffy(t *testing.T) {
	with := run{program: "Uncaught"}.start(t)
	without := run{program: "Uncaught", noLog: true, options: []string{"-Djiffy.log="}}.start(t)
	plain := strings.Replace(without.stderr, noDirectory, "", 1)
	if with.stderr != plain || with.stdout != without.stdout || with.code != without.code {
		t.Errorf("with jiffy: exit code %d, stderr:\n%s\nwithout: %d\n%s", with.code, with.stderr, without.code, plain)
	}
	if with.code != 1 || !strings.Contains(with.stderr, `Exception in thread "a thread (1)"`) {
		t.Errorf("exit code %d, stderr:\n%s", with.code, with.stderr)
	}
	with.open(t).want(t, 1, 2, 2)
}

const noDirectory = "jiffy: no log directory (set -Djiffy.log=DIR or JIFFY_LOG); nothing is recorded\n"

func TestWithoutLogDirectoryOneLineSaysSo(t *testing.T) {
	r := run{program: "Counts", args: []string{"2", "20000"}, noLog: true}.start(t)
	if r.code != 0 || r.stderr != noDirectory {
		t.Errorf("exit code %d, stderr:\n%s", r.code, r.stderr)
	}
}

func TestOptionsThatCannotBeRead(t *testing.T) {
	r := run{program: "Ends", args: []string{"return"}, options: []string{"-Djiffy.quota=lots"}}.start(t)
	const want = "jiffy: jiffy.quota=lots is not a size (a number of bytes, or one with k, m or g); using 1073741824\n"
	if r.code != 0 || r.stderr != want {
		t.Errorf("exit code %d, stderr:\n%s", r.code, r.stderr)
	}
	r.open(t).want(t, 1, 1, 0)
}

func TestEnvironmentIsReadWhereThereIsNoProperty(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	r := run{program: "Counts", args: []string{"1", "1000"}, noLog: true, env: []string{"JIFFY_LOG=" + dir, "JIFFY_QUOTA=0"}}.start(t).mustSucceed(t)
	r.dir = dir
	log := r.open(t)
	log.want(t, 1, 1000, 0)
	if log.Header.Properties["quota_bytes"] != "0" || log.Phase == nil {
		t.Errorf("quota %s, phase %+v", log.Header.Properties["quota_bytes"], log.Phase)
	}
}

func TestHotPathAllocatesNothing(t *testing.T) {
	for _, options := range [][]string{nil, {"-Djiffy.quota=0"}} {
		t.Run(fmt.Sprint(options), func(t *testing.T) {
			r := run{program: "Allocation", options: options}.start(t).mustSucceed(t)
			if got := strings.TrimSpace(r.stdout); got != "0" {
				t.Errorf("%s bytes allocated in 200,000 calls", got)
			}
			log := r.open(t)
			log.wantNothingLost(t)
			if got := log.Counters.Events; got != 1200000 {
				t.Errorf("%d events", got)
			}
		})
	}
}

func TestEveryProcessWritesItsOwnLog(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	r := run{program: "Parent", noLog: true, env: []string{"JIFFY_LOG=" + dir}}.start(t).mustSucceed(t)
	r.dir = dir
	logs := r.openAll(t)
	if len(logs) != 2 {
		t.Fatalf("%d logs, want 2", len(logs))
	}
	if logs[0].Header.Properties["pid"] == logs[1].Header.Properties["pid"] {
		t.Error("both logs are of one process")
	}
	if logs[0].all(1).calls == 0 {
		logs[0], logs[1] = logs[1], logs[0]
	}
	logs[0].want(t, 1, 1, 0)
	logs[1].want(t, 2, 1, 0)
}

func TestTwoRuntimesInOneProcess(t *testing.T) {
	logs := run{program: "TwoLoaders"}.start(t).mustSucceed(t).openAll(t)
	if len(logs) != 2 {
		t.Fatalf("%d logs, want 2", len(logs))
	}
	if logs[0].all(1).calls == 0 {
		logs[0], logs[1] = logs[1], logs[0]
	}
	logs[0].want(t, 1, 1, 0)
	logs[1].want(t, 2, 1, 0)
}

func TestLogThatCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	r := run{program: "Counts", args: []string{"2", "200000"}, noLog: true, options: []string{"-Djiffy.log=" + file + "/log", "-Djiffy.buffer=1m"}}.start(t)
	want := "jiffy: cannot write the log: " + file + "/log: cannot be created as a directory\n"
	if r.code != 0 || r.stderr != want {
		t.Errorf("exit code %d, stderr:\n%swant:\n%s", r.code, r.stderr, want)
	}
}

// A limit on the size of files makes writes fail as a full disk does, after part of a chunk has been written.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	j := anyJDK(t)
	classPath := programClasses(t, j, "testdata/programs", "--release", "8", "-Xlint:-options")
	dir := filepath.Join(t.TempDir(), "log")
	cmd := exec.Command(bash, "-c", `ulimit -f 2048; exec "$@"`, "-", j.tool("java"), "-XX:-UsePerfData", "-cp", classPath, "-Djiffy.log="+dir, "Steady", "50000")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	if lines := strings.Count(stderr.String(), "\n"); lines != 1 || !strings.HasPrefix(stderr.String(), "jiffy: cannot write the log: "+dir) {
		t.Errorf("stderr, want one line:\n%s", stderr.String())
	}
	log := result{dir: dir}.open(t)
	if log.Phase == nil || log.Phase.Reason != "write-error" {
		t.Errorf("phase %+v, want one for a write error", log.Phase)
	}
	log.want(t, 1, 500000, 0)
	log.wantNothingLost(t)
	if exact := log.exact[1].calls; exact == 0 || exact == 500000 {
		t.Errorf("%d calls are exact", exact)
	}
}

func TestLogDirectoryIsDeleted(t *testing.T) {
	t.Parallel()
	r := run{program: "Steady", args: []string{"1000", "delete"}}.start(t)
	if r.code != 0 || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, ": was deleted; calls are folded in memory") {
		t.Errorf("exit code %d, stderr, want one line:\n%s", r.code, r.stderr)
	}
	if _, err := os.Stat(r.dir); !os.IsNotExist(err) {
		t.Errorf("the directory is there again: %v", err)
	}
}

func TestEndsOfProcesses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		how  string
		code int
		want map[uint64]int64
		end  string
	}{
		{"return", 0, map[uint64]int64{1: 1}, "shutdown"},
		{"exit", 7, map[uint64]int64{1: 1}, "shutdown"},
		{"exit elsewhere", 7, map[uint64]int64{1: 1}, "shutdown"},
		{"hook", 0, map[uint64]int64{1: 1, 2: 100}, "shutdown"},
		{"late hook", 0, map[uint64]int64{1: 1, 2: 100}, "shutdown"},
		{"halt", 7, map[uint64]int64{1: 1}, ""},
		{"interrupting all", 0, map[uint64]int64{1: 11}, "shutdown"},
	}
	for _, test := range tests {
		t.Run(test.how, func(t *testing.T) {
			r := run{program: "Ends", args: []string{test.how}}.start(t)
			if r.code != test.code || r.stderr != "" {
				t.Fatalf("exit code %d, stderr:\n%s", r.code, r.stderr)
			}
			log := r.open(t)
			for id, calls := range test.want {
				log.want(t, id, calls, 0)
			}
			var end string
			if log.End != nil {
				end = log.End.Reason
			}
			if end != test.end {
				t.Errorf("end %q, want %q", end, test.end)
			}
		})
	}
}

func TestThreadsThatEnd(t *testing.T) {
	tests := []struct {
		name           string
		options        []string
		threads, calls int64
	}{
		{"exact", nil, 3000, 10},
		{"folded", []string{"-Djiffy.quota=0"}, 3000, 10},
		// 2000 · 100 rows is more than half of what there may be, so that rows are merged.
		{"folded, with many methods", []string{"-Djiffy.quota=0"}, 2000, 100},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			log := run{program: "Churn", options: test.options, args: []string{fmt.Sprint(test.threads), fmt.Sprint(test.calls)}}.start(t).mustSucceed(t).open(t)
			for id := range test.calls {
				log.want(t, uint64(id+1), test.threads, 0)
			}
			log.wantNothingLost(t)
			if log.Counters.Threads < test.threads {
				t.Errorf("%d threads counted", log.Counters.Threads)
			}
			// Blocks of threads that have ended are used again.
			if log.Counters.Blocks >= test.threads {
				t.Errorf("%d blocks for threads that live one after the other", log.Counters.Blocks)
			}
		})
	}
}

func TestOddTimesAndOutcomes(t *testing.T) {
	r := run{program: "Odd"}.start(t).mustSucceed(t)
	log := r.open(t)
	for id, calls := range map[uint64]int64{1: 1, 2: 1, 3: 1, 4: 0, 5: 2, 1<<48 - 1: 1} {
		if got := log.all(id).calls; got != calls {
			t.Errorf("method %d: %d calls, want %d", id, got, calls)
		}
	}
	for _, id := range []uint64{6, 7} {
		if got := log.all(id); got.suspended != 2 || got.calls != 4 {
			t.Errorf("method %d: %d suspended, %d calls; want 2, 4", id, got.suspended, got.calls)
		}
	}
	if log.Counters.Dropped != 1 {
		t.Errorf("%d dropped, want 1: a call whose start could not be read", log.Counters.Dropped)
	}
	for id, low := range map[uint64]int64{1: 1 << 40, 2: 1 << 38, 3: 1<<38 - 1e9} {
		if got := log.all(id).total; got < low || got > low+60e9 {
			t.Errorf("method %d took %d ns, want little more than %d", id, got, low)
		}
	}
}

func TestThreadsAreFound(t *testing.T) {
	t.Parallel()
	eachRelease(t, func(t *testing.T, j jdk) {
		log, truth := threadsOf(t, j, 0)
		if len(log.Threads) != len(truth) || len(truth) < 12 {
			t.Errorf("%d threads in the log, %d there were", len(log.Threads), len(truth))
		}
		for _, thread := range log.Threads {
			if thread.TID != truth[thread.JavaID] || thread.StartTime == 0 {
				t.Errorf("thread %q: tid %d, start time %d; the tid is %d", thread.Name, thread.TID, thread.StartTime, truth[thread.JavaID])
			}
		}
		if main := log.threads("main"); len(main) != 1 || main[0].Flags&eventlog.MainThread == 0 {
			t.Errorf("main thread: %+v", main)
		}
		if renamed := log.threads("after"); len(renamed) != 1 {
			t.Errorf("renamed thread: %+v", renamed)
		}
	})
}

// Which of three hundred threads of one name is which may stay open, but is never guessed.
func TestThreadsAreNotGuessed(t *testing.T) {
	t.Parallel()
	eachRelease(t, func(t *testing.T, j jdk) {
		log, truth := threadsOf(t, j, 300)
		for _, thread := range log.Threads {
			if thread.TID != 0 && thread.TID != truth[thread.JavaID] {
				t.Errorf("thread %q (Java id %d): tid %d; it is %d", thread.Name, thread.JavaID, thread.TID, truth[thread.JavaID])
			}
		}
	})
}

// threadsOf runs the program Names. The truth is what its threads say: tids by Java thread id.
func threadsOf(t *testing.T, j jdk, crowd int) (log *recorded, truth map[int64]int64) {
	t.Helper()
	r := run{jdk: j, program: "Names", args: []string{fmt.Sprint(crowd)}}.start(t).mustSucceed(t)
	truth = map[int64]int64{}
	for line := range strings.Lines(r.stdout) {
		var tid, id int64
		if _, err := fmt.Sscan(line, &tid, &id); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		truth[id] = tid
	}
	return r.open(t), truth
}

func TestClockPairings(t *testing.T) {
	t.Parallel()
	r := run{program: "Steady", args: []string{"10"}}.start(t).mustSucceed(t)
	log := r.open(t)
	for _, p := range log.Pairings() {
		if p.Mono <= 0 || p.Wall <= 0 || p.Uncertainty <= 0 || p.Uncertainty > 1e9 {
			t.Errorf("pairing %+v", p)
		}
	}
	first, last := log.Pairings()[0], log.Pairings()[len(log.Pairings())-1]
	if first.Boot > 0 && math.Abs(float64(last.Boot-last.Mono-first.Boot+first.Mono)) > float64(first.Uncertainty+last.Uncertainty) {
		t.Errorf("the distance between the clocks moved from %d to %d ns", first.Boot-first.Mono, last.Boot-last.Mono)
	}
}

func TestProbeCostAndOpenCalls(t *testing.T) {
	r := run{program: "Ends", args: []string{"exit elsewhere"}}.start(t)
	log := r.open(t)
	var when []string
	for _, c := range log.Costs {
		when = append(when, c.When)
		if c.PairNS <= 0 || c.InnerNS <= 0 || c.InnerNS > c.PairNS || c.Pairs == 0 {
			t.Errorf("cost %+v", c)
		}
	}
	// A process that ends at once is not held up for the first calibration.
	if got := strings.Join(when, " "); got != "start export" && got != "export" {
		t.Errorf("calibrations at %q", got)
	}
	main := log.threads("main")
	var found bool
	for _, s := range log.Stacks {
		if len(main) == 1 && s.Thread == main[0].Index {
			found = s.Frames[s.Depth-1].Class == "Ends" && s.Frames[s.Depth-1].Method == "main"
		}
		if strings.Contains(fmt.Sprint(s.Frames), "jiffyperf.runtime.Writer") {
			t.Errorf("jiffy's own thread is among the open calls: %+v", s)
		}
	}
	if !found {
		t.Errorf("no stack of the main thread in %+v", log.Stacks)
	}
}

var logName = regexp.MustCompile(`^events-(\d+)-(\d+)-0\.jiffy$`)

func TestHeaderNamesTheProcess(t *testing.T) {
	r := run{program: "Ends", args: []string{"return"}}.start(t).mustSucceed(t)
	log := r.open(t)
	m := logName.FindStringSubmatch(filepath.Base(log.Path))
	p := log.Header.Properties
	if m == nil || p["pid"] != m[1] || p["starttime"] != m[2] || m[2] == "0" {
		t.Errorf("%s holds the log of pid %s, started at %s", log.Path, p["pid"], p["starttime"])
	}
	if p["platform"] != "jvm" || p["main_class"] != "Ends return" || !strings.Contains(p["java_class_path"], "programs") || p["user_dir"] == "" {
		t.Errorf("properties %v", p)
	}
}
