package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/jiffyperf/jiffy/csvexport"
	"github.com/jiffyperf/jiffy/instrument/mapping"
	"github.com/jiffyperf/jiffy/runtime-collector/eventlog"
	"github.com/jiffyperf/jiffy/runtime-collector/timeline"
)

func (m *maker) pid(process int) int64 { return int64(m.t.Processes[process].PID) }

func (m *maker) methodRows() []csvexport.Method {
	rows := make([]csvexport.Method, 0, len(m.t.Methods))
	for _, method := range m.t.Methods {
		rows = append(rows, m.methodRow(method))
	}
	slices.SortStableFunc(rows, compareMethods)
	return rows
}

// compareMethods orders by self time, largest first, then by name.
func compareMethods(a, b csvexport.Method) int {
	name := func(m csvexport.Method) string { return m.Class + "#" + m.Method + m.Descriptor }
	return cmp.Or(cmp.Compare(b.Self, a.Self), strings.Compare(name(a), name(b)), cmp.Compare(a.Process, b.Process))
}

func (m *maker) methodRow(method *timeline.Method) csvexport.Method {
	n := m.name(method.ID)
	if !n.mapped {
		m.missing += method.Entries()
	}
	if method.SelfApprox {
		m.approximate++
	}
	if n.row.HasFlag("synchronized") {
		m.synchronized++
	}
	if n.row.HasFlag(mapping.FlagAmbiguous) {
		m.ambiguous++
	}
	row := csvexport.Method{
		Class: n.row.Class, Method: n.row.Method, Descriptor: n.row.Descriptor, File: n.row.File,
		Calls: method.Calls(), Entries: method.Entries(), Thrown: method.Thrown, Suspended: method.Suspended,
		Total: method.Total, Self: method.Self,
		SelfNet: csvexport.KnownInt(method.SelfNet), ProbeCost: csvexport.KnownInt(method.ProbeCost),
		MainCalls: method.MainCalls, MainTotal: method.MainTotal,
		Warning: csvexport.WarningLevel(method.MainMax),
		Process: m.pid(method.Process),
	}
	if n.row.Line > 0 {
		row.Line = csvexport.IntOf(int64(n.row.Line))
	}
	if calls := method.Calls(); calls > 0 {
		row.Mean = csvexport.IntOf(method.Sum / calls)
		row.Max = csvexport.IntOf(method.Max)
		row.P50, row.P95, row.P99 = quantile(method, 0.50), quantile(method, 0.95), quantile(method, 0.99)
	}
	if method.CPUKnown {
		row.CPU = csvexport.IntOf(method.CPU)
	}
	return row
}

func quantile(method *timeline.Method, q float64) csvexport.Int {
	v, ok := method.Quantile(q)
	if !ok {
		return csvexport.Int{}
	}
	return csvexport.IntOf(v)
}

func (m *maker) threadRows() []csvexport.Thread {
	windows := slices.Clone(m.t.Threads)
	slices.SortStableFunc(windows, compareThreads)
	rows := make([]csvexport.Thread, 0, len(windows))
	for _, t := range windows {
		rows = append(rows, m.threadRow(t))
	}
	return rows
}

// compareThreads orders by window and process, then by CPU time, largest first;
// the residual is the last of its process.
func compareThreads(a, b timeline.ThreadWindow) int {
	residual := func(t timeline.ThreadWindow) int {
		if t.Residual {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Process, b.Process), cmp.Compare(residual(a), residual(b)),
		cmp.Compare(b.CPU, a.CPU), cmp.Compare(a.TID, b.TID), strings.Compare(a.Name, b.Name))
}

