package timeline

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jiffyperf/jiffy/runtime-collector/eventlog"
	"github.com/jiffyperf/jiffy/runtime-collector/eventlog/eventlogtest"
	"github.com/jiffyperf/jiffy/runtime-collector/run"
)

// foldAt does to a thread's events what the runtime does from a moment on: calls
// that begin later become rows, calls that are open get a cover before them.
func foldAt(events []eventlog.Event, moment int64) (exact []eventlog.Event, folded []eventlog.Event) {
	parent := parents(events)
	for i, e := range events {
		if e.Start >= moment {
			folded = append(folded, e)
			continue
		}
		cover := eventlog.Event{Kind: eventlog.Cover, Clock: e.Clock}
		for j, child := range events {
			if parent[j] != i || child.Start < moment {
				continue
			}
			if cover.End == 0 {
				cover.Start = child.Start
			}
			cover.Start, cover.End = min(cover.Start, child.Start), max(cover.End, child.End)
			cover.Covered += child.Duration()
		}
		if cover.End > 0 {
			exact = append(exact, cover)
		}
		exact = append(exact, e)
	}
	return exact, folded
}

// foldRows makes the rows of folded events. total holds what they add to each
// method's outermost time, which only the whole tree can tell.
func foldRows(events []eventlog.Event, total map[uint64]int64) []eventlog.FoldRow {
	rows := map[uint64]*eventlog.FoldRow{}
	for id, m := range bruteForce(events, false) {
		m.Total = total[id]
		rows[id] = &eventlog.FoldRow{ID: id, Calls: m.Returned + m.Thrown, Thrown: m.Thrown, Suspended: m.Suspended,
			Total: m.Total, Self: m.Self, Max: m.Max, Children: m.Children, First: events[0].Start, Last: events[len(events)-1].End}
	}
	for _, e := range events {
		if e.Outcome != eventlog.Suspended {
			r := rows[e.ID]
			r.Histogram = append(r.Histogram, eventlog.BucketCount{Bucket: eventlog.Bucket(e.Duration()), Count: 1})
		}
	}
	var all []eventlog.FoldRow
	for _, r := range rows {
		all = append(all, *r)
	}
	slices.SortFunc(all, func(a, b eventlog.FoldRow) int { return int(a.ID) - int(b.ID) })
	return all
}

func TestFoldingLosesNothing(t *testing.T) {
	folds := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 6))
		events := randomCalls(r, 1000, 1300, 6)
		exact, folded := foldAt(events, 1000+r.Int64N(300))
		thread := eventlog.Thread{Index: 2, JavaID: 1, TID: 7, Flags: eventlog.MainThread, Name: "main"}
		w, snapshot := eventlogtest.New(), eventlogtest.New()
		w.Thread(thread).Events(2, exact...)
		snapshot.Thread(thread)
		if len(folded) > 0 {
			folds++
			snapshot.Fold(2, foldRows(folded, foldedTotals(events, exact))...)
		}
		tl := build(t, Input{Logs: []Log{{Events: readLog(t, w), Folded: readLog(t, snapshot)}}})

		want := bruteForce(events, true)
		got := tallies(tl)
		for id, m := range want {
			// Durations in buckets are not exact; the number of folded children
			// of a call that is exact isn't in the log.
			m.Sum, m.Children = got[id].Sum, got[id].Children
			want[id] = m
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d: methods (-want +got):\n%s", seed, diff)
		}
		if tl.Bad != 0 || tl.Overlaps != 0 {
			t.Errorf("seed %d: %d bad, %d overlaps", seed, tl.Bad, tl.Overlaps)
		}
	}
	if folds < 100 {
		t.Errorf("only %d of the trees were folded", folds)
	}
}

// foldedTotals is what the folded calls of a tree add to the methods' totals: all
// of the total but what the exact calls have of it.
func foldedTotals(events, exact []eventlog.Event) map[uint64]int64 {
	totals := map[uint64]int64{}
	for id, m := range bruteForce(events, false) {
		totals[id] = m.Total
	}
	for id, m := range bruteForce(slices.DeleteFunc(slices.Clone(exact), isCover), false) {
		totals[id] -= m.Total
	}
	return totals
}

func isCover(e eventlog.Event) bool { return e.Kind == eventlog.Cover }

func TestCoverWithoutItsCallIsBad(t *testing.T) {
	w := eventlogtest.New()
	w.Events(0, ev(1, 0, 10), eventlog.Event{Kind: eventlog.Cover, Start: 20, End: 40, Covered: 10})
	if tl := build(t, Input{Logs: []Log{{Events: readLog(t, w)}}}); tl.Bad != 1 || tallies(tl)[1].Self != 10 {
		t.Errorf("%d bad records, methods %v", tl.Bad, tallies(tl))
	}
}

