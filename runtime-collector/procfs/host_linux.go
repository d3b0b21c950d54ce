package procfs

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Host is what does not change while a run is sampled.
type Host struct {
	Name         string // nodename of uname(2)
	Kernel       string // sysname, release and machine of uname(2)
	Hz           int64  // USER_HZ: ticks per second in stat files
	CPUs         int    // logical CPUs online
	CPUsPossible int    // logical CPUs that could come online
}

// ReadHost collects the facts about this machine.
func ReadHost() (Host, error) {
	var uts unix.Utsname
	if err := unix.Uname(&uts); err != nil {
		return Host{}, fmt.Errorf("uname: %w", err)
	}
	h := Host{
		Name: unix.ByteSliceToString(uts.Nodename[:]),
		Kernel: unix.ByteSliceToString(uts.Sysname[:]) + " " + unix.ByteSliceToString(uts.Release[:]) +
			" " + unix.ByteSliceToString(uts.Machine[:]),
	}
	var err error
	if h.Hz, err = ClockTicks(); err != nil {
		return Host{}, err
	}
	// Where the files are hidden, the CPUs that this process may run on are the
	// next best thing.
	if h.CPUs, err = readCPUList("/sys/devices/system/cpu/online"); err != nil {
		h.CPUs = runtime.NumCPU()
	}
	if h.CPUsPossible, err = readCPUList("/sys/devices/system/cpu/possible"); err != nil {
		h.CPUsPossible = h.CPUs
	}
	return h, nil
}

// ClockTicks returns USER_HZ, ticks per second, from /proc/self/auxv. It is
// neither CONFIG_HZ nor a CPU's clock speed.
func ClockTicks() (int64, error) {
	const path = "/proc/self/auxv"
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	hz, err := ParseAuxv(b)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return hz, nil
}

func readCPUList(path string) (int, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	n, err := ParseCPUList(b)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return n, nil
}
