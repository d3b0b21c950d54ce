package procfs

import "bytes"

// Stat is what is sampled from /proc/<pid>/stat and /proc/<pid>/task/<tid>/stat
// (proc_pid_stat(5)). The comments give the 1-based field numbers.
//
// In a thread's file Utime, Stime, Minflt, Majflt and Starttime are the
// thread's own, while Cutime, Cstime, NumThreads and RSS are the whole process's
// and must not be summed over threads. In the process's file Utime and Stime
// include threads that have exited.
type Stat struct {
	PID        int    // 1: pid, or tid in a thread's file
	Comm       []byte // 2: name, raw, at most 15 bytes for user threads; reused by the next parse
	State      byte   // 3: R, S, D, Z, T, t, I, X …
	PPID       int    // 4
	Minflt     uint64 // 10: page faults that needed no I/O
	Majflt     uint64 // 12: page faults that did
	Utime      uint64 // 14: ticks in user mode
	Stime      uint64 // 15: ticks in kernel mode
	Cutime     int64  // 16: ticks in user mode of children waited for
	Cstime     int64  // 17: ticks in kernel mode of children waited for
	NumThreads int    // 20
	Starttime  uint64 // 22: ticks since boot
	RSS        int64  // 24: resident pages
}

// ParseStat parses the contents of a stat file into s and allocates nothing
// once s.Comm has grown. The error is ErrFormat.
//
// comm may itself hold spaces, newlines and parentheses, so it is taken from
// the first "(" to the last ")": nothing after it can hold one.
func ParseStat(b []byte, s *Stat) error {
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 1 || end < open {
		return formatError("stat", "comm", b)
	}
	pid, ok := parseUint(bytes.TrimRight(b[:open], " "))
	if !ok {
		return formatError("stat", "pid", b)
	}
	s.PID = int(pid)
	s.Comm = append(s.Comm[:0], b[open+1:end]...)

	f := fields{b[end+1:]}
	state := f.next()
	if len(state) != 1 {
		return formatError("stat", "state", b)
	}
	s.State = state[0]
	if field := s.parseNumbers(&f); field != "" {
		return formatError("stat", field, b)
	}
	return nil
}

// parseNumbers reads fields 4 to 24; it returns the name of the field that
// could not be read, or "".
func (s *Stat) parseNumbers(f *fields) string {
	ppid, ok := f.int()
	if !ok {
		return "ppid"
	}
	s.PPID = int(ppid)
	f.skip(5) // pgrp, session, tty_nr, tpgid, flags
	if s.Minflt, ok = f.uint(); !ok {
		return "minflt"
	}
	f.skip(1) // cminflt
	if s.Majflt, ok = f.uint(); !ok {
		return "majflt"
	}
	f.skip(1) // cmajflt
	if s.Utime, ok = f.uint(); !ok {
		return "utime"
	}
	if s.Stime, ok = f.uint(); !ok {
		return "stime"
	}
	if s.Cutime, ok = f.int(); !ok {
		return "cutime"
	}
	if s.Cstime, ok = f.int(); !ok {
		return "cstime"
	}
	f.skip(2) // priority, nice
	threads, ok := f.int()
	if !ok {
		return "num_threads"
	}
	s.NumThreads = int(threads)
	f.skip(1) // itrealvalue
	if s.Starttime, ok = f.uint(); !ok {
		return "starttime"
	}
	f.skip(1) // vsize
	if s.RSS, ok = f.int(); !ok {
		return "rss"
	}
	return ""
}