func TestFoldedCallsShareTheCPU(t *testing.T) {
	thread := eventlog.Thread{JavaID: 1, TID: 7, StartTime: 1, Name: "main"}
	w, snapshot := eventlogtest.New(), eventlogtest.New()
	w.Pairing.Mono, snapshot.Pairing.Mono = base+100, base+100
	// Method 1 is open when folding begins at 20; the calls below it take 40 of
	// the 80 ns that are left.
	w.Thread(thread).Events(0,
		eventlog.Event{Kind: eventlog.Cover, Start: base + 20, End: base + 100, Covered: 40}, ev(1, base, base+100))
	snapshot.Thread(thread).Fold(0, eventlog.FoldRow{ID: 2, Calls: 4, Total: 40, Self: 40, Max: 10, First: base + 20, Last: base + 100})
	tl := build(t, Input{Start: base,
		Threads: []run.ThreadSample{sample(base, 7, 0), sample(base+60, 7, 600), sample(base+100, 7, 800)},
		Logs:    []Log{{Process: theProcess, Events: readLog(t, w), Folded: readLog(t, snapshot)}},
	})
	got := tallies(tl)
	if got[1].Self != 60 || got[2].Self != 40 {
		t.Errorf("self times %d and %d, want 60 and 40", got[1].Self, got[2].Self)
	}
	// 0…60: 1 has 20 + 20, 2 has 20. 60…100: 20 each.
	if got[1].CPU != 400+100 || got[2].CPU != 200+100 {
		t.Errorf("CPU %d and %d, want 500 and 300", got[1].CPU, got[2].CPU)
	}
}

// Rows are spread evenly from their first call to their last, so in a part of it
// they can claim more time than there is; the CPU is then shared out among them.
func TestFoldedCallsNeverGetMoreThanTheThreadRan(t *testing.T) {
	snapshot := eventlogtest.New()
	snapshot.Pairing.Mono = base + 100
	snapshot.Thread(eventlog.Thread{JavaID: 1, TID: 7, StartTime: 1, Name: "main"}).Fold(0,
		eventlog.FoldRow{ID: 1, Calls: 2, Self: 90, First: base, Last: base + 100},
		eventlog.FoldRow{ID: 2, Calls: 1, Self: 10, First: base + 40, Last: base + 50})
	tl := build(t, Input{Start: base,
		Threads: []run.ThreadSample{sample(base, 7, 0), sample(base+40, 7, 0), sample(base+50, 7, 190), sample(base+100, 7, 190)},
		Logs:    []Log{{Process: theProcess, Folded: readLog(t, snapshot)}},
	})
	// 40…50: they claim 9 and 10 ns of 10.
	if got := tallies(tl); got[1].CPU != 90 || got[2].CPU != 100 {
		t.Errorf("CPU %d and %d, want 90 and 100", got[1].CPU, got[2].CPU)
	}
}

func TestCallsComeBeforeThoseInside(t *testing.T) {
	calls, err := NewCallSorter(t.TempDir(), ByStart)
	if err != nil {
		t.Fatal(err)
	}
	defer calls.Close()
	w := eventlogtest.New()
	w.Events(0, ev(3, 10, 20), ev(2, 10, 30), ev(1, 10, 30))
	build(t, Input{Logs: []Log{{Events: readLog(t, w)}}, Calls: calls})
	var ids []uint64
	for c := range calls.Sorted() {
		ids = append(ids, c.ID)
	}
	if diff := cmp.Diff([]uint64{1, 2, 3}, ids); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
}

func TestQuantiles(t *testing.T) {
	w := eventlogtest.New()
	var events []eventlog.Event
	for i := range int64(1000) {
		events = append(events, ev(1, i*10_000, i*10_000+i+1))
	}
	w.Events(0, events...)
	w.Events(0, ev(2, 20_000_000, 20_000_777))
	for _, m := range build(t, Input{Logs: []Log{{Events: readLog(t, w)}}}).Methods {
		for q, want := range map[float64]float64{0.5: 500, 0.95: 950, 0.99: 990} {
			if m.ID == 2 {
				want = 777 // of a single call every quantile is its duration
			}
			got, ok := m.Quantile(q)
			if tolerance := Accuracy*want + 1.5; !ok || float64(got) < want-tolerance || float64(got) > want+tolerance {
				t.Errorf("method %d: quantile %v is %d, want %v within 1 %%", m.ID, q, got, want)
			}
			if m.ID == 2 && got != 777 {
				t.Errorf("quantile %v of one call is %d, want 777", q, got)
			}
		}
	}
}

func TestProbeCost(t *testing.T) {
	w := eventlogtest.New()
	w.Cost("start", 60, 20)
	w.Events(0, ev(2, 10, 20), ev(2, 30, 40), ev(1, 0, 1000))
	for _, m := range build(t, Input{Logs: []Log{{Events: readLog(t, w)}}}).Methods {
		cost, net := int64(20+2*40), int64(980-100)
		if m.ID == 2 {
			cost, net = 40, 0 // 20 ns of self time are less than what the probes are said to cost
		}
		if m.ProbeCost != cost || m.SelfNet != net {
			t.Errorf("method %d: probe cost %d, self net %d, want %d and %d", m.ID, m.ProbeCost, m.SelfNet, cost, net)
		}
	}
}

func TestManyCallsAreSortedInRuns(t *testing.T) {
	for _, order := range []func(a, b *Call) int{ByStart, ByThread} {
		s, err := NewCallSorter(t.TempDir(), order)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		s.limit = 100
		r := rand.New(rand.NewPCG(1, 8))
		b := s.buffer()
		var want []Call
		for range 1234 {
			start := r.Int64N(500)
			c := Call{Start: start, End: start + r.Int64N(50), ID: r.Uint64N(1 << 48), Track: r.Int32N(9),
				JavaThread: r.Int64N(3), Depth: r.Int32N(5), Outcome: eventlog.Outcome(r.IntN(3))}
			want = append(want, c)
			if err := b.add(c); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.spill(); err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(want, func(x, y Call) int { return order(&x, &y) })
		var got []Call
		for c, err := range s.Sorted() {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, *c)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		if len(s.runs) != 13 || s.Len() != 1234 {
			t.Errorf("%d calls in %d runs", s.Len(), len(s.runs))
		}
	}
}
