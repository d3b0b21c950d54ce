package probe

import "fmt"

// Clock is where a probe's times come from.
type Clock int

const (
	// ClockAuto asks the runtime: elapsedRealtimeNanos on Android, nanoTime elsewhere.
	ClockAuto Clock = iota
	// ClockElapsedRealtimeNanos calls android.os.SystemClock.elapsedRealtimeNanos (CLOCK_BOOTTIME, ns).
	ClockElapsedRealtimeNanos
	// ClockElapsedRealtime calls android.os.SystemClock.elapsedRealtime (CLOCK_BOOTTIME, whole ms).
	ClockElapsedRealtime
	// ClockNanoTime calls java.lang.System.nanoTime (CLOCK_MONOTONIC on Linux and Android, ns).
	ClockNanoTime
)

// clocks holds, for each Clock, its name, the method that reads it at entry, and the ending of the runtime's methods that
// read the same clock at exit.
var clocks = [...]struct{ name, class, method, suffix string }{
	ClockAuto:                 {"auto", Runtime, "now", ""},
	ClockElapsedRealtimeNanos: {"elapsedRealtimeNanos", "android/os/SystemClock", "elapsedRealtimeNanos", "ElapsedRealtimeNanos"},
	ClockElapsedRealtime:      {"elapsedRealtime", "android/os/SystemClock", "elapsedRealtime", "ElapsedRealtime"},
	ClockNanoTime:             {"nanoTime", "java/lang/System", "nanoTime", "NanoTime"},
}

func (c Clock) String() string { return clocks[c].name }

// ParseClock turns a name, as --clock takes it, into a Clock.
func ParseClock(name string) (Clock, error) {
	for c := range clocks {
		if clocks[c].name == name {
			return Clock(c), nil
		}
	}
	return 0, fmt.Errorf("unknown clock %q: take auto, elapsedRealtimeNanos, elapsedRealtime or nanoTime", name)
}

// ParseExits turns a name, as --exits takes it, into an Exits.
func ParseExits(name string) (Exits, error) {
	switch name {
	case "all":
		return ExitsAll, nil
	case "normal":
		return ExitsNormal, nil
	}
	return 0, fmt.Errorf("unknown exits %q: take all or normal", name)
}
