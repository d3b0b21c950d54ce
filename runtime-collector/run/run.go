// Package run reads a run directory: what `jiffy collect` and the in-app runtime
// left behind, and what reports are made from.
//
//	RUN/log/                  event logs
//	RUN/collect.csv           key,value: the host, the command, the collector's own cost
//	RUN/process-samples.csv   /proc/<pid>/stat over time
//	RUN/thread-samples.csv    /proc/<pid>/task/<tid>/{stat,schedstat} over time
//	RUN/capabilities.csv      which kernel files could be read
//	RUN/maps/                 probe maps
//
// A directory that only holds event logs is a run as well. What is missing or
// torn is listed in Notes and is no error.
package run

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/jiffyperf/jiffy/runtime-collector/eventlog"
)

// Names inside a run directory.
const (
	LogDir         = "log"
	MapDir         = "maps"
	CollectFile    = "collect.csv"
	ProcessFile    = "process-samples.csv"
	ThreadFile     = "thread-samples.csv"
	CapabilityFile = "capabilities.csv"
)

// ErrNoRun says that a directory holds nothing a report could be made from.
var ErrNoRun = errors.New("no event logs and no samples")

// Run is an opened run directory.
type Run struct {
	Dir          string
	Logs         []LogFiles
	Maps         []string // paths of probe maps
	Collect      Facts    // nil if the collector left none
	Processes    []ProcessSample
	Threads      []ThreadSample
	Capabilities []Capability
	Notes        []string // what is missing or torn, one line each
}

// LogFiles are the files that one runtime wrote.
type LogFiles struct {
	Name   eventlog.FileName
	Events string   // path; empty if only folded files are there
	Folded []string // paths of the snapshots' slots
}

// Facts are the keys and values of collect.csv.
type Facts map[string]string

// Int returns a value as a number; false if it is absent or isn't one.
func (f Facts) Int(key string) (int64, bool) {
	n, err := strconv.ParseInt(f[key], 10, 64)
	return n, err == nil
}

// Open reads a run directory. The event logs are listed but not read.
func Open(dir string) (*Run, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s: not a directory: a run is the directory that `jiffy collect -o` or jiffy.log names", dir)
	}
	r := &Run{Dir: dir}
	if err := r.findLogs(); err != nil {
		return nil, err
	}
	if err := r.readSamples(); err != nil {
		return nil, err
	}
	if r.Maps, err = filepath.Glob(filepath.Join(escapeGlob(dir), MapDir, "*.csv")); err != nil {
		return nil, err
	}
	if len(r.Logs) == 0 && len(r.Processes) == 0 && len(r.Threads) == 0 {
		return nil, fmt.Errorf("%s: %w", dir, ErrNoRun)
	}
	if len(r.Logs) == 0 {
		r.note("%s: no event log; was the program instrumented, and did it run with the log directory set?", filepath.Join(dir, LogDir))
	}
	return r, nil
}

func (r *Run) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// findLogs looks in RUN/log and in RUN itself.
func (r *Run) findLogs() error {
	found := map[eventlog.FileName]*LogFiles{}
	for _, dir := range []string{filepath.Join(r.Dir, LogDir), r.Dir} {
		entries, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		for _, entry := range entries {
			name, err := eventlog.ParseFileName(entry.Name())
			if err != nil || entry.IsDir() {
				continue
			}
			key := eventlog.FileName{PID: name.PID, StartTime: name.StartTime, N: name.N}
			if found[key] == nil {
				found[key] = &LogFiles{Name: key}
			}
			path := filepath.Join(dir, entry.Name())
			if name.Folded {
				found[key].Folded = append(found[key].Folded, path)
			} else {
				found[key].Events = path
			}
		}
	}
	for _, files := range found {
		r.Logs = append(r.Logs, *files)
	}
	slices.SortFunc(r.Logs, func(a, b LogFiles) int {
		return cmp.Or(cmp.Compare(a.Name.StartTime, b.Name.StartTime), cmp.Compare(a.Name.PID, b.Name.PID), cmp.Compare(a.Name.N, b.Name.N))
	})
	return nil
}

// escapeGlob keeps filepath.Glob from reading a directory's name as a pattern.
func escapeGlob(dir string) string {
	var b []byte
	for i := range len(dir) {
		switch dir[i] {
		case '*', '?', '[', '\\':
			b = append(b, '\\')
		}
		b = append(b, dir[i])
	}
	return string(b)
}
