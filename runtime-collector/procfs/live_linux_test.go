package procfs

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	oracle "github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// The test binary itself serves as the process that is sampled: with
// helperThreads in its environment it starts that many threads, does what lines
// on its standard input say, and answers each with a line.
const helperThreads = "PROCFS_TEST_THREADS"

func TestMain(m *testing.M) {
	if n, err := strconv.Atoi(os.Getenv(helperThreads)); err == nil {
		helper(n)
		return
	}
	os.Exit(m.Run())
}

// The main thread must not become one of the helper's threads: Go can't end it, and the helper would wait for that without
// end.
func init() {
	if os.Getenv(helperThreads) != "" {
		runtime.LockOSThread()
	}
}

// helper answers "spawn NAME" with the tid of a new thread of that name, and
// "end TID" once that thread has ended.
func helper(n int) {
	ends := make(map[string]chan bool)
	for i := range n {
		tid, end := namedThread(fmt.Sprintf("worker %d", i))
		ends[strconv.Itoa(tid)] = end
	}
	fmt.Println("ready")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		verb, arg, _ := strings.Cut(lines.Text(), " ")
		switch verb {
		case "spawn":
			tid, end := namedThread(arg)
			ends[strconv.Itoa(tid)] = end
			fmt.Println(tid)
		case "end":
			ends[arg] <- true
			for {
				if _, err := os.Stat("/proc/self/task/" + arg); errors.Is(err, fs.ErrNotExist) {
					break
				}
				time.Sleep(time.Millisecond)
			}
			fmt.Println("ended")
		}
	}
}

// namedThread starts an OS thread that ends with its goroutine.
func namedThread(name string) (tid int, end chan bool) {
	tids, end := make(chan int), make(chan bool)
	go func() {
		runtime.LockOSThread() // and never unlocked
		b := append([]byte(name), 0)
		if err := unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&b[0])), 0, 0, 0); err != nil {
			panic(err)
		}
		tids <- unix.Gettid()
		<-end
	}()
	return <-tids, end
}

type target struct {
	*exec.Cmd
	in  io.Writer
	out *bufio.Scanner
}

func startTarget(t testing.TB, threads int) *target {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), helperThreads+"="+strconv.Itoa(threads))
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // a test that is killed leaves nobody behind
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	h := &target{cmd, in, bufio.NewScanner(out)}
	h.answer(t)
	return h
}

func (h *target) answer(t testing.TB) string {
	t.Helper()
	if !h.out.Scan() {
		t.Fatalf("the helper process gave no answer: %v", h.out.Err())
	}
	return h.out.Text()
}

func (h *target) ask(t testing.TB, line string) string {
	t.Helper()
	fmt.Fprintln(h.in, line)
	return h.answer(t)
}

func (h *target) spawn(t testing.TB, name string) int {
	t.Helper()
	tid, err := strconv.Atoi(h.ask(t, "spawn "+name))
	if err != nil {
		t.Fatal(err)
	}
	return tid
}

