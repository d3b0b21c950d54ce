package collect

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/jiffyperf/jiffy/runtime-collector/eventlog/eventlogtest"
	"github.com/jiffyperf/jiffy/runtime-collector/procfs"
)

// startShell starts a script that attach can be tried on. It runs with the
// variables in env, and is reaped as soon as it ends.
func startShell(t *testing.T, script string, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sh", "-c", script)
	cmd.Env = append(os.Environ(), env...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	reaped := make(chan bool)
	go func() {
		cmd.Wait()
		close(reaped)
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-reaped
	})
	return cmd
}

func TestAttachEndsWithTheProcess(t *testing.T) {
	cmd := startShell(t, "sleep 0.3; exit 9")
	start := time.Now()
	r := mustRun(t, Options{PID: cmd.Process.Pid, Interval: time.Minute})
	if r.status != 0 {
		t.Errorf("status %d, want 0: the exit code is its parent's business", r.status)
	}
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("the end was noticed after %v", d)
	}
	f := r.facts(t)
	if f["attached"] != "true" || f["pid"] != strconv.Itoa(cmd.Process.Pid) || f["command"] != "sh -c 'sleep 0.3; exit 9'" || f["exit_code"] != "" || f["complete"] != "true" {
		t.Errorf("facts %q", f)
	}
}

func TestAttachEndsAfterTheDuration(t *testing.T) {
	cmd := startShell(t, "sleep 60")
	r := mustRun(t, Options{PID: cmd.Process.Pid, Duration: 150 * time.Millisecond})
	if err := unix.Kill(cmd.Process.Pid, 0); err != nil {
		t.Errorf("the process did not survive: %v", err)
	}
	rows := r.rows(t, processFile)
	if len(rows) < 3 || rows[len(rows)-1]["final"] != "1" {
		t.Errorf("samples %v, want several and a final one", rows)
	}
}

func TestAttachEndsAtAnInterrupt(t *testing.T) {
	cmd := startShell(t, "sleep 60")
	dir := filepath.Join(t.TempDir(), "run")
	done := make(chan run)
	go func() { done <- collectRun(t, Options{Dir: dir, PID: cmd.Process.Pid, Interval: time.Minute}) }()
	waitFor(t, filepath.Join(dir, factsFile))
	if err := unix.Kill(os.Getpid(), unix.SIGINT); err != nil {
		t.Fatal(err)
	}
	r := <-done
	if r.err != nil || r.status != 0 || r.facts(t)["complete"] != "true" {
		t.Errorf("status %d, %v", r.status, r.err)
	}
	if err := unix.Kill(cmd.Process.Pid, 0); err != nil {
		t.Errorf("the process got the interrupt: %v", err)
	}
}

func TestAttachCopiesTheEventLogOfThatProcess(t *testing.T) {
	logs := t.TempDir()
	cmd := startShell(t, "sleep 60", "JIFFY_LOG="+logs)
	p, err := procfs.OpenProcess(cmd.Process.Pid, procfs.DefaultBudget())
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	ours := "events-" + strconv.Itoa(p.PID) + "-" + strconv.FormatUint(p.Starttime, 10) + "-0.jiffy"
	before := "events-" + strconv.Itoa(p.PID) + "-1-0.jiffy"

	maps := t.TempDir()
	_, hash := writeMap(t, filepath.Join(maps, "META-INF/jiffy/probes-0000000000000000.csv"), "run")
	log := eventlogtest.New("java_class_path", filepath.Base(maps), "user_dir", filepath.Dir(maps)).Bytes()
	for _, name := range []string{ours, before} {
		if err := os.WriteFile(filepath.Join(logs, name), log, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := mustRun(t, Options{PID: p.PID, Duration: 50 * time.Millisecond})
	if got := strings.Join(tree(t, filepath.Join(r.dir, logDir)), " "); got != ours {
		t.Errorf("copied logs %q, want %q", got, ours)
	}
	if got := strings.Join(tree(t, filepath.Join(r.dir, mapDir)), " "); got != "probes-"+hash+".csv" {
		t.Errorf("maps %q, want the one on the class path in the log's header", got)
	}
	if !strings.Contains(r.messages, "writes its event log to "+logs) || !strings.Contains(r.messages, "1 event log file copied") {
		t.Errorf("messages:\n%s", r.messages)
	}
}

func TestAttachRefuses(t *testing.T) {
	runtime.LockOSThread() // a thread that is not the process's leader
	defer runtime.UnlockOSThread()
	zombie := exec.Command("true")
	if err := zombie.Start(); err != nil {
		t.Fatal(err)
	}
	defer zombie.Wait()
	if err := unix.Waitid(unix.P_PID, zombie.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		pid  int
		says string
	}{
		{"no process", 1<<22 + 1, "pid 4194305: no such process"},
		{"a thread", otherThread(t), "is a thread of process " + strconv.Itoa(os.Getpid())},
		{"a zombie", zombie.Process.Pid, "has already ended"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := collectRun(t, Options{PID: c.pid})
			var failed *Error
			if !errors.As(r.err, &failed) || failed.Status != 1 || !strings.Contains(r.err.Error(), c.says) {
				t.Errorf("error %v, want %q", r.err, c.says)
			}
			if _, err := os.Stat(r.dir); !os.IsNotExist(err) {
				t.Errorf("the run directory was left behind: %v", err)
			}
		})
	}
}

// otherThread returns the tid of a thread of this process but its leader.
func otherThread(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if tid, err := strconv.Atoi(e.Name()); err == nil && tid != os.Getpid() {
			return tid
		}
	}
	t.Fatal("this process has one thread only")
	return 0
}

func TestCheckOwner(t *testing.T) {
	for _, c := range []struct {
		owner, self int
		ok          bool
	}{
		{1000, 1000, true},
		{1000, 0, true},
		{0, 1000, false},
		{1001, 1000, false},
	} {
		err := checkOwner(42, c.owner, c.self)
		if (err == nil) != c.ok {
			t.Errorf("user %d on a process of user %d: %v", c.self, c.owner, err)
		}
		if err != nil && !strings.Contains(err.Error(), "pid 42 belongs to user "+strconv.Itoa(c.owner)) {
			t.Errorf("error %v does not say whose the process is", err)
		}
	}
}
