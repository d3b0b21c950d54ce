package collect

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// With collectDir in its environment the test binary is a collector: it
// collects its arguments into that directory.
const collectDir = "COLLECT_TEST_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(collectDir); dir != "" {
		status, err := Run(Options{Dir: dir, Command: os.Args[1:], Interval: 20 * time.Millisecond, Messages: os.Stderr})
		if err != nil {
			os.Exit(99)
		}
		os.Exit(status)
	}
	os.Exit(m.Run())
}

type run struct {
	dir      string
	status   int
	err      error
	messages string
}

// collectRun collects into a new directory, every 20 ms unless told otherwise.
func collectRun(t *testing.T, o Options) run {
	t.Helper()
	if o.Dir == "" {
		o.Dir = filepath.Join(t.TempDir(), "run")
	}
	if o.Interval == 0 {
		o.Interval = 20 * time.Millisecond
	}
	var messages bytes.Buffer
	o.Messages = &messages
	status, err := Run(o)
	return run{o.Dir, status, err, messages.String()}
}

func sh(script string, args ...string) []string {
	return append([]string{"sh", "-c", script, "sh"}, args...)
}

func (r run) facts(t *testing.T) map[string]string {
	t.Helper()
	return readKeyValues(t, filepath.Join(r.dir, factsFile))
}

