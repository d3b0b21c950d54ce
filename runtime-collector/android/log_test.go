package android

import (
	"path/filepath"
	"testing"

	"github.com/jiffyperf/jiffy/runtime-collector/eventlog"
)

// tally is what a log says of one method.
type tally struct {
	calls, thrown, suspended int64
	total, self              int64 // ns; total as the sum of durations
}

// recorded is a process's log, read and summed up.
type recorded struct {
	*eventlog.Log
	folded  *eventlog.Log // nil if nothing was folded
	exact   map[uint64]*tally
	folds   map[uint64]*tally // total: recursion once
	rooted  int64             // ns: Σ durations of exact calls that no exact call of their thread encloses
	approx  int               // folded rows that are approximate
	covered int64             // ns, in covers
}

// open reads the only log of a run.
func (r result) open(t testing.TB) *recorded {
	t.Helper()
	all := r.openAll(t)
	if len(all) != 1 {
		t.Fatalf("%d logs in the directory, want 1; stderr:\n%s", len(all), r.stderr)
	}
	return all[0]
}

// openAll reads all logs of a run. They have no damage but a torn tail.
func (r result) openAll(t testing.TB) []*recorded {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(r.dir, "events-*.jiffy"))
	if err != nil {
		t.Fatal(err)
	}
	var all []*recorded
	for _, path := range paths {
		all = append(all, read(t, path))
	}
	return all
}

func read(t testing.TB, path string) *recorded {
	t.Helper()
	l, err := eventlog.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if len(l.Damage) > 0 || l.Missing > 0 {
		t.Errorf("%s: damage %v, %d chunks missing", path, l.Damage, l.Missing)
	}
	r := &recorded{Log: l, exact: map[uint64]*tally{}, folds: map[uint64]*tally{}}
	for _, thread := range l.Threads {
		r.sumUp(t, thread)
	}
	slots, err := filepath.Glob(filepath.Join(filepath.Dir(path), "folded-"+filepath.Base(path)[len("events-"):len(filepath.Base(path))-len(".jiffy")]+"-*.jiffy"))
	if err != nil {
		t.Fatal(err)
	}
	if r.folded, err = eventlog.OpenSnapshot(slots...); err != nil {
		t.Fatal(err)
	}
	if r.folded != nil {
		t.Cleanup(func() { r.folded.Close() })
		r.sumUpFolds(t)
	}
	return r
}

// sumUp adds a thread's exact calls. Their nesting is computed with a stack of those no caller has claimed.
func (r *recorded) sumUp(t testing.TB, thread eventlog.Thread) {
	stacks := map[int64][]eventlog.Event{}
	c := r.Forward(thread.Index)
	for e := c.Next(); e != nil; e = c.Next() {
		stack := stacks[e.JavaThread]
		if e.Kind == eventlog.Cover {
			r.covered += e.Covered
			stacks[e.JavaThread] = append(stack, *e)
			continue
		}
		self := e.Duration()
		for len(stack) > 0 && e.Duration() > 0 && stack[len(stack)-1].Start >= e.Start {
			child := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if child.Kind == eventlog.Cover {
				self -= child.Covered
			} else {
				self -= child.Duration()
			}
		}
		stacks[e.JavaThread] = append(stack, *e)
		of(r.exact, e.ID).add(e.Outcome, 1, e.Duration(), self)
	}
	if c.Err() != nil || c.Bad() > 0 {
		t.Errorf("%s, thread %q: %d bad records, error %v", r.Path, thread.Name, c.Bad(), c.Err())
	}
	for _, stack := range stacks {
		for _, e := range stack {
			r.rooted += e.Duration()
		}
	}
}

func (r *recorded) sumUpFolds(t testing.TB) {
	for _, thread := range r.folded.Threads {
		for row, err := range r.folded.Folded(thread.Index) {
			if err != nil {
				t.Fatal(err)
			}
			r.sumUpFold(t, row)
		}
	}
}

func (r *recorded) sumUpFold(t testing.TB, row *eventlog.FoldRow) {
	f := of(r.folds, row.ID)
	f.calls += row.Calls
	f.thrown += row.Thrown
	f.suspended += row.Suspended
	f.total += row.Total
	f.self += row.Self
	if row.SelfApprox {
		r.approx++
	}
	var counted int64
	for _, b := range row.Histogram {
		counted += b.Count
	}
	if counted != row.Calls {
		t.Errorf("method %d: histogram holds %d calls, row %d", row.ID, counted, row.Calls)
	}
}

func of(m map[uint64]*tally, id uint64) *tally {
	if m[id] == nil {
		m[id] = &tally{}
	}
	return m[id]
}

func (f *tally) add(o eventlog.Outcome, n, total, self int64) {
	switch o {
	case eventlog.Suspended:
		f.suspended += n
	case eventlog.Thrown:
		f.thrown += n
		f.calls += n
	default:
		f.calls += n
	}
	f.total += total
	f.self += self
}

// all is a method's exact and folded calls together.
func (r *recorded) all(id uint64) tally {
	a, b := of(r.exact, id), of(r.folds, id)
	return tally{a.calls + b.calls, a.thrown + b.thrown, a.suspended + b.suspended, a.total + b.total, a.self + b.self}
}

// want fails the test unless the log holds exactly so many completed calls of a method, of which so many threw.
func (r *recorded) want(t testing.TB, id uint64, calls, thrown int64) {
	t.Helper()
	if got := r.all(id); got.calls != calls || got.thrown != thrown {
		t.Errorf("method %d: %d calls, %d thrown; want %d, %d", id, got.calls, got.thrown, calls, thrown)
	}
}

// wantNothingLost fails the test if the runtime says that it dropped events, or counts them differently than the reader.
func (r *recorded) wantNothingLost(t testing.TB) {
	t.Helper()
	if r.Counters.Dropped != 0 {
		t.Errorf("%d events dropped", r.Counters.Dropped)
	}
	var n int64
	for _, m := range []map[uint64]*tally{r.exact, r.folds} {
		for _, f := range m {
			n += f.calls + f.suspended
		}
	}
	if r.Counters.Events != n {
		t.Errorf("counter events is %d, the log holds %d", r.Counters.Events, n)
	}
}

// thread returns the log's threads of a name.
func (r *recorded) threads(name string) []eventlog.Thread {
	var found []eventlog.Thread
	for _, t := range r.Threads {
		if t.Name == name {
			found = append(found, t)
		}
	}
	return found
}
