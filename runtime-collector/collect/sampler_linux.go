package collect

import (
	"errors"

	"github.com/jiffyperf/jiffy/runtime-collector/procfs"
)

// identity tells a process from a later one with its pid.
type identity struct {
	pid       int
	starttime uint64 // ticks since boot
}

// sampler samples a process and its descendants into the run's sample files.
type sampler struct {
	opts   *Options
	out    *runDir
	budget *procfs.Budget
	table  *procfs.Table
	family []*procfs.Process // the first is the one the run is about
	seen   map[identity]bool // every process that was ever in family

	samples int
	broken  bool // a sample file could not be written; nothing more is
	unread  bool // a thread that is there could not be read

	stat     procfs.Stat
	pid      int                        // whose threads are being visited
	visit    func(*procfs.ThreadSample) // s.thread, bound once
	appeared []relative                 // scratch of discover
	note     func(pid, ppid int)        // adds to appeared, bound once
}

// relative is a process that may be a descendant.
type relative struct{ pid, parent int }

// newSampler opens the process with the given pid.
func newSampler(opts *Options, out *runDir, pid int) (*sampler, error) {
	s := &sampler{opts: opts, out: out, budget: procfs.DefaultBudget(), seen: make(map[identity]bool)}
	s.visit = s.thread
	s.note = func(pid, ppid int) { s.appeared = append(s.appeared, relative{pid, ppid}) }
	p, err := procfs.OpenProcess(pid, s.budget)
	if err != nil {
		return nil, err
	}
	s.adopt(p)
	if s.table, err = procfs.OpenTable(); err != nil {
		// Without the table descendants stay unknown; the process does not.
		opts.message("child processes are not sampled: %v", err)
	}
	return s, nil
}

func (s *sampler) adopt(p *procfs.Process) {
	s.family = append(s.family, p)
	s.seen[identity{p.PID, p.Starttime}] = true
}

// sample takes one sample of everything, final if there will be no other. It
// reports whether the first process is still there; one that has ended gets its
// row from the final sample only.
func (s *sampler) sample(final bool) bool {
	if s.broken {
		return s.family[0].Stat(&s.stat) == nil && !isZombie(&s.stat)
	}
	s.discover()
	kept := s.family[:0]
	leaderThere := false
	for i, p := range s.family {
		there := s.sampleProcess(p, i == 0, final)
		if i == 0 {
			leaderThere = there
		}
		if there || i == 0 {
			kept = append(kept, p)
		} else {
			p.Close()
		}
	}
	clear(s.family[len(kept):])
	s.family = kept
	s.flush()
	return leaderThere
}

// sampleProcess samples one process and its threads; it reports whether there
// will be more to sample. A process that is a zombie has its final counters.
func (s *sampler) sampleProcess(p *procfs.Process, first, final bool) bool {
	s.pid = p.PID
	clocks := procfs.ReadClocks()
	if err := p.Stat(&s.stat); err != nil {
		if !errors.Is(err, procfs.ErrExited) {
			s.opts.message("pid %d is not sampled any more: %v", p.PID, err)
		}
		p.ThreadsGone(s.visit)
		return false
	}
	zombie := isZombie(&s.stat)
	if zombie && first && !final {
		return false
	}
	s.out.process.processRow(clocks, &s.stat, final || zombie)
	err := p.Threads(s.visit)
	switch {
	case errors.Is(err, procfs.ErrExited):
		p.ThreadsGone(s.visit)
	case err != nil && !s.unread:
		s.unread = true // once is enough: it would be said at every sample
		s.opts.message("samples of threads are missing: /proc/%d/%v", p.PID, err)
	}
	return !zombie
}

// isZombie reports whether a process has ended. A leader that ended before its
// other threads is in the same state.
func isZombie(s *procfs.Stat) bool { return s.State == 'Z' && s.NumThreads <= 1 }

func (s *sampler) thread(t *procfs.ThreadSample) {
	s.out.thread.threadRow(s.pid, t)
}

// flush writes what was sampled. When the disk is full, or a file can't be
// written for another reason, it says so, and sampling is over: what remains is
// to see the program through and to pass its exit status on.
func (s *sampler) flush() {
	if err := errors.Join(s.out.process.flush(), s.out.thread.flush()); err != nil {
		s.broken = true
		s.opts.message("sampling stopped, what was sampled so far is kept: %v", err)
		return
	}
	s.samples++
}

// discover takes descendants of the family into it. Children of children that
// appeared together are found in further passes.
func (s *sampler) discover() {
	if s.table == nil {
		return
	}
	s.appeared = s.appeared[:0]
	if err := s.table.Appeared(s.note); err != nil {
		s.opts.message("child processes are not sampled any more: %v", err)
		s.table.Close()
		s.table = nil
		return
	}
	for s.adoptChildren() {
	}
}

// adoptChildren opens those who appeared whose parent is in the family; it
// reports whether there were any.
func (s *sampler) adoptChildren() (found bool) {
	rest := s.appeared[:0]
	for _, r := range s.appeared {
		if !s.isMember(r.parent) || s.isMember(r.pid) {
			rest = append(rest, r)
			continue
		}
		p, err := procfs.OpenProcess(r.pid, s.budget)
		if err != nil {
			continue // gone, or another user's (set-user-ID)
		}
		s.adopt(p)
		found = true
	}
	s.appeared = rest
	return found
}

func (s *sampler) isMember(pid int) bool {
	for _, p := range s.family {
		if p.PID == pid {
			return true
		}
	}
	return false
}

func (s *sampler) close() {
	for _, p := range s.family {
		p.Close()
	}
	if s.table != nil {
		s.table.Close()
	}
}
