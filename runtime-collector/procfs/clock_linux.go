package procfs

import "golang.org/x/sys/unix"

// ReadClocks reads the three clocks one after the other.
func ReadClocks() Clocks {
	return Clocks{Mono: Monotonic(), Boot: readClock(unix.CLOCK_BOOTTIME), Wall: readClock(unix.CLOCK_REALTIME)}
}

// Monotonic reads CLOCK_MONOTONIC, in ns.
func Monotonic() int64 { return readClock(unix.CLOCK_MONOTONIC) }

// OwnCPU returns the CPU time of the calling process, all threads, in ns.
func OwnCPU() int64 { return readClock(unix.CLOCK_PROCESS_CPUTIME_ID) }

func readClock(clock int32) int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(clock, &ts); err != nil {
		return 0 // not for clocks that every kernel since 2.6.39 has
	}
	return ts.Nano()
}
