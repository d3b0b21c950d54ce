package timeline

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jiffyperf/jiffy/runtime-collector/eventlog"
	"github.com/jiffyperf/jiffy/runtime-collector/eventlog/eventlogtest"
)

// tally is what is checked of a method.
type tally struct {
	Returned, Thrown, Suspended, Total, Self, Children, Sum, Max, MainCalls, MainTotal, MainMax, CPU int64
}

func tallyOf(m *Method) tally {
	return tally{m.Returned, m.Thrown, m.Suspended, m.Total, m.Self, m.Children, m.Sum, m.Max,
		m.MainCalls, m.MainTotal, m.MainMax, m.CPU}
}

func tallies(t *Timeline) map[uint64]tally {
	all := map[uint64]tally{}
	for _, m := range t.Methods {
		all[m.ID] = tallyOf(m)
	}
	return all
}

// within is docs/event-log.md's rule for two events of one thread, a before b in
// end order.
func within(a, b eventlog.Event) bool {
	return a.Start >= b.Start && a.End <= b.End && b.Start != b.End
}

// parents finds every event's parent by trying all later events.
func parents(events []eventlog.Event) []int {
	parent := make([]int, len(events))
	for i := range events {
		parent[i] = -1
		for j := i + 1; j < len(events); j++ {
			if within(events[i], events[j]) {
				parent[i] = j
				break
			}
		}
	}
	return parent
}

func depths(parent []int) []int32 {
	depth := make([]int32, len(parent))
	for i := range parent {
		for p := parent[i]; p >= 0; p = parent[p] {
			depth[i]++
		}
	}
	return depth
}

// bruteForce adds up events by their definition.
func bruteForce(events []eventlog.Event, main bool) map[uint64]tally {
	parent := parents(events)
	all := map[uint64]tally{}
	for i, e := range events {
		m := all[e.ID]
		d := e.Duration()
		self := d
		for j := range events {
			if parent[j] == i {
				self -= events[j].Duration()
				m.Children++
			}
		}
		m.Self += self
		outermost := true
		for p := parent[i]; p >= 0; p = parent[p] {
			outermost = outermost && events[p].ID != e.ID
		}
		if outermost {
			m.Total += d
			if main {
				m.MainTotal += d
			}
		}
		switch e.Outcome {
		case eventlog.Returned:
			m.Returned++
		case eventlog.Thrown:
			m.Thrown++
		case eventlog.Suspended:
			m.Suspended++
		}
		if e.Outcome != eventlog.Suspended {
			m.Sum += d
			m.Max = max(m.Max, d)
			if main {
				m.MainCalls++
				m.MainMax = max(m.MainMax, d)
			}
		}
		all[e.ID] = m
	}
	return all
}

// randomCalls makes nested calls between start and end, in end order. Few ids
// make recursion, and few instants ties and calls of no length.
func randomCalls(r *rand.Rand, start, end int64, depth int) []eventlog.Event {
	var events []eventlog.Event
	if r.IntN(3) == 0 {
		depth--
	}
	for at := start; at <= end && depth > 0 && r.IntN(3) > 0; {
		s := at + r.Int64N(max(end-at, 1)/2+1)
		e := s + r.Int64N(end-s+1)
		events = append(events, randomCalls(r, s, e, depth-1)...)
		events = append(events, eventlog.Event{
			ID: 1 + r.Uint64N(5), Start: s, End: e,
			Outcome: eventlog.Outcome(r.IntN(3)), Clock: eventlog.NanoTime,
		})
		at = e
	}
	return events
}

