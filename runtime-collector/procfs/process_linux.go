package procfs

import (
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"
)

// statSize holds the longest stat line: 52 numbers of at most 20 digits and a
// name.
const statSize = 2048

// Process samples one process and its threads through kept descriptors. It
// must not be used by several goroutines at once.
type Process struct {
	PID       int
	Starttime uint64 // ticks since boot; with PID, the process's identity

	stat    file
	buf     []byte
	threads threads
	closed  bool
}

// keptPerProcess is the number of descriptors of a process, less its threads'.
const keptPerProcess = 2

// OpenProcess opens the process for sampling and reads its identity. The error
// is ErrExited where there is no such process, and matches fs.ErrPermission
// where the kernel hides it. The budget may be shared with other processes.
func OpenProcess(pid int, budget *Budget) (*Process, error) {
	p := &Process{PID: pid, stat: noFile, buf: make([]byte, statSize)}
	if err := p.open(budget); err != nil {
		p.Close()
		return nil, fmt.Errorf("/proc/%d: %w", pid, err)
	}
	return p, nil
}

// open reaches everything through one descriptor of /proc/<pid>, so that all of
// it belongs to one process even when the pid is reused meanwhile.
func (p *Process) open(budget *Budget) error {
	p.threads.init(budget)
	budget.left -= keptPerProcess // needed even where nothing is left
	dir, err := openPath("/proc/"+strconv.Itoa(p.PID), unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer dir.close()
	if p.stat, err = dir.openAt([]byte("stat\x00"), 0); err != nil {
		return err
	}
	if p.threads.dir, err = dir.openAt([]byte("task\x00"), unix.O_DIRECTORY); err != nil {
		return err
	}
	var s Stat
	if err := p.Stat(&s); err != nil {
		return err
	}
	p.Starttime = s.Starttime
	return nil
}

// Stat reads /proc/<pid>/stat into s. It works on a zombie too, until its
// parent has waited for it; the error is ErrExited from then on.
func (p *Process) Stat(s *Stat) error {
	b, err := p.stat.read(p.buf)
	if err != nil {
		return err
	}
	if err := ParseStat(b, s); err != nil {
		return err
	}
	p.threads.expected = s.NumThreads
	return nil
}

// Threads samples every thread and calls visit for each, and once with Exited
// set for each thread that was there the last time and is gone. The sample that
// visit gets is reused.
//
// A thread that exits while this runs costs its own row only. The error is
// ErrExited when the process as a whole is gone; another error is that of the
// first thread that is there but could not be read, and the others were visited
// all the same.
func (p *Process) Threads(visit func(*ThreadSample)) error {
	return p.threads.sample(visit)
}

// ThreadsGone calls visit with Exited set for each thread of the last sample
// and forgets them; for a process that is known to have ended.
func (p *Process) ThreadsGone(visit func(*ThreadSample)) {
	p.threads.gone(visit)
}

// Close gives all descriptors back.
func (p *Process) Close() {
	if !p.closed {
		p.threads.budget.giveBack(keptPerProcess)
	}
	p.closed = true
	p.stat.close()
	p.threads.close()
}
