package android

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jiffyperf/jiffy/runtime-collector/eventlog"
)

// call is a completed call in end order.
type call struct {
	start, end int64
	id         uint64
	outcome    int // as in the log
	thread     int64
}

// encloses says whether b is one of the calls below a, where a ended later.
func (a call) encloses(b call) bool {
	return a.thread == b.thread && a.start <= b.start && b.end <= a.end && (a.start < a.end || b.start < b.end)
}

// row is a folded method.
type row struct {
	calls, thrown, suspended, total, self, max, children, first, last int64
	approximate                                                       bool
	histogram                                                         map[uint16]int64
}

// foldByDefinition computes the rows from what the columns mean, comparing each call with each other. Calls that
// began before foldStart are left exact, and each takes what calls below it that are folded cost as its cover.
func foldByDefinition(calls []call, foldStart int64) (rows map[uint64]*row, covers []int64) {
	rows = map[uint64]*row{}
	for i, c := range calls {
		var below, children int64
		for j := range i {
			if c.encloses(calls[j]) && !slices.ContainsFunc(calls[j+1:i], func(k call) bool { return k.encloses(calls[j]) }) {
				if c.start < foldStart && calls[j].start < foldStart {
					continue // exact itself
				}
				below += calls[j].end - calls[j].start
				children++
			}
		}
		if c.start < foldStart {
			covers = append(covers, below)
			continue
		}
		r := rows[c.id]
		if r == nil {
			r = &row{first: math.MaxInt64, last: math.MinInt64, histogram: map[uint16]int64{}}
			rows[c.id] = r
		}
		d := c.end - c.start
		if c.outcome == int(eventlog.Suspended) {
			r.suspended++
		} else {
			r.calls++
			r.max = max(r.max, d)
			r.histogram[eventlog.Bucket(d)]++
		}
		if c.outcome == int(eventlog.Thrown) {
			r.thrown++
		}
		r.self += d - below
		r.children += children
		r.first, r.last = min(r.first, c.start), max(r.last, c.end)
		if !slices.ContainsFunc(calls[i+1:], func(k call) bool { return k.id == c.id && k.encloses(c) }) {
			r.total += d
		}
	}
	return rows, covers
}

// tree makes up one thread's calls: a random tree in which the clock may stand still between any two readings.
type tree struct {
	random  *rand.Rand
	methods int
	now     int64
	thread  int64
	most    int // calls, after which nothing is called any more
	calls   []call
}

func (t *tree) tick() {
	if t.random.IntN(3) > 0 {
		t.now += t.random.Int64N(1 << t.random.IntN(12))
	}
}

// grow adds a call with all below it.
func (t *tree) grow(depth int) {
	c := call{start: t.now, id: uint64(1 + t.random.IntN(t.methods)), outcome: t.random.IntN(3), thread: t.thread}
	t.tick()
	for depth > 0 && len(t.calls) < t.most && t.random.IntN(4) > 0 {
		t.grow(depth - 1)
		t.tick()
	}
	c.end = t.now
	t.calls = append(t.calls, c)
}

// fold has the runtime fold the calls.
func fold(t *testing.T, calls []call, foldStart int64, shared bool, bound int) (rows map[uint64]*row, exact [][]int64, folded, dropped int64) {
	t.Helper()
	classPath := programClasses(t, anyJDK(t), "testdata/inside", "--release", "8", "-Xlint:-options")
	var in strings.Builder
	for _, c := range calls {
		fmt.Fprintln(&in, c.start, c.end, c.id, c.outcome, c.thread)
	}
	r := run{jdk: anyJDK(t), noLog: true, program: "io.github.jiffyperf.runtime.FoldCalls", stdin: in.String(),
		args: []string{fmt.Sprint(foldStart), fmt.Sprint(shared), fmt.Sprint(bound)}}
	out := r.startWith(t, classPath).mustSucceed(t).stdout
	rows = map[uint64]*row{}
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		words := make([]int64, len(fields)-1)
		for i, f := range fields[1:] {
			if _, err := fmt.Sscan(f, &words[i]); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
		}
		switch fields[0] {
		case "row":
			rows[uint64(words[0])] = parseRow(words)
		case "exact":
			exact = append(exact, words)
		case "sums":
			folded, dropped = words[0], words[1]
		}
	}
	return rows, exact, folded, dropped
}