// rows reads a sample file; every field but the names is a number.
func (r run) rows(t *testing.T, name string) []map[string]string {
	t.Helper()
	f, err := os.Open(filepath.Join(r.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var rows []map[string]string
	for _, record := range records[1:] {
		row := make(map[string]string)
		for i, column := range records[0] {
			row[column] = record[i]
		}
		rows = append(rows, row)
	}
	return rows
}

func number(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func mustRun(t *testing.T, o Options) run {
	t.Helper()
	r := collectRun(t, o)
	if r.err != nil {
		t.Fatal(r.err)
	}
	return r
}

func TestStatusOfTheCommandIsPassedOn(t *testing.T) {
	for _, c := range []struct {
		script       string
		status       int
		code, signal string
	}{
		{"exit 0", 0, "0", ""},
		{"exit 7", 7, "7", ""},
		{"exit 255", 255, "255", ""},
		{"kill -TERM $$", 143, "", "SIGTERM"},
		{"kill -KILL $$", 137, "", "SIGKILL"},
	} {
		t.Run(c.script, func(t *testing.T) {
			r := mustRun(t, Options{Command: sh(c.script)})
			if r.status != c.status {
				t.Errorf("status %d, want %d", r.status, c.status)
			}
			if f := r.facts(t); f["exit_code"] != c.code || f["exit_signal"] != c.signal || f["complete"] != "true" {
				t.Errorf("exit_code %q, exit_signal %q, complete %q; want %q, %q, true", f["exit_code"], f["exit_signal"], f["complete"], c.code, c.signal)
			}
		})
	}
}

func TestCommandThatCanNotBeStarted(t *testing.T) {
	dir := t.TempDir()
	touch(t, filepath.Join(dir, "plain"))
	noFormat := filepath.Join(dir, "noformat")
	touch(t, noFormat)
	if err := os.Chmod(noFormat, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	for _, c := range []struct {
		name, command string
		mapping       string
		status        int
		says          string
	}{
		{"not there", "no-such-command", "", 127, "no-such-command: command not found"},
		{"path that is not there", dir + "/none", "", 127, "none: command not found"},
		{"not executable", dir + "/plain", "", 126, "plain: not executable"},
		{"not executable, in PATH", "plain", "", 126, "plain: not executable"},
		{"directory", dir, "", 126, "not executable"},
		{"executable, but no program", noFormat, "", 126, "noformat: exec format error"},
		{"mapping is no map", "true", dir + "/plain", 125, "plain"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := Options{Command: []string{c.command}}
			if c.mapping != "" {
				o.Mappings = []string{c.mapping}
			}
			r := collectRun(t, o)
			var failed *Error
			if !errors.As(r.err, &failed) || failed.Status != c.status || !strings.Contains(r.err.Error(), c.says) {
				t.Errorf("error %v, want status %d and %q", r.err, c.status, c.says)
			}
			if _, err := os.Stat(r.dir); !os.IsNotExist(err) {
				t.Errorf("the run directory was left behind: %v", err)
			}
		})
	}
}

func TestProgramThatDiesAtOnce(t *testing.T) {
	r := mustRun(t, Options{Command: []string{"true"}, Interval: time.Second})
	processes := r.rows(t, processFile)
	if len(processes) == 0 || processes[len(processes)-1]["final"] != "1" || processes[len(processes)-1]["state"] != "Z" {
		t.Errorf("process samples %v, want a last one from the zombie", processes)
	}
	if len(r.rows(t, threadFile)) == 0 {
		t.Error("no thread sample")
	}
	capabilities := r.rows(t, capabilitiesFile)
	if len(capabilities) < 5 || capabilities[0]["readable"] != "true" {
		t.Errorf("capabilities %v", capabilities)
	}
	if !strings.Contains(r.messages, "no event log was written") || !strings.Contains(r.messages, "next: jiffy report "+r.dir) {
		t.Errorf("messages:\n%s", r.messages)
	}
}

func TestFinalSampleHasAllCPUThatTheKernelCharged(t *testing.T) {
	r := mustRun(t, Options{Command: sh("i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done; (i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done); exit 3")})
	f := r.facts(t)
	processes := r.rows(t, processFile)
	last := processes[len(processes)-1]
	if last["pid"] != f["pid"] || last["final"] != "1" {
		t.Fatalf("the last process sample is %v, want the final one of pid %s", last, f["pid"])
	}
	ticks := number(t, last["utime"]) + number(t, last["stime"]) + number(t, last["cutime"]) + number(t, last["cstime"])
	tick := int64(time.Second) / number(t, f["hz"])
	charged := number(t, f["rusage_cpu_ns"])
	// Four counters, each cut down to whole ticks.
	if d := charged - ticks*tick; d < -tick || d > 4*tick {
		t.Errorf("the final sample has %d ticks, wait4 %d ns: they differ by %d ns", ticks, charged, d)
	}
	if charged < 5*tick {
		t.Errorf("the program used %d ns only, too little to tell", charged)
	}
	var end map[string]string
	for _, row := range r.rows(t, threadFile) {
		if row["pid"] == f["pid"] && row["event"] == "sample" {
			end = row
		}
	}
	if end["state"] != "Z" || number(t, end["run_ns"]) < tick {
		t.Errorf("the last sample of its thread is %v, want the zombie's", end)
	}
}

func TestSamplesAreStampedWhenTheyAreTaken(t *testing.T) {
	r := mustRun(t, Options{Command: sh("sleep 0.4"), Interval: 100 * time.Millisecond})
	f := r.facts(t)
	start := number(t, f["start_mono_ns"])
	previous := start
	for _, row := range r.rows(t, processFile) {
		if row["pid"] != f["pid"] {
			continue
		}
		mono := number(t, row["mono_ns"])
		if mono <= previous {
			t.Errorf("stamp %d after %d", mono, previous)
		}
		previous = mono
	}
	if end := start + number(t, f["duration_ns"]); previous > end {
		t.Errorf("last stamp %d, after the end at %d", previous, end)
	}
	// Every 50 ms and at the end, but every 100 ms where samples take long.
	duration := time.Duration(number(t, f["duration_ns"]))
	n := number(t, f["samples"]) + number(t, f["samples_missed"])
	if n < int64(duration/(100*time.Millisecond)) || n > int64(duration/(50*time.Millisecond))+2 {
		t.Errorf("%s samples and %s missed in %v", f["samples"], f["samples_missed"], duration)
	}
}

func TestChildrenOfChildrenAreSampled(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	r := mustRun(t, Options{Command: sh(`echo $$ >>$1
		sh -c 'echo $$ >>$1; sh -c "echo \$\$ >>\$1; sleep 0.3; exit 0" sh $1; exit 0' sh $1; exit 0`, pids)})
	b, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Fields(string(b))
	if len(want) != 3 {
		t.Fatalf("pids %q", want)
	}
	last := make(map[string]map[string]string)
	for _, row := range r.rows(t, threadFile) {
		if row["tid"] == row["pid"] {
			last[row["pid"]] = row
		}
	}
	for i, pid := range want {
		switch row := last[pid]; {
		case row == nil:
			t.Errorf("process %s, %d generations down, was not sampled", pid, i)
		case row["event"] != "exited" && row["state"] != "Z":
			t.Errorf("process %s, %d generations down, ended and was last seen as %v", pid, i, row)
		}
	}
}

func TestProgramFindsTheLogDirectory(t *testing.T) {
	t.Setenv("JIFFY_LOG", "/elsewhere")
	t.Setenv("COLLECT_TEST_OTHER", "kept")
	dir := t.TempDir()
	t.Chdir(dir)
	r := mustRun(t, Options{Dir: "run", Command: sh(`cat /proc/$$/environ | tr '\0' '\n' | grep -e ^JIFFY_LOG= -e ^COLLECT_TEST_OTHER= | sort >out; test -d "$JIFFY_LOG"`)})
	if r.status != 0 {
		t.Error("the directory does not exist while the program runs")
	}
	b, err := os.ReadFile("out")
	if want := "COLLECT_TEST_OTHER=kept\nJIFFY_LOG=" + filepath.Join(dir, "run", "log") + "\n"; err != nil || string(b) != want {
		t.Errorf("environment %q, %v; want %q", b, err, want)
	}
}

// waitFor waits until the file exists.
func waitFor(t *testing.T, path string) {
	t.Helper()
	for range 500 {
		if _, err := os.Stat(path); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s did not appear", path)
}

func TestSignalsArePassedOn(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2} {
		t.Run(unix.SignalName(sig), func(t *testing.T) {
			ready := filepath.Join(t.TempDir(), "ready")
			done := make(chan run)
			go func() {
				name := strings.TrimPrefix(unix.SignalName(sig), "SIG")
				done <- collectRun(t, Options{Interval: time.Minute, Command: sh(`trap "exit 33" `+name+`; : >$1; while :; do sleep 0.05; done`, ready)})
			}()
			waitFor(t, ready)
			if err := unix.Kill(os.Getpid(), sig); err != nil {
				t.Fatal(err)
			}
			r := <-done
			if r.err != nil || r.status != 33 {
				t.Errorf("status %d, %v; want 33, from the program's handler", r.status, r.err)
			}
		})
	}
}

func TestDurationEndsSamplingAndNotTheProgram(t *testing.T) {
	start := time.Now()
	r := mustRun(t, Options{Command: sh("sleep 0.6; exit 5"), Duration: 100 * time.Millisecond})
	if r.status != 5 || time.Since(start) < 600*time.Millisecond {
		t.Errorf("status %d after %v, want 5 after 600 ms", r.status, time.Since(start))
	}
	f := r.facts(t)
	if d := time.Duration(number(t, f["duration_ns"])); d < 100*time.Millisecond {
		t.Errorf("duration_ns is %v, want 100 ms or a little more", d)
	}
	rows := r.rows(t, processFile)
	final := slices.IndexFunc(rows, func(row map[string]string) bool { return row["final"] == "1" })
	if final < 0 || rows[final]["state"] == "Z" {
		t.Errorf("no final sample of the living process in %v", rows)
	}
}

func TestKilledCollectorLosesNothingItHadRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	cmd := exec.Command("/proc/self/exe", sh("exec sleep 60")...)
	cmd.Env = append(os.Environ(), collectDir+"="+dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	facts := filepath.Join(dir, factsFile)
	waitFor(t, facts)
	for size := int64(0); size < 500; { // a handful of rows
		info, err := os.Stat(filepath.Join(dir, processFile))
		if err != nil {
			t.Fatal(err)
		}
		size = info.Size()
		time.Sleep(10 * time.Millisecond)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	f := readKeyValues(t, facts)
	pid := int(number(t, f["pid"]))
	defer unix.Kill(pid, unix.SIGKILL)
	if f["complete"] != "false" || f["duration_ns"] != "" {
		t.Errorf("complete %q, duration_ns %q; want false and empty", f["complete"], f["duration_ns"])
	}
	if err := unix.Kill(pid, 0); err != nil {
		t.Errorf("the program did not survive its collector: %v", err)
	}
	r := run{dir: dir}
	if n := len(r.rows(t, processFile)); n < 4 {
		t.Errorf("%d process samples in the file", n)
	}
}

// newTestSampler samples a process into a new run directory.
func newTestSampler(t testing.TB, pid int, messages io.Writer) *sampler {
	t.Helper()
	dir, err := createRunDir(filepath.Join(t.TempDir(), "run"), false)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSampler(&Options{Messages: messages}, dir, pid)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.close()
		dir.close()
	})
	return s
}

func TestSampleOfEverythingAllocatesNothing(t *testing.T) {
	cmd := startShell(t, "sleep 60 & sleep 60 & wait")
	s := newTestSampler(t, cmd.Process.Pid, io.Discard)
	for len(s.family) < 3 {
		s.sample(false)
	}
	// A process that starts elsewhere meanwhile costs an entry in a map, which
	// the average over the runs leaves out.
	if n := testing.AllocsPerRun(200, func() { s.sample(false) }); n != 0 {
		t.Errorf("%v allocations per sample", n)
	}
	if len(s.family) != 3 || s.broken {
		t.Errorf("%d processes, broken: %v; want 3, false", len(s.family), s.broken)
	}
}

func TestFullDiskStopsSamplingButNotTheProgram(t *testing.T) {
	var messages bytes.Buffer
	s := newTestSampler(t, os.Getpid(), &messages)
	s.sample(false)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	s.out.thread.file.Close()
	s.out.thread.file = full
	for range 3 {
		if !s.sample(false) {
			t.Error("the process is said to be gone")
		}
	}
	if n := strings.Count(messages.String(), "\n"); n != 1 || !strings.Contains(messages.String(), "no space left on device") {
		t.Errorf("messages, want one line:\n%s", messages.String())
	}
	if !s.broken {
		t.Error("the run would be called complete")
	}
}
