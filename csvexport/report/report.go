// Package report makes the CSV reports of a run: it reads the run directory,
// builds the timeline, and writes one file per table.
package report

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/jiffyperf/jiffy/csvexport"
	"github.com/jiffyperf/jiffy/instrument/mapping"
	"github.com/jiffyperf/jiffy/runtime-collector/eventlog"
	"github.com/jiffyperf/jiffy/runtime-collector/run"
	"github.com/jiffyperf/jiffy/runtime-collector/timeline"
)

// Formats of a report.
const (
	CSV     = "csv"
	Demeter = "demeter"
)

// Options say what to make.
type Options struct {
	Run     string        // run directory
	Out     string        // directory of the report; default RUN/report
	Formats []string      // default CSV
	Window  time.Duration // of threads.csv; 0 the whole run
	Calls   bool          // write calls.csv
	Maps    []string      // probe maps; default those in the run, else on the class path
	Version string        // of jiffy, for run.csv

	// Progress is told how many of the steps are done, from several goroutines.
	Progress func(done, total int64)
}

// Report is what was made.
type Report struct {
	Out      string
	Files    []string // names in Out
	Facts    []csvexport.Fact
	Methods  []csvexport.Method
	Threads  []csvexport.Thread
	Warnings []string // one line each
}

// Make makes the report of a run.
func Make(ctx context.Context, o Options) (*Report, error) {
	m, err := newMaker(o)
	if err != nil {
		return nil, err
	}
	defer m.close()
	if err := m.openLogs(); err != nil {
		return nil, err
	}
	if err := m.findMap(); err != nil {
		return nil, err
	}
	m.findStart()
	if err := os.MkdirAll(m.Out, 0o755); err != nil {
		return nil, err
	}
	m.ctx = ctx
	if err := m.build(); err != nil {
		return nil, err
	}
	if err := m.write(); err != nil {
		return nil, err
	}
	return &m.Report, nil
}

// maker makes one report.
type maker struct {
	Report
	o       Options
	run     *run.Run
	logs    []timeline.Log
	probes  *mapping.Map
	t       *timeline.Timeline
	calls   *timeline.CallSorter // nil if no format needs calls
	start   start
	hz      int64
	cpus    int64 // 0 not known
	names   map[uint64]name
	missing int64 // calls of methods that are in no map

	approximate  int64 // methods whose self time is not exact
	synchronized int64 // methods that wait for a lock before they are measured
	ambiguous    int64 // methods that share their id with another

	ctx         context.Context
	done, total int64 // steps, for progress
}

func newMaker(o Options) (*maker, error) {
	if o.Out == "" {
		o.Out = filepath.Join(o.Run, "report")
	}
	if len(o.Formats) == 0 {
		o.Formats = []string{CSV}
	}
	if err := CheckFormats(o.Formats); err != nil {
		return nil, err
	}
	if same(o.Run, o.Out) {
		return nil, fmt.Errorf("%s: a report can't be written into the run directory itself", o.Out)
	}
	r, err := run.Open(o.Run)
	if err != nil {
		return nil, err
	}
	m := &maker{o: o, run: r, names: map[uint64]name{}}
	m.Out = o.Out
	m.Warnings = append(m.Warnings, r.Notes...)
	m.cpus, _ = r.Collect.Int("cpus")
	m.hz, _ = r.Collect.Int("hz")
	if m.hz <= 0 {
		m.hz = 100
		if len(r.Processes) > 0 {
			m.warn("%s: no hz; ticks are taken as 1/100 s", filepath.Join(o.Run, run.CollectFile))
		}
	}
	return m, nil
}

// CheckFormats tells whether all formats are known.
func CheckFormats(formats []string) error {
	for _, f := range formats {
		if f != CSV && f != Demeter {
			return fmt.Errorf("unknown format %q: want %s or %s", f, CSV, Demeter)
		}
	}
	return nil
}