func parseRow(w []int64) *row {
	r := &row{calls: w[1], thrown: w[2], suspended: w[3], total: w[4], self: w[5], max: w[6], children: w[7], first: w[8],
		last: w[9], approximate: w[10]&1 != 0, histogram: map[uint16]int64{}}
	for _, b := range w[12:] {
		r.histogram[uint16(uint64(b)>>48)] = b & (1<<48 - 1)
	}
	return r
}

func TestFoldingMatchesDefinition(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			g := &tree{random: rand.New(rand.NewPCG(seed, 1)), methods: 2 + int(seed)*3, now: 1000, most: 2000}
			for len(g.calls) < 1500 {
				g.grow(7)
				g.tick()
			}
			rows, _, folded, dropped := fold(t, g.calls, math.MinInt64, false, 100000)
			want, _ := foldByDefinition(g.calls, math.MinInt64)
			if diff := cmp.Diff(want, rows, cmp.AllowUnexported(row{})); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
			if folded != int64(len(g.calls)) || dropped != 0 {
				t.Errorf("%d folded, %d dropped of %d calls", folded, dropped, len(g.calls))
			}
		})
	}
}

func TestCallsOpenWhenFoldingBeginsStayExact(t *testing.T) {
	g := &tree{random: rand.New(rand.NewPCG(7, 7)), methods: 5, now: 1000, most: 3000}
	for len(g.calls) < 800 {
		g.grow(9)
	}
	// What ended before the middle has been written exactly; folding begins with the call after it.
	written := len(g.calls) / 2
	foldStart := g.calls[written-1].end
	rest := g.calls[written:]
	rows, exact, _, _ := fold(t, rest, foldStart, false, 100000)
	want, wantCovers := foldByDefinition(rest, foldStart)
	// A folded call of a method below an exact one of the same method is not outermost.
	if diff := cmp.Diff(want, rows, cmp.AllowUnexported(row{})); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	var covers []int64
	var crossing []call
	var cover int64
	for _, w := range exact {
		kind, outcome := w[0]>>2&0xFFF, w[0]&3
		if kind == int64(eventlog.Cover) {
			cover = w[3]
			continue
		}
		covers = append(covers, cover)
		cover = 0
		crossing = append(crossing, call{w[1], w[2], uint64(w[0]) >> 16, int(outcome), 0})
	}
	if diff := cmp.Diff(wantCovers, covers); diff != "" {
		t.Errorf("covers (-want +got):\n%s", diff)
	}
	var wantCrossing []call
	for _, c := range rest {
		if c.start < foldStart {
			wantCrossing = append(wantCrossing, c)
		}
	}
	if len(wantCrossing) < 3 {
		t.Fatalf("only %d calls cross the beginning of folding", len(wantCrossing))
	}
	if diff := cmp.Diff(wantCrossing, crossing, cmp.AllowUnexported(call{})); diff != "" {
		t.Errorf("exact calls (-want +got):\n%s", diff)
	}
}

