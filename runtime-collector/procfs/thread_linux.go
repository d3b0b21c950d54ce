package procfs

import (
	"errors"
	"fmt"
	"strconv"
)

// thread is a known thread. Its descriptors are noFile past the budget.
type thread struct {
	tid       int
	starttime uint64
	started   bool // starttime is known
	stat      file
	sched     file
	listed    uint64 // number of the last scan that found it
}

// threads is the table of a process's threads, kept between samples.
type threads struct {
	dir      file // /proc/<pid>/task
	budget   *Budget
	byTID    map[int]*thread
	order    []*thread // as first seen
	scan     uint64
	expected int // num_threads as last read
	records  []byte
	path     []byte
	buf      []byte
	row      ThreadSample
}

// keptPerThread is the number of descriptors of a kept thread.
const keptPerThread = 2

func (ts *threads) init(budget *Budget) {
	ts.dir = noFile
	ts.budget = budget
	ts.byTID = make(map[int]*thread)
	ts.records = make([]byte, 32<<10)
	ts.buf = make([]byte, statSize)
	ts.path = make([]byte, 0, 32)
}

func (ts *threads) sample(visit func(*ThreadSample)) error {
	if err := ts.find(); err != nil {
		return err
	}
	alive := ts.order[:0]
	var failed error
	for _, t := range ts.order {
		err := ts.sampleOne(t, visit)
		if errors.Is(err, ErrExited) {
			delete(ts.byTID, t.tid)
			ts.release(t)
			continue
		}
		alive = append(alive, t)
		if err != nil && failed == nil {
			failed = fmt.Errorf("task/%d: %w", t.tid, err)
		}
	}
	clear(ts.order[len(alive):])
	ts.order = alive
	return failed
}

// find lists the task directory and adds the threads it does not know yet.
//
// The kernel ends a listing early when the thread it stands at exits at that
// moment. Known threads don't depend on it, they are asked through their own
// descriptors; for new ones' sake a listing that is shorter than num_threads is
// repeated.
func (ts *threads) find() error {
	const tries = 3
	for range tries {
		listed, err := ts.list()
		if err != nil {
			return err
		}
		if listed >= ts.expected {
			break
		}
	}
	return nil
}

func (ts *threads) list() (listed int, err error) {
	if err := ts.dir.rewind(); err != nil {
		return 0, err
	}
	ts.scan++
	for {
		b, err := ts.dir.list(ts.records)
		if err != nil {
			return 0, err
		}
		if len(b) == 0 {
			return listed, nil
		}
		for d := (dirents{b}); ; listed++ {
			tid, _, ok := d.nextNumber()
			if !ok {
				break
			}
			ts.found(tid)
		}
	}
}

// found marks a thread as listed, and takes it into the table if it is new.
func (ts *threads) found(tid int) {
	t := ts.byTID[tid]
	if t == nil {
		t = &thread{tid: tid, stat: noFile, sched: noFile}
		ts.byTID[tid] = t
		ts.order = append(ts.order, t)
		ts.keep(t)
	}
	t.listed = ts.scan
}

// keep opens the thread's files where the budget allows. A file that can't be
// opened shows when it is read.
func (ts *threads) keep(t *thread) {
	if !ts.budget.take(keptPerThread) {
		return
	}
	var err error
	if t.stat, err = ts.dir.openAt(ts.taskPath(t.tid, "/stat\x00"), 0); err != nil {
		t.stat = noFile
		ts.budget.giveBack(keptPerThread)
		if outOfFiles(err) {
			ts.budget.left = 0
		}
		return
	}
	if t.sched, err = ts.dir.openAt(ts.taskPath(t.tid, "/schedstat\x00"), 0); err != nil {
		t.sched = noFile
	}
}

func (ts *threads) release(t *thread) {
	if t.stat != noFile {
		ts.budget.giveBack(keptPerThread)
	}
	t.stat.close()
	t.sched.close()
}

// sampleOne visits one thread. Its tid may belong to a new thread by now: then
// the old one is visited as exited, and the new one takes its place. The error
// is ErrExited when there is no thread of that tid any more.
func (ts *threads) sampleOne(t *thread, visit func(*ThreadSample)) error {
	err := ts.read(t)
	if errors.Is(err, ErrExited) && t.stat != noFile && t.listed == ts.scan {
		// The kept descriptor's thread is gone, yet its tid was listed.
		ts.exited(t, visit)
		ts.release(t)
		t.started = false
		ts.keep(t)
		err = ts.read(t)
	}
	if errors.Is(err, ErrExited) {
		ts.exited(t, visit)
	}
	if err != nil {
		return err
	}
	if starttime := ts.row.Starttime; t.started && t.starttime != starttime {
		ts.row.Starttime, ts.row.Exited = t.starttime, true
		visit(&ts.row)
		ts.row.Starttime, ts.row.Exited = starttime, false
	}
	t.starttime, t.started = ts.row.Starttime, true
	visit(&ts.row)
	return nil
}

// exited visits a thread as gone, if it was ever sampled.
func (ts *threads) exited(t *thread, visit func(*ThreadSample)) {
	if !t.started {
		return
	}
	ts.row.TID, ts.row.Starttime = t.tid, t.starttime
	ts.row.Mono = Monotonic()
	ts.row.Exited, ts.row.HasSched = true, false
	visit(&ts.row)
}

// read fills ts.row. Schedstat comes first: it is the primary source of CPU
// time, and the stamp is taken right after it.
func (ts *threads) read(t *thread) error {
	ts.row.TID, ts.row.Exited, ts.row.HasSched = t.tid, false, false
	var schedErr error
	if b, err := ts.contents(t, t.sched, "/schedstat\x00"); err == nil {
		ts.row.Sched, schedErr = ParseSchedstat(b)
		ts.row.HasSched = schedErr == nil
	}
	ts.row.Mono = Monotonic()
	b, err := ts.contents(t, t.stat, "/stat\x00")
	if err != nil {
		return err
	}
	if err := ParseStat(b, &ts.row.Stat); err != nil {
		return err
	}
	ts.row.Starttime = ts.row.Stat.Starttime
	if ts.row.Sched.IsZero() && ts.row.Stat.Utime+ts.row.Stat.Stime > 0 {
		// It has run, so these zeros are a kernel that doesn't count.
		ts.row.HasSched = false
	}
	return nil
}

// contents reads one of the thread's files, through the kept descriptor where
// the thread has one.
func (ts *threads) contents(t *thread, kept file, name string) ([]byte, error) {
	if kept != noFile {
		return kept.read(ts.buf)
	}
	if t.stat != noFile {
		return nil, ErrExited // a kept thread without this file
	}
	f, err := ts.dir.openAt(ts.taskPath(t.tid, name), 0)
	if err != nil {
		return nil, err
	}
	defer f.close()
	return f.read(ts.buf)
}

// taskPath returns "<tid>" + name in a reused buffer; name ends in a zero byte.
func (ts *threads) taskPath(tid int, name string) []byte {
	ts.path = strconv.AppendInt(ts.path[:0], int64(tid), 10)
	ts.path = append(ts.path, name...)
	return ts.path
}

func (ts *threads) gone(visit func(*ThreadSample)) {
	for _, t := range ts.order {
		ts.exited(t, visit)
		ts.release(t)
	}
	clear(ts.order)
	ts.order = ts.order[:0]
	clear(ts.byTID)
}

func (ts *threads) close() {
	ts.gone(func(*ThreadSample) {})
	ts.dir.close()
}
