package procfs

// Clocks is one reading of three clocks, in ns (clock_gettime(2)).
type Clocks struct {
	Mono int64 // CLOCK_MONOTONIC: stands still while the machine is suspended
	Boot int64 // CLOCK_BOOTTIME: what Starttime counts from
	Wall int64 // CLOCK_REALTIME: since 1970-01-01 UTC
}

// ThreadSample is one reading of one thread.
type ThreadSample struct {
	TID       int
	Starttime uint64 // ticks since boot; with TID, the thread's identity
	Mono      int64  // CLOCK_MONOTONIC between the reads of schedstat and stat, ns
	Exited    bool   // there the last time, gone now: Stat and Sched mean nothing
	Stat      Stat
	Sched     Schedstat
	HasSched  bool // false where schedstat can't be read or is not kept
}
