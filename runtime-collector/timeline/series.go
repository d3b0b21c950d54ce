package timeline

import (
	"math/bits"
	"sort"

	"github.com/jiffyperf/jiffy/runtime-collector/run"
)

// series holds one thread's, or one process's, counters over time.
type series struct {
	tid       int64
	startTime uint64
	comm      string
	points    []point // in the order of their time
	exited    int64   // when it was first missed, ns; 0 it wasn't
	// fresh is set if it began during the run: its counters then begin at 0.
	fresh bool
	sched bool // points have schedstat's counters
}

// point is a reading of counters. cpu and wait are ns, utime and stime ticks.
type point struct {
	t                 int64
	cpu, wait, slices int64
	utime, stime      int64
	state             string
}

func (p point) minus(q point) point {
	return point{
		t:      p.t - q.t,
		cpu:    p.cpu - q.cpu,
		wait:   p.wait - q.wait,
		slices: p.slices - q.slices,
		utime:  p.utime - q.utime,
		stime:  p.stime - q.stime,
	}
}

// scale is how far ticks are blown up before they are interpolated, so that
// windows of a tick still have decimals.
const scale = 1 << 20

// at returns the counters at a time, ticks in units of 1/scale. Between two
// readings they are interpolated; before the first and after the last they stay
// the same.
func (s *series) at(t int64) point {
	i := sort.Search(len(s.points), func(i int) bool { return s.points[i].t >= t })
	blown := func(p point) point {
		p.utime *= scale
		p.stime *= scale
		return p
	}
	switch {
	case i == len(s.points):
		return blown(s.points[i-1])
	case i == 0 || s.points[i].t == t:
		return blown(s.points[i])
	}
	p, q := blown(s.points[i-1]), blown(s.points[i])
	d, part, whole := q.minus(p), t-p.t, q.t-p.t
	return point{
		t:      t,
		cpu:    p.cpu + share(d.cpu, part, whole),
		wait:   p.wait + share(d.wait, part, whole),
		slices: p.slices + share(d.slices, part, whole),
		utime:  p.utime + share(d.utime, part, whole),
		stime:  p.stime + share(d.stime, part, whole),
		state:  p.state,
	}
}

// share returns total · part / whole, rounded down, for 0 ≤ part ≤ whole. A
// counter that went backwards has no share to give.
func share(total, part, whole int64) int64 {
	if total <= 0 || part <= 0 || whole <= 0 {
		return 0
	}
	if part >= whole {
		return total
	}
	high, low := bits.Mul64(uint64(total), uint64(part))
	quotient, _ := bits.Div64(high, low, uint64(whole))
	return int64(quotient)
}

// within returns the readings in a window: after its start, up to its end.
func (s *series) within(w window) []point {
	from := sort.Search(len(s.points), func(i int) bool { return s.points[i].t > w.start })
	to := sort.Search(len(s.points), func(i int) bool { return s.points[i].t > w.end })
	return s.points[from:to]
}

// birth is when the series begins, end when it ends, ns.
func (s *series) birth() int64 { return s.points[0].t }

func (s *series) end() int64 {
	if s.exited > 0 {
		return s.exited
	}
	return s.points[len(s.points)-1].t
}

// begin puts a reading of zeroes before the first, if the thread or process
// began after the run did. offset is boottime − monotonic; the start time in
// ticks since boot is only good to a tick.
func (s *series) begin(offset, hz, runStart int64) {
	if len(s.points) == 0 || s.startTime == 0 {
		return
	}
	tick := 1_000_000_000 / hz
	born := int64(s.startTime)*tick - offset
	if born+tick < runStart {
		return
	}
	s.fresh = true
	first := s.points[0]
	zero := point{t: min(max(born, runStart), first.t-1), state: first.state}
	s.points = append([]point{zero}, s.points...)
}

// addSamples turns the samples into series and tracks.
func (b *builder) addSamples() {
	offset, known := int64(0), false // boottime − monotonic
	for _, s := range b.in.Processes {
		i := b.process(Process{PID: s.PID, StartTime: s.StartTime})
		if b.processSeries[i] == nil {
			b.processSeries[i] = &series{startTime: s.StartTime}
		}
		if !known {
			offset, known = s.Boot-s.Mono, true
		}
		b.processSeries[i].add(point{t: s.Mono, utime: s.UTime, stime: s.STime, state: s.State}, b.HZ)
	}
	for _, s := range b.processSeries {
		s.begin(offset, b.HZ, b.Start)
	}
	for _, t := range b.sampledThreads() {
		if known {
			t.series.begin(offset, b.HZ, b.Start)
		}
		b.tracks = append(b.tracks, t)
	}
}

// sampledThreads groups the samples by thread.
func (b *builder) sampledThreads() []*Track {
	type key struct {
		process, tid int
		startTime    uint64
	}
	tracks := map[key]*Track{}
	var order []*Track
	current := map[int]int{} // pid → process: the latest one with that pid
	for i, p := range b.Processes {
		current[p.PID] = i
	}
	for _, s := range b.in.Threads {
		process, ok := current[s.PID]
		if !ok {
			process = b.process(Process{PID: s.PID})
			current[s.PID] = process
		}
		k := key{process, s.TID, s.StartTime}
		t := tracks[k]
		if t == nil {
			if s.Exited {
				continue
			}
			t = &Track{Process: process, TID: int64(s.TID), series: &series{tid: int64(s.TID), startTime: s.StartTime}}
			tracks[k] = t
			order = append(order, t)
		}
		t.series.addThread(s, b.HZ)
		t.Name = t.series.comm
	}
	return order
}

// addThread takes one sample.
func (s *series) addThread(sample run.ThreadSample, hz int64) {
	if sample.Exited {
		s.exited = sample.Mono
		return
	}
	s.comm = sample.Comm
	p := point{t: sample.Mono, utime: sample.UTime, stime: sample.STime, state: sample.State}
	if sample.Run >= 0 {
		s.sched = true
		p.cpu, p.wait, p.slices = sample.Run, max(sample.Wait, 0), max(sample.Slices, 0)
	}
	s.add(p, hz)
}

// add appends a reading; one that is not later than the last replaces it.
func (s *series) add(p point, hz int64) {
	if !s.sched {
		p.cpu = (p.utime + p.stime) * (1_000_000_000 / hz)
	}
	if n := len(s.points); n > 0 && s.points[n-1].t >= p.t {
		p.t = s.points[n-1].t
		s.points[n-1] = p
		return
	}
	s.points = append(s.points, p)
}