func TestVirtualThreadsNestApart(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	var threads [][]call
	for id := range int64(40) {
		g := &tree{random: random, methods: 4, thread: 100 + id, most: 100, now: random.Int64N(500)}
		g.grow(6)
		threads = append(threads, g.calls)
	}
	// The threads' calls arrive interleaved; each thread's own are in end order.
	var calls []call
	for len(threads) > 0 {
		i := random.IntN(len(threads))
		calls = append(calls, threads[i][0])
		if threads[i] = threads[i][1:]; len(threads[i]) == 0 {
			threads = slices.Delete(threads, i, i+1)
		}
	}
	rows, _, _, _ := fold(t, calls, math.MinInt64, true, 100000)
	want, _ := foldByDefinition(calls, math.MinInt64)
	if diff := cmp.Diff(want, rows, cmp.AllowUnexported(row{})); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func TestFoldingStaysBounded(t *testing.T) {
	t.Run("more unfinished siblings than are kept", func(t *testing.T) {
		// Nested callers whose starts lie within what has been merged meanwhile, each with thousands of leaves before it.
		var calls []call
		var open []int64
		now := int64(0)
		for range 20 {
			open = append(open, now)
			for range 3000 {
				calls = append(calls, call{start: now, end: now + 7, id: 1})
				now += 10
			}
		}
		for _, start := range slices.Backward(open) {
			calls = append(calls, call{start: start, end: now, id: 2})
			now += 5
		}
		rows, _, folded, _ := fold(t, calls, math.MinInt64, false, 100000)
		want, _ := foldByDefinitionFast(calls)
		if folded != int64(len(calls)) || rows[1].calls != 60000 || rows[1].self != want[1] || rows[1].approximate {
			t.Errorf("leaves: %+v, %d folded", rows[1], folded)
		}
		if !rows[2].approximate {
			t.Error("the callers' row is not marked as approximate")
		}
		if got := rows[1].self + rows[2].self; got != want[0] {
			t.Errorf("self times sum to %d, want %d: merging must conserve time", got, want[0])
		}
	})
	t.Run("more methods than rows", func(t *testing.T) {
		var calls []call
		for i := range int64(100) {
			calls = append(calls, call{start: 10 * i, end: 10*i + 5, id: uint64(i)})
		}
		calls = append(calls, call{start: 0, end: 1000, id: 3})
		rows, _, folded, dropped := fold(t, calls, math.MinInt64, false, 10)
		if len(rows) != 10 || folded != 11 || dropped != 90 {
			t.Errorf("%d rows, %d folded, %d dropped; want 10, 11, 90", len(rows), folded, dropped)
		}
		if want := int64(5 + 1000 - 100*5); rows[3].self != want {
			t.Errorf("self time %d, want %d: calls without a row still are children", rows[3].self, want)
		}
	})
}

// Where more siblings are unfinished than are kept, what a caller claims is an estimate; it must still be one that can be.
func TestEstimatesStayPossible(t *testing.T) {
	// Within a call that began before folding did: callers one after the other, each of which begins with a long call in the
	// midst of thousands of short ones.
	const foldStart = 100
	var calls []call
	now := int64(foldStart)
	leaf := func(length int64) {
		calls = append(calls, call{start: now, end: now + length, id: uint64(1 + len(calls)%3)})
		now += length
	}
	for i := range 12 {
		for range 1100 + i {
			leaf(10)
		}
		start := now
		leaf(1000000)
		for range 1400 {
			leaf(10)
		}
		calls = append(calls, call{start: start, end: now, id: 9})
	}
	calls = append(calls, call{start: 0, end: now, id: 10})
	rows, exact, _, _ := fold(t, calls, foldStart, false, 100000)
	if !rows[9].approximate {
		t.Error("nothing had to be estimated: the test is too small")
	}
	for id, r := range rows {
		if r.self < 0 || r.self > r.total {
			t.Errorf("method %d: self time %d of total %d", id, r.self, r.total)
		}
	}
	if len(exact) != 2 {
		t.Fatalf("%d exact records, want a cover and a call", len(exact))
	}
	if start, end, covered := exact[0][1], exact[0][2], exact[0][3]; covered < 0 || covered > end-start {
		t.Errorf("a cover of %d ns in a stretch of %d", covered, end-start)
	}
}

// foldByDefinitionFast returns [Σ self of all calls, Σ self of method 1] for the calls of the test above: leaves of 7 ns
// under callers that are nested in each other.
func foldByDefinitionFast(calls []call) (sums [2]int64, leaves int) {
	for _, c := range calls {
		if c.id == 1 {
			sums[1] += c.end - c.start
			leaves++
		}
	}
	outermost := calls[len(calls)-1]
	sums[0] = outermost.end - outermost.start
	return sums, leaves
}

func TestBucketsMatchReader(t *testing.T) {
	// Both sides compute buckets; the reader's are the ones reports are made with.
	var calls []call
	for shift := range 62 {
		for _, d := range []int64{1<<shift - 1, 1 << shift, 1<<shift + 1<<max(0, shift-2)} {
			calls = append(calls, call{start: 0, end: d, id: uint64(len(calls) + 1)})
		}
	}
	rows, _, _, _ := fold(t, calls, math.MinInt64, false, len(calls))
	for _, c := range calls {
		if got := rows[c.id].histogram[eventlog.Bucket(c.end)]; got != 1 {
			t.Errorf("a duration of %d ns is in buckets %v, want %d", c.end, rows[c.id].histogram, eventlog.Bucket(c.end))
		}
	}
}