func openProcess(t testing.TB, pid int, budget *Budget) *Process {
	t.Helper()
	p, err := OpenProcess(pid, budget)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// sampleThreads takes one sample and returns a copy of what was visited, by tid.
func sampleThreads(t testing.TB, p *Process) map[int][]ThreadSample {
	t.Helper()
	visited := make(map[int][]ThreadSample)
	err := p.Threads(func(s *ThreadSample) {
		row := *s
		row.Stat.Comm = []byte(string(s.Stat.Comm))
		visited[s.TID] = append(visited[s.TID], row)
	})
	if err != nil {
		t.Fatal(err)
	}
	return visited
}

func TestStatAgreesWithPrometheusOnThisProcess(t *testing.T) {
	p := openProcess(t, os.Getpid(), DefaultBudget())
	proc, err := oracle.Self()
	if err != nil {
		t.Fatal(err)
	}
	var before, after Stat
	if err := p.Stat(&before); err != nil {
		t.Fatal(err)
	}
	want, err := proc.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Stat(&after); err != nil {
		t.Fatal(err)
	}
	if before.PID != want.PID || string(before.Comm) != want.Comm || before.PPID != want.PPID || before.Starttime != want.Starttime {
		t.Errorf("got %+v, want %+v", before, want)
	}
	if p.Starttime != want.Starttime {
		t.Errorf("Process.Starttime = %d, want %d", p.Starttime, want.Starttime)
	}
	for _, c := range []struct {
		field        string
		before, want int64
		after        int64
	}{
		{"utime", int64(before.Utime), int64(want.UTime), int64(after.Utime)},
		{"stime", int64(before.Stime), int64(want.STime), int64(after.Stime)},
		{"cutime", before.Cutime, int64(want.CUTime), after.Cutime},
		{"cstime", before.Cstime, int64(want.CSTime), after.Cstime},
		{"minflt", int64(before.Minflt), int64(want.MinFlt), int64(after.Minflt)},
		{"majflt", int64(before.Majflt), int64(want.MajFlt), int64(after.Majflt)},
		{"num_threads", int64(before.NumThreads), int64(want.NumThreads), int64(after.NumThreads)},
	} {
		if c.want < c.before || c.want > c.after {
			t.Errorf("%s: %d before and %d after, but the oracle read %d in between", c.field, c.before, c.after, c.want)
		}
	}
}

func TestThreadsAgreeWithPrometheus(t *testing.T) {
	h := startTarget(t, 3)
	p := openProcess(t, h.Process.Pid, DefaultBudget())
	for tid, before := range sampleThreads(t, p) {
		thread, err := oracle.FS.Thread(mustFS(t), h.Process.Pid, tid)
		if err != nil {
			t.Fatal(err)
		}
		stat, err := thread.Stat()
		if err != nil {
			t.Fatal(err)
		}
		sched, err := thread.Schedstat()
		if err != nil {
			t.Fatal(err)
		}
		after := sampleThreads(t, p)[tid]
		if len(before) != 1 || len(after) != 1 {
			t.Fatalf("tid %d was visited %d and %d times", tid, len(before), len(after))
		}
		b, a := before[0], after[0]
		if string(b.Stat.Comm) != stat.Comm || b.Starttime != stat.Starttime || !b.HasSched {
			t.Errorf("tid %d: got %+v, want %+v", tid, b, stat)
		}
		if sched.RunningNanoseconds < b.Sched.Run || sched.RunningNanoseconds > a.Sched.Run ||
			sched.WaitingNanoseconds < b.Sched.Wait || sched.WaitingNanoseconds > a.Sched.Wait ||
			sched.RunTimeslices < b.Sched.Slices || sched.RunTimeslices > a.Sched.Slices {
			t.Errorf("tid %d: the oracle read %+v between %+v and %+v", tid, sched, b.Sched, a.Sched)
		}
		if a.Mono <= b.Mono {
			t.Errorf("tid %d: stamps %d, then %d", tid, b.Mono, a.Mono)
		}
	}
}

func mustFS(t *testing.T) oracle.FS {
	t.Helper()
	f, err := oracle.NewDefaultFS()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// budgets are the two ways in which threads are read.
var budgets = map[string]func() *Budget{
	"kept descriptors":  DefaultBudget,
	"past the budget":   func() *Budget { return NewBudget(0) },
	"one of them kept":  func() *Budget { return NewBudget(keptPerProcess + keptPerThread) },
	"half a descriptor": func() *Budget { return NewBudget(keptPerProcess + keptPerThread - 1) },
}

func TestThreadsComeAndGo(t *testing.T) {
	for name, budget := range budgets {
		t.Run(name, func(t *testing.T) {
			h := startTarget(t, 2)
			p := openProcess(t, h.Process.Pid, budget())
			if got := sampleThreads(t, p); len(got) < 3 {
				t.Fatalf("%d threads, want the leader and at least 2", len(got))
			}
			tid := h.spawn(t, "pool) 1)")
			was := sampleThreads(t, p)[tid]
			if len(was) != 1 || was[0].Exited || string(was[0].Stat.Comm) != "pool) 1)" || was[0].Stat.PID != tid {
				t.Fatalf("new thread %d: visited as %+v", tid, was)
			}
			h.ask(t, "end "+strconv.Itoa(tid))
			is := sampleThreads(t, p)[tid]
			if len(is) != 1 || !is[0].Exited || is[0].Starttime != was[0].Starttime {
				t.Errorf("ended thread %d: visited as %+v, want one exit with starttime %d", tid, is, was[0].Starttime)
			}
			if again := sampleThreads(t, p)[tid]; again != nil {
				t.Errorf("thread %d was visited after its exit: %+v", tid, again)
			}
		})
	}
}

func TestReusedTidIsAnExitAndANewThread(t *testing.T) {
	for name, budget := range budgets {
		t.Run(name, func(t *testing.T) {
			h := startTarget(t, 1)
			p := openProcess(t, h.Process.Pid, budget())
			tid := h.spawn(t, "second life")
			starttime := sampleThreads(t, p)[tid][0].Starttime
			p.threads.byTID[tid].starttime = 7 // as if another thread had had the tid

			got := sampleThreads(t, p)[tid]
			if len(got) != 2 || !got[0].Exited || got[0].Starttime != 7 || got[1].Exited || got[1].Starttime != starttime {
				t.Errorf("visited as %+v; want the exit of starttime 7, then a sample of %d", got, starttime)
			}
		})
	}
}

func TestDescriptorOfAnExitedThreadIsReopenedForTheNewOne(t *testing.T) {
	h := startTarget(t, 1)
	p := openProcess(t, h.Process.Pid, DefaultBudget())
	first, second := h.spawn(t, "first"), h.spawn(t, "second")
	starttime := sampleThreads(t, p)[second][0].Starttime
	h.ask(t, "end "+strconv.Itoa(first))
	// The descriptors of the dead thread under the tid of the living one: what
	// the table holds after the kernel gave a tid to a new thread.
	a, b := p.threads.byTID[first], p.threads.byTID[second]
	a.stat, b.stat = b.stat, a.stat
	a.sched, b.sched = b.sched, a.sched

	got := sampleThreads(t, p)[second]
	if len(got) != 2 || !got[0].Exited || got[1].Exited || string(got[1].Stat.Comm) != "second" || got[1].Starttime != starttime {
		t.Errorf("visited as %+v; want an exit, then a sample of the living thread", got)
	}
}

func TestAThreadThatTheListingMissedIsNotAnExit(t *testing.T) {
	h := startTarget(t, 2)
	p := openProcess(t, h.Process.Pid, DefaultBudget())
	known := len(sampleThreads(t, p))
	p.threads.scan++ // a listing that found nobody
	alive := 0
	for _, thread := range p.threads.order {
		err := p.threads.sampleOne(thread, func(s *ThreadSample) {
			if s.Exited {
				t.Errorf("thread %d visited as exited", s.TID)
			}
		})
		if err == nil {
			alive++
		}
	}
	if alive != known {
		t.Errorf("%d of %d threads are still there", alive, known)
	}
}

func TestAThreadThatCanNotBeReadIsNotAnExit(t *testing.T) {
	h := startTarget(t, 3)
	p := openProcess(t, h.Process.Pid, DefaultBudget())
	tid := h.spawn(t, "unreadable")
	known := len(sampleThreads(t, p))
	// A descriptor that is no stat file, as running out of memory or of
	// descriptors would fail a read.
	thread := p.threads.byTID[tid]
	stat, sched := thread.stat, thread.sched
	thread.stat = thread.sched
	others := 0
	err := p.Threads(func(s *ThreadSample) {
		others++
		if s.TID == tid || s.Exited {
			t.Errorf("visited %+v", s)
		}
	})
	if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), strconv.Itoa(tid)) {
		t.Errorf("error %v, want ErrFormat with the tid", err)
	}
	if others != known-1 {
		t.Errorf("%d of %d other threads were visited", others, known-1)
	}
	thread.stat, thread.sched = stat, sched
	if again := sampleThreads(t, p)[tid]; len(again) != 1 || again[0].Exited {
		t.Errorf("once it can be read again it is visited as %+v", again)
	}
}

