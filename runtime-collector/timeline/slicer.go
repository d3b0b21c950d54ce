package timeline

import "cmp"

// interval is a stretch between two readings of a thread's CPU clock, cut at
// the windows' boundaries.
type interval struct {
	start, end int64 // ns
	cpu        int64 // ns the thread ran; -1 not known
	window     int
}

// top is the method that used most of a thread's CPU in a window.
type top struct {
	id    uint64
	found bool
	share float64 // of the thread's CPU, 0 … 1; -1 not known
}

// slicer spreads a thread's CPU time over what the thread was doing. In each
// interval a method gets the share of the CPU that its self time has of the
// interval; what no instrumented method covers gets the rest, so the shares of
// an interval sum to 1. Self times must come last first.
type slicer struct {
	intervals []interval
	at        int // current interval, counting down; -1 all are done
	touched   []*Method
	windowed  []*Method
	folds     []foldSpan
	tops      []top // by window
	cpu       int64 // of the current window, ns; -1 not known
}

// foldSpan is the self time of a folded row, spread evenly from its first call
// to its last.
type foldSpan struct {
	method      *Method
	first, last int64 // ns
	self        int64 // ns
}

// reset starts with a new track.
func (s *slicer) reset(t *Track, windows []window) {
	s.intervals = cut(t.series, windows, s.intervals[:0])
	s.at = len(s.intervals) - 1
	s.folds = s.folds[:0]
	s.tops = make([]top, len(windows))
	s.cpu = -1
}

// cut makes the intervals of a thread. Without samples each window is one
// interval without CPU time.
func cut(s *series, windows []window, dst []interval) []interval {
	for i, w := range windows {
		if s == nil || s.birth() > w.end || s.points[len(s.points)-1].t < w.start {
			dst = append(dst, interval{w.start, w.end, -1, i})
			continue
		}
		dst = s.cut(i, w, dst)
	}
	return dst
}

// cut appends the intervals of one window, gaps before the first and after the
// last reading included.
func (s *series) cut(index int, w window, dst []interval) []interval {
	from, known := w.start, s.birth() <= w.start
	add := func(to int64, cpu int64) {
		if to > from {
			dst = append(dst, interval{from, to, cpu, index})
			from = to
		}
	}
	for _, p := range s.within(w) {
		cpu := int64(-1)
		if known {
			cpu = s.at(p.t).cpu - s.at(from).cpu
		}
		add(p.t, cpu)
		known = true
	}
	if last := s.points[len(s.points)-1].t; from < w.end && last > w.end {
		add(w.end, s.at(w.end).cpu-s.at(from).cpu)
	}
	add(w.end, -1)
	return dst
}

// add puts self time of a method from a to b into the intervals.
func (s *slicer) add(m *Method, a, b int64) {
	for s.at >= 0 {
		iv := &s.intervals[s.at]
		if a >= iv.start {
			s.note(m, min(b, iv.end)-a)
			return
		}
		s.note(m, min(b, iv.end)-iv.start)
		s.close()
	}
}

// spread puts ns of self time evenly over the time from a to b.
func (s *slicer) spread(m *Method, a, b, ns int64) {
	for s.at >= 0 {
		iv := &s.intervals[s.at]
		s.note(m, share(ns, min(b, iv.end)-max(a, iv.start), b-a))
		if a >= iv.start {
			return
		}
		s.close()
	}
}

func (s *slicer) note(m *Method, ns int64) {
	if ns <= 0 {
		return
	}
	if !m.inSlice {
		m.inSlice = true
		s.touched = append(s.touched, m)
	}
	m.slice += ns
}

// close hands out the CPU of the current interval and goes to the one before.
func (s *slicer) close() {
	iv := s.intervals[s.at]
	length := iv.end - iv.start
	for _, f := range s.folds {
		overlap := min(f.last, iv.end) - max(f.first, iv.start)
		s.note(f.method, share(f.self, overlap, f.last-f.first))
	}
	var sum int64
	for _, m := range s.touched {
		sum += m.slice
	}
	// Folded rows are spread evenly, so together they can claim more time than
	// there is.
	length = max(length, sum)
	for _, m := range s.touched {
		if !m.inWindow {
			m.inWindow = true
			s.windowed = append(s.windowed, m)
		}
		m.windowSelf += m.slice
		if iv.cpu >= 0 {
			m.CPUKnown = true
			cpu := share(iv.cpu, m.slice, length)
			m.CPU += cpu
			m.windowCPU += cpu
		}
		m.slice, m.inSlice = 0, false
	}
	s.touched = s.touched[:0]
	if iv.cpu >= 0 {
		s.cpu = max(s.cpu, 0) + iv.cpu
	}
	if s.at--; s.at < 0 || s.intervals[s.at].window != iv.window {
		s.closeWindow(iv.window)
	}
}

// closeWindow finds the window's top method: by CPU where it is known, else by
// self time.
func (s *slicer) closeWindow(window int) {
	best := top{share: -1}
	var bestCPU, bestSelf int64
	for _, m := range s.windowed {
		better := cmp.Or(cmp.Compare(m.windowCPU, bestCPU), cmp.Compare(m.windowSelf, bestSelf), cmp.Compare(best.id, m.ID))
		if !best.found || better > 0 {
			best.id, best.found = m.ID, true
			bestCPU, bestSelf = m.windowCPU, m.windowSelf
		}
		m.windowCPU, m.windowSelf, m.inWindow = 0, 0, false
	}
	if s.cpu > 0 && best.found {
		best.share = float64(bestCPU) / float64(s.cpu)
	}
	s.tops[window] = best
	s.windowed = s.windowed[:0]
	s.cpu = -1
}

// finish closes what is left.
func (s *slicer) finish() {
	for s.at >= 0 {
		s.close()
	}
}
