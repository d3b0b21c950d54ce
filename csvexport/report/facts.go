package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jiffyperf/jiffy/csvexport"
	"github.com/jiffyperf/jiffy/instrument/mapping"
	"github.com/jiffyperf/jiffy/runtime-collector/eventlog"
	"github.com/jiffyperf/jiffy/runtime-collector/run"
)

// facts makes the rows of run.csv, in the order of csvexport.FactKeys.
func (m *maker) facts() []csvexport.Fact {
	f := facts{}
	f["schema_version"] = strconv.Itoa(csvexport.SchemaVersion)
	f["jiffy_version"] = m.o.Version
	if v := m.run.Collect["jiffy_version"]; v != "" {
		f["jiffy_version"] = v
	}
	m.collected(f)
	if !m.start.wall.IsZero() {
		f["start"] = m.start.wall.Format(time.RFC3339Nano)
	}
	f.int("start_mono_ns", m.start.mono)
	if f["duration_ns"] == "" {
		f.int("duration_ns", m.t.End-m.t.Start)
	}
	f["clock"] = strings.Join(m.clocks(), " ")
	f["probe_map_hash"] = strings.Join(m.probes.Hashes(), " ")
	f["exits"] = strings.Join(m.probes.Option("exits"), " ")
	f.int("calls_unmapped", m.missing)
	f.int("processes", int64(len(m.t.Processes)))
	f.int("window_ns", m.o.Window.Nanoseconds())
	f.int("records_bad", m.t.Bad)
	f.int("calls_overlapping", m.t.Overlaps)
	f.int("events", m.t.Events)
	f.int("methods_self_approximate", m.approximate)
	f.int("methods_synchronized", m.synchronized)
	m.counted(f)
	m.exact(f)
	m.ended(f)
	rows := []csvexport.Fact{}
	for _, key := range csvexport.FactKeys() {
		rows = append(rows, csvexport.Fact{Key: key, Value: f[key]})
	}
	return rows
}

type facts map[string]string

func (f facts) int(key string, n int64) { f[key] = strconv.FormatInt(n, 10) }

// collected takes over what the collector wrote, and what a log says about the
// process where there was no collector.
func (m *maker) collected(f facts) {
	f["hz"] = ""
	if len(m.run.Processes) > 0 {
		f.int("hz", m.hz)
	}
	for _, key := range []string{"command", "pid", "duration_ns", "cpus", "host", "kernel", "interval_ns",
		"collector_cpu_ns", "samples", "exit_code", "exit_signal", "rusage_cpu_ns"} {
		f[key] = m.run.Collect[key]
	}
	f["collector_samples_missed"] = m.run.Collect["samples_missed"]
	if m.run.Collect == nil {
		f["pid"] = strconv.FormatInt(m.pid(0), 10)
		if log := m.firstLog(); log != nil {
			f["command"] = log.Header.Properties["main_class"]
		}
	}
}

func (m *maker) firstLog() *eventlog.Log {
	for _, l := range m.logs {
		if l.Events != nil {
			return l.Events
		}
	}
	return nil
}

// clocks names the clocks of the events.
func (m *maker) clocks() []string {
	var names []string
	for _, l := range m.logs {
		if l.Events == nil {
			continue
		}
		for _, c := range l.Events.EventClocks() {
			if !slices.Contains(names, c.String()) {
				names = append(names, c.String())
			}
		}
	}
	slices.Sort(names)
	return names
}

// counted adds up what the runtimes counted. One log without a count makes the
// sum unknown.
func (m *maker) counted(f facts) {
	sums := map[string]int64{}
	var torn, missing int64
	for _, l := range m.logs {
		if l.Events == nil {
			continue
		}
		c := l.Events.Counters
		for key, n := range map[string]int64{"events_dropped": c.Dropped, "calls_folded": c.Folded,
			"calls_discarded_own": c.DiscardedOwn, "runtime_cpu_ns": c.WriterCPU} {
			if n < 0 || sums[key] < 0 {
				sums[key] = -1
			} else {
				sums[key] += n
			}
		}
		torn += l.Events.Torn()
		missing += l.Events.Missing
		if cost, ok := l.Events.Cost(); ok && f["probe_pair_ns"] == "" {
			f["probe_pair_ns"] = strconv.FormatFloat(cost.PairNS, 'f', -1, 64)
			f["probe_inner_ns"] = strconv.FormatFloat(cost.InnerNS, 'f', -1, 64)
		}
	}
	for key, n := range sums {
		if n >= 0 {
			f.int(key, n)
		}
	}
	if len(m.logs) > 0 {
		f.int("log_torn_bytes", torn)
		f.int("log_chunks_missing", missing)
	}
}