func TestZombieHasItsCountersUntilItIsReaped(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := openProcess(t, cmd.Process.Pid, DefaultBudget())
	if err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	var s Stat
	if err := p.Stat(&s); err != nil || s.State != 'Z' || s.Starttime != p.Starttime {
		t.Errorf("zombie: %+v, %v", s, err)
	}
	leader := sampleThreads(t, p)[cmd.Process.Pid]
	if len(leader) != 1 || leader[0].Exited || leader[0].Sched.Run == 0 {
		t.Errorf("the zombie's leader was visited as %+v", leader)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := p.Stat(&s); !errors.Is(err, ErrExited) {
		t.Errorf("Stat after reaping: %v, want ErrExited", err)
	}
	if err := p.Threads(func(*ThreadSample) {}); !errors.Is(err, ErrExited) {
		t.Errorf("Threads after reaping: %v, want ErrExited", err)
	}
	var gone []int
	p.ThreadsGone(func(s *ThreadSample) { gone = append(gone, s.TID) })
	if len(gone) != 1 || gone[0] != cmd.Process.Pid {
		t.Errorf("ThreadsGone visited %v, want [%d]", gone, cmd.Process.Pid)
	}
}

func TestOpenProcessThatDoesNotExist(t *testing.T) {
	_, err := OpenProcess(1<<22+1, DefaultBudget()) // above the largest pid_max
	if !errors.Is(err, ErrExited) || !strings.Contains(err.Error(), "/proc/4194305") {
		t.Errorf("error %v, want ErrExited with the path", err)
	}
}

func TestCloseGivesTheBudgetBack(t *testing.T) {
	h := startTarget(t, 4)
	const enough = 100
	budget := NewBudget(enough)
	p, err := OpenProcess(h.Process.Pid, budget)
	if err != nil {
		t.Fatal(err)
	}
	threads := len(sampleThreads(t, p))
	if want := enough - keptPerProcess - threads*keptPerThread; budget.left != want {
		t.Errorf("%d descriptors left with %d threads, want %d", budget.left, threads, want)
	}
	p.Close()
	p.Close()
	if budget.left != enough {
		t.Errorf("%d descriptors left after Close, want %d", budget.left, enough)
	}
}

func TestTableFindsEachProcessOnce(t *testing.T) {
	table, err := OpenTable()
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	appeared := func() map[int]int {
		parents := make(map[int]int)
		if err := table.Appeared(func(pid, ppid int) { parents[pid] = ppid }); err != nil {
			t.Fatal(err)
		}
		return parents
	}
	if first := appeared(); first[os.Getpid()] != os.Getppid() {
		t.Errorf("parent of this process: %d, want %d", first[os.Getpid()], os.Getppid())
	}
	h := startTarget(t, 0)
	if parent := appeared()[h.Process.Pid]; parent != os.Getpid() {
		t.Errorf("parent of the new process: %d, want %d", parent, os.Getpid())
	}
	if _, again := appeared()[h.Process.Pid]; again {
		t.Error("the process appeared a second time")
	}
	earlier := table.known[h.Process.Pid]
	earlier.inode++ // as if another process had had the pid
	table.known[h.Process.Pid] = earlier
	if _, again := appeared()[h.Process.Pid]; !again {
		t.Error("a process that reuses a known pid did not appear")
	}
	h.Process.Kill()
	h.Wait()
	appeared()
	if _, known := table.known[h.Process.Pid]; known {
		t.Error("a process that is gone is still in the table")
	}
}

func TestSamplingAllocatesNothing(t *testing.T) {
	for name, budget := range budgets {
		t.Run(name, func(t *testing.T) {
			h := startTarget(t, 20)
			p := openProcess(t, h.Process.Pid, budget())
			var s Stat
			visited := 0
			visit := func(*ThreadSample) { visited++ }
			sample := func() {
				ReadClocks()
				if err := errors.Join(p.Stat(&s), p.Threads(visit)); err != nil {
					t.Fatal(err)
				}
			}
			sample()
			visited = 0
			const runs = 100
			if n := testing.AllocsPerRun(runs, sample); n != 0 {
				t.Errorf("%v allocations per sample", n)
			}
			if visited < 21*runs {
				t.Errorf("only %d threads visited in %d samples of a process with at least 21", visited, runs)
			}
		})
	}
}

func TestReadHost(t *testing.T) {
	h, err := ReadHost()
	if err != nil {
		t.Fatal(err)
	}
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("getconf", "CLK_TCK").Output()
	if err != nil {
		t.Skipf("no getconf to compare with: %v", err)
	}
	if want := strings.TrimSpace(string(out)); strconv.FormatInt(h.Hz, 10) != want {
		t.Errorf("Hz = %d, getconf says %s", h.Hz, want)
	}
	if h.Name != name || h.CPUs < 1 || h.CPUs > h.CPUsPossible || !strings.HasPrefix(h.Kernel, "Linux ") {
		t.Errorf("got %+v on host %s", h, name)
	}
}

func BenchmarkThreadSample(b *testing.B) {
	for name, budget := range map[string]*Budget{"kept": DefaultBudget(), "reopened": NewBudget(0)} {
		b.Run(name, func(b *testing.B) {
			h := startTarget(b, 64)
			p := openProcess(b, h.Process.Pid, budget)
			threads := 0
			visit := func(*ThreadSample) { threads++ }
			if err := p.Threads(visit); err != nil {
				b.Fatal(err)
			}
			threads = 0
			b.ReportAllocs()
			for b.Loop() {
				if err := p.Threads(visit); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(threads), "ns/thread")
		})
	}
}

func BenchmarkTable(b *testing.B) {
	table, err := OpenTable()
	if err != nil {
		b.Fatal(err)
	}
	defer table.Close()
	b.ReportAllocs()
	for b.Loop() {
		if err := table.Appeared(func(int, int) {}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(table.known)), "processes")
}
