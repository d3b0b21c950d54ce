package collect

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// schemaVersion is that of the run directory's own files.
const schemaVersion = 1

// facts are the contents of collect.csv: what is known when the run starts, and
// again, with the rest, when it ends.
type facts struct {
	version      string
	command      []string
	attached     bool // to a running process, rather than started it
	pid          int
	start        time.Time
	startMono    int64 // CLOCK_MONOTONIC at start, ns
	hz           int64 // ticks per second
	cpus         int   // online
	cpusPossible int
	host, kernel string
	interval     time.Duration

	// Known at the end:
	complete     bool // sampled to the end, and everything was written
	duration     time.Duration
	collectorCPU int64 // ns
	samples      int
	missed       int
	exit         *exit // nil for a process that jiffy did not start
}

// exit is how the program ended.
type exit struct {
	code   int           // exit code; -1 when killed by a signal
	signal string        // name of that signal
	number int           // and its number
	cpu    time.Duration // user + system time, with the children it waited for (wait4(2))
}

// status is the exit status jiffy passes on, as a shell gives it.
func (e exit) status() int {
	if e.signal != "" {
		return statusSignal + e.number
	}
	return e.code
}

// rows returns the file's rows. What is not known yet, or never, is empty.
func (f *facts) rows() [][]string {
	var duration, cpu, samples, missed, code, signal, rusage string
	if f.duration > 0 {
		duration = decimal(f.duration.Nanoseconds())
		cpu = decimal(f.collectorCPU)
		samples = decimal(int64(f.samples))
		missed = decimal(int64(f.missed))
	}
	if f.exit != nil {
		signal = f.exit.signal
		rusage = decimal(f.exit.cpu.Nanoseconds())
		if signal == "" {
			code = decimal(int64(f.exit.code))
		}
	}
	return [][]string{
		{"key", "value"},
		{"schema_version", decimal(schemaVersion)},
		{"jiffy_version", f.version},
		{"command", shellQuote(f.command)},
		{"attached", strconv.FormatBool(f.attached)},
		{"pid", decimal(int64(f.pid))},
		{"start", f.start.Format(time.RFC3339Nano)},
		{"start_mono_ns", decimal(f.startMono)},
		{"duration_ns", duration},
		{"hz", decimal(f.hz)},
		{"cpus", decimal(int64(f.cpus))},
		{"cpus_possible", decimal(int64(f.cpusPossible))},
		{"host", f.host},
		{"kernel", f.kernel},
		{"interval_ns", decimal(f.interval.Nanoseconds())},
		{"collector_cpu_ns", cpu},
		{"samples", samples},
		{"samples_missed", missed},
		{"exit_code", code},
		{"exit_signal", signal},
		{"rusage_cpu_ns", rusage},
		{"complete", strconv.FormatBool(f.complete)},
	}
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// writeCSV writes a small CSV file so that it is there whole or not at all.
func writeCSV(path string, rows [][]string) error {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.WriteAll(rows); err != nil {
		return err
	}
	return writeAtomic(path, b.Bytes())
}

// writeAtomic writes a file next to its place and renames it into it.
func writeAtomic(path string, contents []byte) error {
	return atomically(path, func(f *os.File) error {
		_, err := f.Write(contents)
		return err
	})
}

// atomically makes a file that is there whole or not at all. The error names
// path, not the temporary file.
func atomically(path string, write func(*os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	err = errors.Join(write(f), f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err == nil {
		return nil
	}
	os.Remove(f.Name())
	var at *os.PathError
	if errors.As(err, &at) && at.Path == f.Name() {
		err = at.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}
