package timeline

import (
	"context"
	"math"
	"sync/atomic"

	"github.com/jiffyperf/jiffy/runtime-collector/eventlog"
)

// sweeper goes through the events of one track after the other, last ended
// first, and adds them up by method.
//
// A call A is inside B if A.start ≥ B.start and A.end ≤ B.end, and A comes before
// B in end order; two calls of no length at the same instant are siblings. Against
// end order, the calls that an event may be inside of are those already met that
// did not begin after it: a stack. What doesn't contain the current event can't
// contain an earlier one either, and is popped.
type sweeper struct {
	b       *builder
	done    *atomic.Int64
	methods map[int]map[uint64]*Method // by process and id
	table   map[uint64]*Method         // of the current process
	current *Track
	index   int32 // of the current track
	slicer  slicer
	cursor  int64 // CLOCK_MONOTONIC down to which the track is sliced, ns
	calls   *callBuffer

	events, bad, overlaps, inconvertible int64
}

func newSweeper(b *builder, done *atomic.Int64) *sweeper {
	s := &sweeper{b: b, done: done, methods: map[int]map[uint64]*Method{}}
	if b.in.Calls != nil {
		s.calls = b.in.Calls.buffer()
	}
	return s
}

func (s *sweeper) closeCalls() error {
	if s.calls == nil {
		return nil
	}
	return s.calls.spill()
}

// frame is a call on the stack.
type frame struct {
	method     *Method
	start, end int64 // ns in its own clock
	mono       span
	clock      eventlog.Clock
	inner      int64 // Σ durations of its direct children, ns
}

// span is a stretch of CLOCK_MONOTONIC, ns.
type span struct{ start, end int64 }

// contains tells whether a call is inside the frame. Times of different clocks
// are compared on CLOCK_MONOTONIC.
func (f *frame) contains(e *eventlog.Event, mono span) bool {
	in, out := span{e.Start, e.End}, span{f.start, f.end}
	if f.clock != e.Clock {
		in, out = mono, f.mono
	}
	return in.start >= out.start && in.end <= out.end && out.start != out.end
}

// track sweeps one track.
func (s *sweeper) track(ctx context.Context, t *Track) error {
	s.current, s.index = t, int32(t.index)
	if s.table = s.methods[t.Process]; s.table == nil {
		s.table = map[uint64]*Method{}
		s.methods[t.Process] = s.table
	}
	s.slicer.reset(t, s.b.windows)
	s.folded(t)
	s.cursor = math.MaxInt64
	var err error
	if t.Virtual {
		err = s.stripe(ctx, t)
	} else {
		err = s.thread(ctx, t)
	}
	if err != nil {
		return err
	}
	s.slicer.finish()
	t.rows = s.b.rows(t, s.slicer.tops)
	return nil
}

// folded takes the rows of a track's snapshots. What is no row counts as bad.
func (s *sweeper) folded(t *Track) {
	for _, f := range t.folds {
		for row, err := range f.log.Folded(f.thread) {
			if err != nil {
				s.bad++
				continue
			}
			m := s.method(row.ID)
			m.fold(row, t.Main)
			s.events += row.Calls + row.Suspended
			if !t.Virtual {
				s.slicer.folds = append(s.slicer.folds, foldSpan{
					method: m,
					first:  f.log.Clocks.Mono(row.Clock, row.First),
					last:   f.log.Clocks.Mono(row.Clock, row.Last),
					self:   row.Self,
				})
			}
		}
	}
}

func (s *sweeper) method(id uint64) *Method {
	m := s.table[id]
	if m == nil {
		m = &Method{Process: s.current.Process, ID: id, Min: -1}
		s.table[id] = m
	}
	return m
}

// thread sweeps the events of a platform thread.
func (s *sweeper) thread(ctx context.Context, t *Track) error {
	in := newMerge(t.sources)
	var stack []frame
	for n := 0; ; n++ {
		e, mono := in.next()
		if e == nil {
			break
		}
		if n&(1<<14-1) == 0 {
			if err := s.tick(ctx, n); err != nil {
				return err
			}
		}
		if e.Kind == eventlog.Cover {
			s.cover(stack, e, mono)
			continue
		}
		for len(stack) > 0 && !stack[len(stack)-1].contains(e, mono) {
			stack = s.pop(stack, mono)
		}
		s.upTo(stack, mono.end)
		m := s.method(e.ID)
		m.count(e, m.active == 0, t.Main)
		m.active++
		if err := s.emit(e, mono, len(stack)); err != nil {
			return err
		}
		stack = s.push(stack, m, e, mono)
	}
	for len(stack) > 0 {
		stack = s.pop(stack, span{math.MinInt64, math.MinInt64})
	}
	s.bad += in.bad()
	s.inconvertible += in.inconvertible
	return in.err()
}

// stripe sweeps the events of many virtual threads, each with a stack of its
// own. Their CPU time can't be had, so nothing is sliced.
func (s *sweeper) stripe(ctx context.Context, t *Track) error {
	in := newMerge(t.sources)
	stacks := map[int64][]frame{}
	written := int64(math.MaxInt64)
	for n := 0; ; n++ {
		e, mono := in.next()
		if e == nil {
			break
		}
		if n&(1<<14-1) == 0 {
			if err := s.tick(ctx, n); err != nil {
				return err
			}
		}
		if w := in.written(); w >= 0 && w < written {
			written = w
			s.retire(stacks, written)
		}
		stack := stacks[e.JavaThread]
		if e.Kind == eventlog.Cover {
			s.cover(stack, e, mono)
			continue
		}
		for len(stack) > 0 && !stack[len(stack)-1].contains(e, mono) {
			stack = s.pop(stack, mono)
		}
		m := s.method(e.ID)
		m.count(e, !onStack(stack, m), false)
		if err := s.emit(e, mono, len(stack)); err != nil {
			return err
		}
		stacks[e.JavaThread] = s.push(stack, m, e, mono)
	}
	s.retire(stacks, math.MinInt64)
	s.bad += in.bad()
	s.inconvertible += in.inconvertible
	return in.err()
}

