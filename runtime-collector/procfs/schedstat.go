package procfs

// Schedstat is /proc/<pid>/task/<tid>/schedstat: one thread's scheduler
// statistics (Documentation/scheduler/sched-stats.rst). /proc/<pid>/schedstat
// has the same layout, but is the leader thread's only, not the process's.
//
// The kernel brings Run up to date at every scheduler tick and switch, so the
// value of a thread that is on a CPU lags by up to one tick of CONFIG_HZ.
type Schedstat struct {
	Run    uint64 // ns on a CPU
	Wait   uint64 // ns runnable, but waiting for a CPU
	Slices uint64 // times it was put on a CPU
}

// ParseSchedstat parses the contents of a schedstat file. The error is
// ErrFormat.
func ParseSchedstat(b []byte) (Schedstat, error) {
	var s Schedstat
	var ok bool
	f := fields{b}
	if s.Run, ok = f.uint(); !ok {
		return Schedstat{}, formatError("schedstat", "time on CPU", b)
	}
	if s.Wait, ok = f.uint(); !ok {
		return Schedstat{}, formatError("schedstat", "time waiting", b)
	}
	if s.Slices, ok = f.uint(); !ok {
		return Schedstat{}, formatError("schedstat", "slices", b)
	}
	return s, nil
}

// IsZero reports whether all three are 0, as in a thread that has not run yet,
// and in every thread of a kernel that keeps no scheduler statistics.
func (s Schedstat) IsZero() bool { return s == Schedstat{} }