func (m *maker) threadRow(t timeline.ThreadWindow) csvexport.Thread {
	row := csvexport.Thread{
		WindowStart: t.Start - m.start.mono,
		WindowEnd:   t.End - m.start.mono,
		TID:         tid(t.TID),
		Thread:      t.Name,
		Status:      string(t.Status),
		State:       t.State,
		Process:     m.pid(t.Process),
	}
	if t.HasTop {
		n := m.name(t.Top)
		row.Top = n.row.Class + "#" + n.row.Method
		if t.TopShare >= 0 {
			row.TopShare = csvexport.FloatOf(100 * t.TopShare)
		}
	}
	if !t.Sampled {
		return row
	}
	row.CPU = csvexport.IntOf(t.CPU)
	if t.Sched {
		row.Wait, row.Slices = csvexport.IntOf(t.Wait), csvexport.IntOf(t.Slices)
	}
	row.UTime, row.STime = csvexport.FloatOf(t.UTime), csvexport.FloatOf(t.STime)
	if t.Measured > 0 {
		cpu, measured := float64(t.CPU), float64(t.Measured)
		row.PerMinute = csvexport.FloatOf(cpu * float64(m.hz) / 1e9 / (measured / 60e9))
		row.OneCore = csvexport.FloatOf(100 * cpu / measured)
	}
	return row
}

func tid(n int64) csvexport.Int {
	if n <= 0 {
		return csvexport.Int{}
	}
	return csvexport.IntOf(n)
}

func (m *maker) processRows() []csvexport.Process {
	rows := make([]csvexport.Process, 0, len(m.t.Samples))
	for i := range m.t.Samples {
		rows = append(rows, m.processRow(&m.t.Samples[i]))
	}
	return rows
}

func (m *maker) processRow(p *timeline.ProcessPoint) csvexport.Process {
	s := p.Sample
	row := csvexport.Process{
		Time:  p.T,
		CPU:   csvexport.FloatOf(p.CPUSeconds),
		Lived: csvexport.FloatOf(p.Lived),
		UTime: s.UTime, STime: s.STime, CUTime: s.CUTime, CSTime: s.CSTime,
		Threads:  csvexport.KnownInt(s.NumThreads),
		RSS:      csvexport.KnownInt(s.RSSPages),
		MinorFlt: csvexport.KnownInt(s.MinFlt),
		MajorFlt: csvexport.KnownInt(s.MajFlt),
		State:    s.State,
		Process:  m.pid(p.Process),
	}
	cpus := float64(m.cpus)
	if m.cpus > 0 && p.Lived > 0 {
		row.Avg = csvexport.FloatOf(100 * p.CPUSeconds / p.Lived / cpus)
	}
	if pct, ok := p.OneCorePct(m.hz); ok {
		row.OneCore = csvexport.FloatOf(pct)
		row.Suspended = csvexport.IntOf(p.Suspended)
		if m.cpus > 0 {
			row.Rel = csvexport.FloatOf(pct / cpus)
			row.Device = row.Rel
		}
	}
	if p.Impossible(m.hz, m.cpus) {
		row.Flagged = 1
	}
	return row
}

func (m *maker) openCallRows() []csvexport.OpenCall {
	rows := []csvexport.OpenCall{}
	for _, l := range m.logs {
		if l.Events == nil {
			continue
		}
		for _, stack := range l.Events.Stacks {
			rows = append(rows, m.openCall(l, stack)...)
		}
	}
	return rows
}

func (m *maker) openCall(l timeline.Log, stack eventlog.Stack) []csvexport.OpenCall {
	thread, _ := l.Events.Thread(stack.Thread)
	thread.Name = cmp.Or(thread.Name, stack.Name, "java-"+strconv.FormatInt(stack.JavaID, 10))
	var rows []csvexport.OpenCall
	for i, f := range stack.Frames {
		row := csvexport.OpenCall{
			Taken:   stack.Taken - m.start.mono,
			TID:     tid(thread.TID),
			Thread:  thread.Name,
			State:   stack.State,
			Frame:   int64(i),
			Class:   f.Class,
			Method:  f.Method,
			Process: int64(l.Process.PID),
		}
		if f.Line > 0 {
			row.Line = csvexport.IntOf(int64(f.Line))
		}
		rows = append(rows, row)
	}
	return rows
}

func (m *maker) capabilityRows() []csvexport.Capability {
	rows := []csvexport.Capability{}
	for _, c := range m.run.Capabilities {
		rows = append(rows, csvexport.Capability(c))
	}
	return rows
}