// exact says from when to when every call is an event of its own.
func (m *maker) exact(f facts) {
	if len(m.logs) == 0 {
		return
	}
	from, until, reason := m.t.Start, m.t.End, "end"
	for _, l := range m.logs {
		if l.Events == nil {
			continue
		}
		// A process that was attached to has recorded from its own start on.
		if began, _ := logStart(l.Events); began >= 0 {
			from = min(from, began)
		}
		if l.Events.Phase == nil {
			continue
		}
		p := l.Events.Phase
		if t := l.Events.Clocks.Mono(p.Clock, p.ExactUntil); t < until {
			until, reason = t, p.Reason
		}
	}
	f.int("exact_from_ns", from-m.t.Start)
	f.int("exact_until_ns", until-m.t.Start)
	f["exact_reason"] = reason
}

// ended says which processes wrote no end.
func (m *maker) ended(f facts) {
	f["killed"] = ""
	if killed := m.killed(); len(killed) > 0 {
		f["killed"] = "yes"
		f["killed_pids"] = strings.Join(killed, " ")
		f["killed_note"] = "no end in the log: " + m.how(killed) + "; calls of up to the last second can be missing"
	} else if len(m.logs) > 0 {
		f["killed"] = "no"
	}
	f["collector_complete"] = ""
	if complete := m.run.Collect["complete"]; complete != "" {
		f["collector_complete"] = complete
	}
}

// killed lists the processes whose log has no end.
func (m *maker) killed() []string {
	var pids []string
	for _, l := range m.logs {
		pid := strconv.Itoa(l.Process.PID)
		if l.Events != nil && l.Events.End == nil && !slices.Contains(pids, pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// how tells what the processes without an end did, as far as the samples know.
func (m *maker) how(pids []string) string {
	for _, pid := range pids {
		if !slices.ContainsFunc(m.run.Processes, func(s run.ProcessSample) bool { return s.Final && strconv.Itoa(s.PID) == pid }) {
			return "it was killed, or still runs"
		}
	}
	return "it was killed"
}

// warnings adds the lines that a reader of the tables must know.
func (m *maker) warnings() {
	for _, l := range m.logs {
		m.logWarnings(l.Events)
	}
	if killed := m.killed(); len(killed) > 0 {
		m.warn("process %s: no end in the log: %s; calls of up to the last second can be missing",
			strings.Join(killed, ", "), m.how(killed))
	}
	if m.missing > 0 && m.probes.Len() > 0 {
		what := "some of the classes are not in it"
		if m.missing*2 > m.t.Events {
			what = "it looks like the map of another build"
		}
		m.warn("%d of %d calls are of methods that are not in the probe map: %s", m.missing, m.t.Events, what)
	}
	if m.ambiguous > 0 {
		m.warn("%d methods share their probe id with another method and are listed as %s; instrument with another --id-salt",
			m.ambiguous, mapping.FlagAmbiguous)
	}
	if exits := m.probes.Option("exits"); slices.Contains(exits, "normal") {
		m.warn("instrumented with --exits normal: calls that threw are not recorded")
	}
	if m.t.Overlaps > 0 {
		m.warn("%d calls overlap another call of their thread without nesting; their self times are too small", m.t.Overlaps)
	}
	if m.t.Bad > 0 {
		m.warn("%d records of the event logs make no sense and were left out", m.t.Bad)
	}
	if m.t.Inconvertible > 0 {
		m.warn("%d calls are on a clock that the log has no pairing for; they may be misplaced in time", m.t.Inconvertible)
	}
	if m.run.Collect != nil && m.run.Collect["complete"] == "false" {
		m.warn("the collector did not finish, or still runs: samples can end early")
	}
}

func (m *maker) logWarnings(l *eventlog.Log) {
	if l == nil {
		return
	}
	if l.Header.Damaged {
		m.warn("%s: the file header is damaged", l.Path)
	}
	if n := l.Torn(); n > 0 {
		where := ""
		if places := len(l.Damage); places > 1 {
			where = fmt.Sprintf(" in %d places", places)
		}
		m.warn("%s: %d bytes%s could not be read, the first at %d: %s",
			l.Path, n, where, l.Damage[0].Offset, l.Damage[0].Reason)
	}
	if l.Counters.Dropped > 0 {
		m.warn("%s: %d calls were dropped", l.Path, l.Counters.Dropped)
	}
	if l.Phase != nil {
		m.warn("%s: calls after the first %.1f s are folded (%s): counts and times are kept, single calls are not",
			l.Path, float64(l.Clocks.Mono(l.Phase.Clock, l.Phase.ExactUntil)-m.t.Start)/1e9, l.Phase.Reason)
	}
	if l.End != nil && l.End.Reason == "write-error" {
		m.warn("%s: the runtime could not write on: %s", l.Path, firstLine(fmt.Errorf("%s", l.End.Message)))
	}
}

// firstLine keeps a message to one line.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

func parseInt(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) }
