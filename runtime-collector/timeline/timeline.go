// Package timeline joins the events of a run with its procfs samples: self time
// from nesting, totals, windows per thread, and an estimate of the CPU time of
// each method. docs/csv.md says what the figures mean.
//
// Events are read once, thread by thread and last ended first. In that order a
// call is met before the calls inside it, so a stack of the open calls is all
// that has to be kept: memory grows with the depth of the stacks and the number
// of methods, not with the number of events.
package timeline

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/jiffyperf/jiffy/runtime-collector/eventlog"
	"github.com/jiffyperf/jiffy/runtime-collector/run"
)

// Process identifies a process.
type Process struct {
	PID       int
	StartTime uint64 // ticks since boot; 0 not known
}

// Log is one runtime's log with the snapshot of its folded calls.
type Log struct {
	Process Process
	Events  *eventlog.Log // nil if only folded calls are left
	Folded  *eventlog.Log // nil if nothing was folded
}

// Input is what a timeline is made from.
type Input struct {
	Logs      []Log
	Processes []run.ProcessSample
	Threads   []run.ThreadSample

	Start  int64 // of the run, CLOCK_MONOTONIC, ns
	Window int64 // length of a window, ns; 0 one window for the whole run
	HZ     int64 // ticks per second

	Calls    *CallSorter      // takes every call, if not nil
	Progress func(done int64) // told how many events are done, if not nil
}

// Timeline is the result. Times are ns of CLOCK_MONOTONIC.
type Timeline struct {
	Start, End int64
	HZ         int64
	Processes  []Process
	Methods    []*Method
	Threads    []ThreadWindow
	Samples    []ProcessPoint
	Tracks     []Track // what Call.Track points to

	Events   int64 // calls read, without covers
	Bad      int64 // records that could not be
	Overlaps int64 // calls that overlap another of their thread without nesting
	// Inconvertible counts calls whose clock can't be put on the timeline: no
	// chunk of their log has both clocks.
	Inconvertible int64
}

// Track is a thread of the timeline: what a thread's events and its samples
// share.
type Track struct {
	Process int // index into Timeline.Processes
	TID     int64
	JavaID  int64
	Name    string
	Main    bool
	Virtual bool // a stripe of virtual threads

	sources []source
	folds   []source
	series  *series
	joined  bool // a thread of a log and its samples are joined
	rows    []ThreadWindow
	index   int // into builder.tracks
}

// source is a thread of a log.
type source struct {
	log    *eventlog.Log
	thread uint32
}

// Build makes a timeline.
func Build(ctx context.Context, in Input) (*Timeline, error) {
	if in.HZ <= 0 {
		return nil, fmt.Errorf("%d ticks per second: want a positive number", in.HZ)
	}
	b := newBuilder(in)
	b.addSamples()
	b.addLogs()
	if err := b.bound(); err != nil {
		return nil, err
	}
	if err := b.sweep(ctx); err != nil {
		return nil, err
	}
	b.finish()
	return b.Timeline, nil
}

// builder collects a timeline.
type builder struct {
	*Timeline
	in      Input
	tracks  []*Track
	windows []window
	// processSeries are the process's own samples, by index of the process.
	processSeries map[int]*series
	costs         map[int]eventlog.Cost // by index of the process
}

func newBuilder(in Input) *builder {
	return &builder{
		Timeline:      &Timeline{Start: in.Start, End: in.Start, HZ: in.HZ},
		in:            in,
		processSeries: map[int]*series{},
		costs:         map[int]eventlog.Cost{},
	}
}

// process returns the index of a process, which it adds if it is new. A start
// time that isn't known on one side joins by the pid alone.
func (b *builder) process(p Process) int {
	for i, known := range b.Processes {
		if known.PID != p.PID {
			continue
		}
		switch {
		case known.StartTime == p.StartTime || p.StartTime == 0:
			return i
		case known.StartTime == 0:
			b.Processes[i].StartTime = p.StartTime
			return i
		}
	}
	b.Processes = append(b.Processes, p)
	return len(b.Processes) - 1
}

// window is one row of threads.csv in time, ns of CLOCK_MONOTONIC.
type window struct{ start, end int64 }

// bound finds the end of the timeline and cuts it into windows.
func (b *builder) bound() error {
	for _, s := range b.in.Processes {
		b.End = max(b.End, s.Mono)
	}
	for _, s := range b.in.Threads {
		b.End = max(b.End, s.Mono)
	}
	for _, l := range b.in.Logs {
		for _, log := range []*eventlog.Log{l.Events, l.Folded} {
			if log == nil {
				continue
			}
			for _, p := range log.Pairings() {
				b.End = max(b.End, p.Mono)
			}
		}
	}
	whole := max(b.End-b.Start, 1)
	length := b.in.Window
	if length <= 0 || length > whole {
		length = whole
	}
	if n := whole / length; n > maxWindows {
		return fmt.Errorf("%d windows of %s in a run of %s are too many: at most %d",
			n, time.Duration(length), time.Duration(whole), maxWindows)
	}
	for at := int64(0); at < whole; at += length {
		b.windows = append(b.windows, window{b.Start + at, b.Start + min(at+length, whole)})
	}
	return nil
}

// maxWindows bounds the rows of a thread.
const maxWindows = 1 << 20

// sweep goes through the events of all tracks, several at a time.
func (b *builder) sweep(ctx context.Context) error {
	for i, t := range b.tracks {
		t.index = i
	}
	order := slices.Clone(b.tracks)
	slices.SortStableFunc(order, func(x, y *Track) int { return cmp.Compare(y.events(), x.events()) })
	var done, next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	sweepers := make([]*sweeper, min(runtime.GOMAXPROCS(0), max(len(order), 1)))
	for i := range sweepers {
		s := newSweeper(b, &done)
		sweepers[i] = s
		group.Go(func() error {
			for {
				at := int(next.Add(1)) - 1
				if at >= len(order) {
					return s.closeCalls()
				}
				if err := s.track(ctx, order[at]); err != nil {
					return err
				}
			}
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, s := range sweepers {
		if err := b.merge(s); err != nil {
			return err
		}
	}
	return nil
}

func (t *Track) events() int64 {
	var n int64
	for _, s := range t.sources {
		n += s.log.EventsOf(s.thread)
	}
	return n
}

// finish puts the results in order.
func (b *builder) finish() {
	for _, t := range b.tracks {
		b.Threads = append(b.Threads, t.rows...)
	}
	b.addResiduals()
	slices.SortStableFunc(b.Threads, func(x, y ThreadWindow) int {
		return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(x.Process, y.Process))
	})
	for _, m := range b.Methods {
		if cost, ok := b.costs[m.Process]; ok {
			m.charge(cost)
		}
	}
	slices.SortFunc(b.Methods, func(x, y *Method) int {
		return cmp.Or(cmp.Compare(y.Self, x.Self), cmp.Compare(x.Process, y.Process), cmp.Compare(x.ID, y.ID))
	})
	for _, t := range b.tracks {
		b.Tracks = append(b.Tracks, *t)
	}
	b.Samples = b.processPoints()
}