func readLog(t testing.TB, w *eventlogtest.Writer) *eventlog.Log {
	t.Helper()
	l, err := eventlog.Read("log", bytes.NewReader(w.Bytes()), int64(len(w.Bytes())))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func build(t testing.TB, in Input) *Timeline {
	t.Helper()
	if in.HZ == 0 {
		in.HZ = 100
	}
	tl, err := Build(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return tl
}

// writeChunks writes events in chunks of random length.
func writeChunks(r *rand.Rand, w *eventlogtest.Writer, thread uint32, events []eventlog.Event) {
	for len(events) > 0 {
		n := 1 + r.IntN(len(events))
		w.Events(thread, events[:n]...)
		events = events[n:]
	}
}

func TestRandomTreesAgreeWithBruteForce(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		events := randomCalls(r, 1000, 1000+1+r.Int64N(300), 6)
		w := eventlogtest.New()
		w.Pairing.Mono = 2000
		w.Thread(eventlog.Thread{JavaID: 1, TID: 7, Flags: eventlog.MainThread, Name: "main"})
		writeChunks(r, w, 0, events)
		calls, err := NewCallSorter(t.TempDir(), ByStart)
		if err != nil {
			t.Fatal(err)
		}
		defer calls.Close()
		tl := build(t, Input{Logs: []Log{{Events: readLog(t, w)}}, Calls: calls})

		want := bruteForce(events, true)
		if diff := cmp.Diff(want, tallies(tl)); diff != "" {
			t.Fatalf("seed %d: methods (-want +got):\n%s", seed, diff)
		}
		if tl.Overlaps != 0 || tl.Bad != 0 {
			t.Errorf("seed %d: %d overlaps, %d bad", seed, tl.Overlaps, tl.Bad)
		}
		depth := depths(parents(events))
		wantCalls, gotCalls := map[string]int{}, map[string]int{}
		for i, e := range events {
			wantCalls[fmt.Sprint(e.Start, e.End, e.ID, e.Outcome, depth[i])]++
		}
		last := int64(0)
		for c, err := range calls.Sorted() {
			if err != nil {
				t.Fatal(err)
			}
			gotCalls[fmt.Sprint(c.Start, c.End, c.ID, c.Outcome, c.Depth)]++
			if c.Start < last {
				t.Errorf("seed %d: calls not in order of their start", seed)
			}
			last = c.Start
		}
		if diff := cmp.Diff(wantCalls, gotCalls); diff != "" {
			t.Fatalf("seed %d: calls (-want +got):\n%s", seed, diff)
		}
	}
}

// Self times of a thread sum to the durations of its outermost calls.
func TestSelfTimesSumToOutermostCalls(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 2))
		events := randomCalls(r, 0, 1_000_000, 8)
		w := eventlogtest.New()
		writeChunks(r, w, 0, events)
		var outermost, self int64
		for i, p := range parents(events) {
			if p < 0 {
				outermost += events[i].Duration()
			}
		}
		for _, m := range build(t, Input{Logs: []Log{{Events: readLog(t, w)}}}).Methods {
			self += m.Self
		}
		if self != outermost {
			t.Fatalf("seed %d: self times sum to %d, outermost calls to %d", seed, self, outermost)
		}
	}
}

func ev(id uint64, start, end int64) eventlog.Event {
	return eventlog.Event{ID: id, Start: start, End: end, Clock: eventlog.NanoTime}
}

