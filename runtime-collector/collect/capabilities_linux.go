package collect

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
)

// kernelFiles are the files probed at start; those of the sampled process come
// first and are the ones that this version reads.
func kernelFiles(pid int) []string {
	task := procPath(pid, "task/"+strconv.Itoa(pid))
	return []string{
		procPath(pid, "stat"), task + "/stat", task + "/schedstat", task + "/comm",
		"/proc/self/auxv", "/sys/devices/system/cpu/online", "/sys/devices/system/cpu/possible",
		"/proc/stat",
		"/sys/devices/system/cpu/cpufreq/policy0/stats/time_in_state",
		"/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq",
		"/sys/devices/system/cpu/cpu0/cpuidle/state0/time",
		task + "/time_in_state",
		"/proc/uid_time_in_state", "/proc/uid_concurrent_active_time", "/proc/uid_concurrent_policy_time",
	}
}

// probeCapabilities reads every kernel file once: capabilities.csv's rows.
func probeCapabilities(pid int) [][]string {
	rows := [][]string{{"file", "readable", "note"}}
	for _, path := range kernelFiles(pid) {
		readable, note := "true", ""
		b, err := os.ReadFile(path)
		switch {
		case err != nil:
			var pathErr *os.PathError
			if errors.As(err, &pathErr) {
				err = pathErr.Err
			}
			readable, note = "false", err.Error()
		case filepath.Base(path) == "schedstat" && string(b) == "0 0 0\n":
			note = "the kernel keeps no scheduler statistics"
		}
		rows = append(rows, []string{path, readable, note})
	}
	return rows
}
