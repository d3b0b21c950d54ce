package timeline

// Status is what a thread did in a window.
type Status string

// Statuses. The first that fits counts.
const (
	Exited  Status = "exited"  // gone at a reading in the window
	New     Status = "new"     // began in the window
	Idle    Status = "idle"    // there, and used no CPU
	Running Status = "running" // there before, and used CPU
)

// ThreadWindow is one thread in one window.
type ThreadWindow struct {
	Process    int // index into Timeline.Processes
	Start, End int64
	TID        int64 // 0 not known
	Name       string
	// Residual marks the row of the CPU that the process used and no sampled
	// thread did: threads that exited, or lived between two readings. It can be
	// a few ticks below 0, because a process's ticks are cut off.
	Residual bool
	Status   Status // empty without samples
	State    string // as in proc_pid_stat(5), of the last reading

	Sampled      bool  // what follows is known
	CPU          int64 // ns
	Sched        bool  // CPU, Wait and Slices come from schedstat
	Wait, Slices int64
	UTime, STime float64 // ticks
	Measured     int64   // how much of the window the readings cover, ns

	Top      uint64 // probe id
	HasTop   bool
	TopShare float64 // of CPU, 0 … 1; -1 not known
}

// rows makes the rows of a track.
func (b *builder) rows(t *Track, tops []top) []ThreadWindow {
	var rows []ThreadWindow
	for i, w := range b.windows {
		row := ThreadWindow{
			Process: t.Process, Start: w.start, End: w.end, TID: t.TID, Name: t.Name,
			Top: tops[i].id, HasTop: tops[i].found, TopShare: tops[i].share,
		}
		if t.series != nil {
			if !b.inside(t.series, w) {
				continue
			}
			b.fill(&row, t, w)
		} else if !row.HasTop {
			continue
		}
		rows = append(rows, row)
	}
	return rows
}

// inside tells whether a thread was there in a window. One that comes or goes at
// a boundary is in the window after it, or before it.
func (b *builder) inside(s *series, w window) bool {
	came := s.birth() < w.end || w.end == b.End && s.birth() == w.end
	left := s.end() < w.start || w.start > b.Start && s.end() == w.start
	return came && !left
}

// fill puts what the samples say into a row.
func (b *builder) fill(row *ThreadWindow, t *Track, w window) {
	s := t.series
	before, after := s.at(w.start), s.at(w.end)
	d := after.minus(before)
	row.Sampled, row.Sched = true, s.sched
	row.State = after.state
	row.CPU, row.Wait, row.Slices = d.cpu, d.wait, d.slices
	row.UTime, row.STime = float64(d.utime)/scale, float64(d.stime)/scale
	row.Measured = b.measured(t.Process, s, w)
	switch {
	case s.exited > w.start && s.exited <= w.end:
		row.Status = Exited
	case s.fresh && s.birth() >= w.start:
		row.Status = New
	case row.CPU == 0:
		row.Status = Idle
	default:
		row.Status = Running
	}
}

// measured is how much of a window the readings of a process cover.
func (b *builder) measured(process int, s *series, w window) int64 {
	if p := b.processSeries[process]; p != nil {
		s = p
	}
	return max(min(w.end, s.points[len(s.points)-1].t)-max(w.start, s.birth()), 0)
}

// addResiduals adds a row per process and window for the CPU time that no
// thread's samples hold.
func (b *builder) addResiduals() {
	for process := range b.Processes {
		s := b.processSeries[process]
		if s == nil || len(s.points) < 2 {
			continue
		}
		for _, w := range b.windows {
			if !b.inside(s, w) {
				continue
			}
			b.Threads = append(b.Threads, b.residual(process, s, w))
		}
	}
}

func (b *builder) residual(process int, s *series, w window) ThreadWindow {
	rest := s.at(w.end).minus(s.at(w.start))
	for _, t := range b.tracks {
		if t.Process == process && t.series != nil && b.inside(t.series, w) {
			d := t.series.at(w.end).minus(t.series.at(w.start))
			rest.cpu -= d.cpu
			rest.utime -= d.utime
			rest.stime -= d.stime
		}
	}
	return ThreadWindow{
		Process: process, Start: w.start, End: w.end, Name: "residual", Residual: true,
		Sampled: true, CPU: rest.cpu,
		UTime: float64(rest.utime) / scale, STime: float64(rest.stime) / scale,
		Measured: b.measured(process, s, w), TopShare: -1,
	}
}