func TestNesting(t *testing.T) {
	tests := map[string]struct {
		events []eventlog.Event
		self   map[uint64]int64
		total  map[uint64]int64
	}{
		"child inside its parent": {
			[]eventlog.Event{ev(2, 10, 20), ev(1, 0, 100)},
			map[uint64]int64{1: 90, 2: 10}, map[uint64]int64{1: 100, 2: 10},
		},
		"two of the same length nest by end order": {
			[]eventlog.Event{ev(2, 0, 100), ev(1, 0, 100)},
			map[uint64]int64{1: 0, 2: 100}, map[uint64]int64{1: 100, 2: 100},
		},
		"calls of no length at one instant are siblings": {
			[]eventlog.Event{ev(2, 50, 50), ev(3, 50, 50), ev(1, 0, 100)},
			map[uint64]int64{1: 100, 2: 0, 3: 0}, map[uint64]int64{1: 100, 2: 0, 3: 0},
		},
		"no length at the end of a parent": {
			[]eventlog.Event{ev(2, 100, 100), ev(1, 0, 100), ev(3, 100, 200)},
			map[uint64]int64{1: 100, 2: 0, 3: 100}, map[uint64]int64{1: 100, 2: 0, 3: 100},
		},
		"one begins as the other ends": {
			[]eventlog.Event{ev(1, 0, 100), ev(2, 100, 200)},
			map[uint64]int64{1: 100, 2: 100}, map[uint64]int64{1: 100, 2: 100},
		},
		"recursion counts once": {
			[]eventlog.Event{ev(1, 20, 30), ev(1, 10, 40), ev(2, 5, 45), ev(1, 0, 50)},
			map[uint64]int64{1: 40, 2: 10}, map[uint64]int64{1: 50, 2: 40},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := eventlogtest.New()
			w.Events(0, test.events...)
			self, total := map[uint64]int64{}, map[uint64]int64{}
			for _, m := range build(t, Input{Logs: []Log{{Events: readLog(t, w)}}}).Methods {
				self[m.ID], total[m.ID] = m.Self, m.Total
			}
			if diff := cmp.Diff(test.self, self); diff != "" {
				t.Errorf("self (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.total, total); diff != "" {
				t.Errorf("total (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOverlapIsCounted(t *testing.T) {
	w := eventlogtest.New()
	w.Events(0, ev(1, 0, 60), ev(2, 40, 100))
	tl := build(t, Input{Logs: []Log{{Events: readLog(t, w)}}})
	if tl.Overlaps != 1 {
		t.Errorf("Overlaps = %d, want 1", tl.Overlaps)
	}
	if got := tallies(tl)[1].Self + tallies(tl)[2].Self; got != 120 {
		t.Errorf("self times sum to %d, want both durations", got)
	}
}

// A thread whose methods were instrumented with different clocks nests on
// CLOCK_MONOTONIC.
func TestMixedClocks(t *testing.T) {
	const slept = 1_000_000
	w := eventlogtest.New()
	w.Pairing = eventlog.Pairing{Mono: 5000, Boot: 5000 + slept, Uncertainty: 1}
	boot := eventlog.Event{ID: 2, Start: 1010 + slept, End: 1020 + slept, Clock: eventlog.ElapsedRealtimeNanos}
	w.Clock = eventlog.ElapsedRealtimeNanos
	w.Events(0, boot)
	w.Clock = eventlog.NanoTime
	w.Events(0, ev(1, 1000, 1100))
	got := tallies(build(t, Input{Logs: []Log{{Events: readLog(t, w)}}}))
	if got[1].Self != 90 || got[2].Self != 10 {
		t.Errorf("self times %d and %d, want 90 and 10", got[1].Self, got[2].Self)
	}
}

// Random calls of several virtual threads in one stripe, interleaved.
func TestVirtualThreadsNestEachForItself(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 3))
		want := map[uint64]tally{}
		var queues [][]eventlog.Event
		for id := range int64(5) {
			events := randomCalls(r, 1000, 1200, 5)
			for i := range events {
				events[i].JavaThread = 100 + id
			}
			for id, add := range bruteForce(events, false) {
				m := want[id]
				m.Returned += add.Returned
				m.Thrown += add.Thrown
				m.Suspended += add.Suspended
				m.Total += add.Total
				m.Self += add.Self
				m.Children += add.Children
				m.Sum += add.Sum
				m.Max = max(m.Max, add.Max)
				want[id] = m
			}
			queues = append(queues, events)
		}
		w := eventlogtest.New()
		w.Thread(eventlog.Thread{Index: 4, Flags: eventlog.Stripe, Name: "stripe"})
		for mono := int64(1000); mono <= 1200; mono += 50 {
			// A chunk holds what had ended when it was written.
			w.Pairing.Mono = mono
			var chunk []eventlog.Event
			for more := true; more; {
				more = false
				for i, q := range queues {
					if len(q) > 0 && q[0].End <= mono {
						chunk, queues[i], more = append(chunk, q[0]), q[1:], true
					}
				}
			}
			w.Shared(4, chunk...)
		}
		tl := build(t, Input{Logs: []Log{{Events: readLog(t, w)}}})
		if diff := cmp.Diff(want, tallies(tl)); diff != "" {
			t.Fatalf("seed %d: methods (-want +got):\n%s", seed, diff)
		}
		for _, row := range tl.Threads {
			if row.Sampled {
				t.Errorf("a stripe of virtual threads has CPU time: %+v", row)
			}
		}
	}
}

// Two runtimes in one process see one thread: their events nest together.
func TestTwoLogsOfOneThread(t *testing.T) {
	first, second := eventlogtest.New(), eventlogtest.New()
	thread := eventlog.Thread{JavaID: 9, TID: 11, Name: "worker"}
	first.Thread(thread).Events(0, ev(1, 0, 100), ev(1, 200, 300))
	second.Thread(thread).Events(0, ev(2, 10, 20), ev(2, 40, 150), ev(3, 5, 160))
	p := Process{PID: 4, StartTime: 5}
	tl := build(t, Input{Logs: []Log{{Process: p, Events: readLog(t, first)}, {Process: p, Events: readLog(t, second)}}})
	if len(tl.Tracks) != 1 {
		t.Fatalf("%d tracks, want one", len(tl.Tracks))
	}
	// 1's first call overlaps 3 and 2's second, which no thread can do.
	if tl.Overlaps == 0 {
		t.Error("overlaps between the two logs are not counted")
	}
	if got := tallies(tl)[1]; got.Returned != 2 || got.Self != 190 {
		t.Errorf("method 1: %+v, want 2 calls and 190 ns of self time", got)
	}
}

func TestCutLogsGiveWhatIsLeft(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	events := randomCalls(r, 1000, 1300, 6)
	for len(events) < 20 || len(events) > 60 {
		events = randomCalls(r, 1000, 1300, 6)
	}
	w := eventlogtest.New()
	w.Thread(eventlog.Thread{JavaID: 1, Name: "main"})
	writeChunks(r, w, 0, events)
	whole := w.Bytes()
	for n := range whole {
		l, err := eventlog.Read("cut", bytes.NewReader(whole[:n]), int64(n))
		if err != nil {
			t.Fatal(err)
		}
		kept := events[:l.Events()]
		if diff := cmp.Diff(bruteForce(kept, false), tallies(build(t, Input{Logs: []Log{{Events: l}}}))); diff != "" {
			t.Fatalf("cut at %d: methods (-want +got):\n%s", n, diff)
		}
	}
}