func same(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

func (m *maker) warn(format string, args ...any) {
	m.Warnings = append(m.Warnings, fmt.Sprintf(format, args...))
}

func (m *maker) close() {
	for _, l := range m.logs {
		for _, log := range []*eventlog.Log{l.Events, l.Folded} {
			if log != nil {
				log.Close()
			}
		}
	}
	if m.calls != nil {
		m.calls.Close()
	}
}

// openLogs opens the event logs. One that can't be read costs only itself, as
// long as another one can.
func (m *maker) openLogs() error {
	var failed []error
	for _, files := range m.run.Logs {
		l := timeline.Log{Process: timeline.Process{PID: files.Name.PID, StartTime: files.Name.StartTime}}
		var err error
		if files.Events != "" {
			if l.Events, err = eventlog.Open(files.Events); err != nil {
				failed = append(failed, err)
				l.Events = nil
			}
		}
		if len(files.Folded) > 0 {
			if l.Folded, err = eventlog.OpenSnapshot(files.Folded...); err != nil {
				failed = append(failed, err)
			}
			if l.Folded == nil {
				m.warn("%s: no whole snapshot of the folded calls; calls after the exact phase are missing", files.Folded[0])
			}
		}
		if l.Events != nil || l.Folded != nil {
			m.logs = append(m.logs, l)
		}
	}
	if len(failed) > 0 && len(m.logs) == 0 && len(m.run.Processes) == 0 {
		return failed[0]
	}
	for _, err := range failed {
		m.warn("%v; left out", err)
	}
	return nil
}

// start is where the timeline begins.
type start struct {
	mono int64     // CLOCK_MONOTONIC, ns
	wall time.Time // zero if not known
}

// findStart takes the collector's word for when the run began; without it, the
// start of the first process, by its log; without that the first reading there is.
func (m *maker) findStart() {
	m.start.wall, _ = time.Parse(time.RFC3339Nano, m.run.Collect["start"])
	if mono, ok := m.run.Collect.Int("start_mono_ns"); ok {
		m.start.mono = mono
		return
	}
	first := int64(-1)
	earlier := func(t int64) bool { return t >= 0 && (first < 0 || t < first) }
	for _, l := range m.logs {
		for _, log := range []*eventlog.Log{l.Events, l.Folded} {
			if log == nil {
				continue
			}
			if mono, wall := logStart(log); earlier(mono) {
				first = mono
				m.start.wall = wall
			}
		}
	}
	for _, s := range m.run.Processes {
		if earlier(s.Mono) {
			first = s.Mono
			m.start.wall = time.Unix(0, s.Wall).UTC()
		}
	}
	m.start.mono = max(first, 0)
}

// logStart returns when a log's process started to record; mono is -1 if no
// chunk tells the time.
func logStart(l *eventlog.Log) (mono int64, wall time.Time) {
	for _, p := range l.Pairings() {
		if p.Mono < 0 {
			continue
		}
		if p.Wall < 0 {
			return p.Mono, time.Time{}
		}
		began := p.Wall
		if ns, err := parseInt(l.Header.Properties["start_wall_ns"]); err == nil && ns <= p.Wall && p.Wall-ns <= p.Mono {
			began = ns
		}
		return p.Mono - (p.Wall - began), time.Unix(0, began).UTC()
	}
	return -1, time.Time{}
}

// build makes the timeline.
func (m *maker) build() error {
	in := timeline.Input{
		Logs:      m.logs,
		Processes: m.run.Processes,
		Threads:   m.run.Threads,
		Start:     m.start.mono,
		Window:    m.o.Window.Nanoseconds(),
		HZ:        m.hz,
		Progress:  m.read,
	}
	if m.o.Calls || m.wants(Demeter) {
		var err error
		if m.calls, err = timeline.NewCallSorter(m.Out, timeline.ByStart); err != nil {
			return err
		}
		in.Calls = m.calls
	}
	m.countSteps()
	var err error
	m.t, err = timeline.Build(m.ctx, in)
	m.done = m.total / m.passes()
	return err
}

// passes is how often all calls are gone through: once to read them, once for
// calls.csv, and three times for Demeter's layouts.
func (m *maker) passes() int64 {
	n := int64(1)
	if m.o.Calls && m.wants(CSV) {
		n++
	}
	if m.wants(Demeter) {
		n += 3
	}
	return n
}

func (m *maker) countSteps() {
	for _, l := range m.logs {
		if l.Events != nil {
			m.total += l.Events.Events()
		}
	}
	m.total *= m.passes()
}

// read tells the progress of reading. It is called from several goroutines.
func (m *maker) read(done int64) {
	if m.o.Progress != nil {
		m.o.Progress(min(done, m.total/m.passes()), m.total)
	}
}

// progress tells that some steps more are done.
func (m *maker) progress(steps int64) {
	m.done += steps
	if m.o.Progress != nil {
		m.o.Progress(min(m.done, m.total), m.total)
	}
}

func (m *maker) wants(format string) bool { return slices.Contains(m.o.Formats, format) }

// write writes all files.
func (m *maker) write() error {
	m.Methods = m.methodRows()
	m.Threads = m.threadRows()
	m.warnings()
	m.Facts = m.facts()
	if m.wants(CSV) {
		err := cmp.Or(
			put(m, csvexport.MethodsFile, m.Methods),
			put(m, csvexport.ThreadsFile, m.Threads),
			put(m, csvexport.ProcessFile, m.processRows()),
			put(m, csvexport.OpenCallsFile, m.openCallRows()),
			put(m, csvexport.CapabilityFile, m.capabilityRows()),
		)
		if err != nil {
			return err
		}
	}
	if m.o.Calls && m.wants(CSV) {
		if err := m.writeCalls(); err != nil {
			return err
		}
	}
	if m.wants(Demeter) {
		if err := m.writeDemeter(); err != nil {
			return err
		}
	}
	// run.csv comes last: a report that has it is complete.
	return put(m, csvexport.RunFile, m.Facts)
}

func put[T any](m *maker, name string, rows []T) error {
	if err := csvexport.Write(filepath.Join(m.Out, name), rows); err != nil {
		return err
	}
	m.Files = append(m.Files, name)
	return nil
}