// retire closes the stacks of virtual threads that can't get another event: all
// their calls began after everything that is still to come had ended.
func (s *sweeper) retire(stacks map[int64][]frame, written int64) {
	for id, stack := range stacks {
		if len(stack) > 0 && stack[0].mono.start <= written {
			continue
		}
		for len(stack) > 0 {
			stack = s.pop(stack, span{math.MinInt64, math.MinInt64})
		}
		delete(stacks, id)
	}
}

func onStack(stack []frame, m *Method) bool {
	for i := range stack {
		if stack[i].method == m {
			return true
		}
	}
	return false
}

func (s *sweeper) tick(ctx context.Context, n int) error {
	if n > 0 {
		if done := s.done.Add(1 << 14); s.b.in.Progress != nil {
			s.b.in.Progress(done)
		}
	}
	return ctx.Err()
}

// push puts a call on the stack and charges it to the call it is inside of.
func (s *sweeper) push(stack []frame, m *Method, e *eventlog.Event, mono span) []frame {
	s.events++
	if n := len(stack); n > 0 {
		parent := &stack[n-1]
		parent.inner += e.Duration()
		parent.method.Children++
	}
	return append(stack, frame{method: m, start: e.Start, end: e.End, mono: mono, clock: e.Clock})
}

// pop takes the innermost call off the stack: all that is inside of it is known.
// next is the event that made it end. If they overlap, which no thread can do on
// one clock, that is counted.
func (s *sweeper) pop(stack []frame, next span) []frame {
	f := &stack[len(stack)-1]
	if next.start < f.mono.start && next.end > f.mono.start || next.end > f.mono.end {
		s.overlaps++
	}
	s.upTo(stack, f.mono.start)
	f.method.Self += max(f.end-f.start-f.inner, 0)
	if !s.current.Virtual {
		f.method.active--
	}
	return stack[:len(stack)-1]
}

// upTo gives the time from the cursor down to t to the innermost call.
func (s *sweeper) upTo(stack []frame, t int64) {
	if t >= s.cursor {
		return
	}
	if n := len(stack); n > 0 && !s.current.Virtual {
		s.slicer.add(stack[n-1].method, t, s.cursor)
	}
	s.cursor = t
}

// cover charges folded calls to the call that follows, which is the one that was
// pushed last.
func (s *sweeper) cover(stack []frame, e *eventlog.Event, mono span) {
	if len(stack) == 0 {
		s.bad++
		return
	}
	f := &stack[len(stack)-1]
	f.inner += e.Covered
	if s.current.Virtual {
		return
	}
	s.upTo(stack, mono.end)
	if mono.start < s.cursor {
		s.slicer.spread(f.method, mono.start, s.cursor, e.Duration()-e.Covered)
		s.cursor = mono.start
	}
}

func (s *sweeper) emit(e *eventlog.Event, mono span, depth int) error {
	if s.calls == nil {
		return nil
	}
	return s.calls.add(Call{
		Start:      mono.start,
		End:        mono.end,
		Depth:      int32(depth),
		Track:      s.index,
		ID:         e.ID,
		JavaThread: e.JavaThread,
		Outcome:    e.Outcome,
	})
}

// merge gives the events of several logs' views of one thread, last ended first.
type merge struct {
	sources       []source
	cursors       []*eventlog.Cursor
	heads         []*eventlog.Event
	monos         []span
	last          int // the source of the last event; -1 none
	inconvertible int64
}

func newMerge(sources []source) *merge {
	m := &merge{sources: sources, last: -1}
	for i, s := range sources {
		m.cursors = append(m.cursors, s.log.Backward(s.thread))
		m.heads = append(m.heads, nil)
		m.monos = append(m.monos, span{})
		m.advance(i)
	}
	return m
}

func (m *merge) advance(i int) {
	e := m.cursors[i].Next()
	m.heads[i] = e
	if e == nil {
		return
	}
	clocks := m.sources[i].log.Clocks
	m.monos[i] = span{e.Start, e.End}
	if e.Clock.Boottime() {
		m.monos[i] = span{clocks.Mono(e.Clock, e.Start), clocks.Mono(e.Clock, e.End)}
		if !clocks.Known(e.Clock) {
			m.inconvertible++
		}
	}
}

// next returns the next event, which is valid until the call after. A cover is
// never parted from the call that follows it in its log.
func (m *merge) next() (*eventlog.Event, span) {
	if m.last >= 0 {
		m.advance(m.last)
	}
	best := -1
	if m.last >= 0 && m.heads[m.last] != nil && m.heads[m.last].Kind == eventlog.Cover {
		best = m.last
	} else {
		for i, e := range m.heads {
			if e != nil && (best < 0 || m.monos[i].end > m.monos[best].end) {
				best = i
			}
		}
	}
	m.last = best
	if best < 0 {
		return nil, span{}
	}
	return m.heads[best], m.monos[best]
}

// written is when the chunk of the last event was written: nothing that follows
// ended later. -1 not known.
func (m *merge) written() int64 {
	if len(m.cursors) != 1 {
		return -1
	}
	return m.cursors[0].Written()
}

func (m *merge) bad() (n int64) {
	for _, c := range m.cursors {
		n += c.Bad()
	}
	return n
}

func (m *merge) err() error {
	for _, c := range m.cursors {
		if err := c.Err(); err != nil {
			return err
		}
	}
	return nil
}
