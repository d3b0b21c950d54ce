package timeline

import (
	"math"

	"github.com/DataDog/sketches-go/ddsketch"
	"github.com/DataDog/sketches-go/ddsketch/mapping"
	"github.com/DataDog/sketches-go/ddsketch/store"

	"github.com/jiffyperf/jiffy/runtime-collector/eventlog"
)

// Accuracy is the relative error of percentiles of exact calls. Those of folded
// calls come from buckets up to 12.5 % wide, whose middle is taken.
const Accuracy = 0.01

// Method is one method in one process. Times are ns.
type Method struct {
	Process int // index into Timeline.Processes
	ID      uint64

	Returned, Thrown, Suspended int64
	Total                       int64 // recursion once per outermost call
	Self                        int64 // without direct instrumented children
	Children                    int64 // direct instrumented children
	Sum                         int64 // of the durations of calls that completed
	Max                         int64 // longest call that completed
	Min                         int64 // shortest one; -1 none
	MainCalls                   int64 // completed calls on the main thread
	MainTotal                   int64
	MainMax                     int64
	CPU                         int64 // estimate; see CPUKnown
	// CPUKnown is set if at least one of the threads the method ran on has
	// samples.
	CPUKnown   bool
	SelfApprox bool // some folded self times are not exact

	// ProbeCost is what its probes cost, SelfNet the self time without it. Both
	// are -1 if the cost isn't known.
	ProbeCost, SelfNet int64

	durations *ddsketch.DDSketch

	// What follows is only used while one track is swept.
	active     int32 // open calls on the stack
	slice      int64 // self time in the current sample interval
	inSlice    bool
	windowCPU  int64
	windowSelf int64
	inWindow   bool
}

// Calls is the number of calls that completed.
func (m *Method) Calls() int64 { return m.Returned + m.Thrown }

// Entries is the number of times the method was entered.
func (m *Method) Entries() int64 { return m.Calls() + m.Suspended }

// Quantile returns a quantile of the durations of completed calls, ns: the
// shortest duration that at least that part of the calls did not exceed.
func (m *Method) Quantile(q float64) (int64, bool) {
	if m.durations == nil || m.durations.IsEmpty() {
		return 0, false
	}
	// The sketch's quantiles 0 … 1 are the first to the last value; the half
	// keeps rounding from falling short of the value that is meant.
	n := m.durations.GetCount()
	if rank := math.Ceil(q*n) - 1; rank+0.5 < n-1 {
		q = max(rank+0.5, 0) / (n - 1)
	} else {
		q = 1
	}
	v, err := m.durations.GetValueAtQuantile(q)
	if err != nil {
		return 0, false
	}
	return max(min(int64(math.Round(v)), m.Max), m.Min), true
}

func newSketch() *ddsketch.DDSketch {
	m, err := mapping.NewCubicallyInterpolatedMapping(Accuracy)
	if err != nil {
		panic(err) // only for an accuracy outside 0 … 1
	}
	return ddsketch.NewDDSketch(m, store.NewBufferedPaginatedStore(), store.NewBufferedPaginatedStore())
}

// record adds durations of completed calls to the distribution. The sketch
// refuses only what is outside of the range of durations.
func (m *Method) record(duration, count int64) {
	if m.durations == nil {
		m.durations = newSketch()
	}
	if count == 1 {
		_ = m.durations.Add(float64(duration))
		return
	}
	_ = m.durations.AddWithCount(float64(duration), float64(count))
}

func (m *Method) shortest(duration int64) {
	if m.Min < 0 || duration < m.Min {
		m.Min = duration
	}
}

// count adds one call.
func (m *Method) count(e *eventlog.Event, outermost, main bool) {
	duration := e.Duration()
	if outermost {
		m.Total += duration
		if main {
			m.MainTotal += duration
		}
	}
	switch e.Outcome {
	case eventlog.Suspended:
		m.Suspended++
		return
	case eventlog.Thrown:
		m.Thrown++
	default:
		m.Returned++
	}
	m.Sum += duration
	m.Max = max(m.Max, duration)
	m.shortest(duration)
	m.record(duration, 1)
	if main {
		m.MainCalls++
		m.MainMax = max(m.MainMax, duration)
	}
}

// fold adds the calls of a folded row.
func (m *Method) fold(r *eventlog.FoldRow, main bool) {
	m.Returned += r.Calls - r.Thrown
	m.Thrown += r.Thrown
	m.Suspended += r.Suspended
	m.Total += r.Total
	m.Self += r.Self
	m.Children += r.Children
	m.Max = max(m.Max, r.Max)
	m.SelfApprox = m.SelfApprox || r.SelfApprox
	for _, b := range r.Histogram {
		low, high := eventlog.Bounds(b.Bucket)
		middle := min(low+(high-low)/2, r.Max)
		m.Sum += middle * b.Count
		if b.Count > 0 {
			m.shortest(low)
			m.record(middle, b.Count)
		}
	}
	if main {
		m.MainCalls += r.Calls
		m.MainTotal += r.Total
		m.MainMax = max(m.MainMax, r.Max)
	}
}

// merge adds what another sweeper found for the same method.
func (m *Method) merge(o *Method) error {
	m.Returned += o.Returned
	m.Thrown += o.Thrown
	m.Suspended += o.Suspended
	m.Total += o.Total
	m.Self += o.Self
	m.Children += o.Children
	m.Sum += o.Sum
	m.Max = max(m.Max, o.Max)
	if o.Min >= 0 {
		m.shortest(o.Min)
	}
	m.MainCalls += o.MainCalls
	m.MainTotal += o.MainTotal
	m.MainMax = max(m.MainMax, o.MainMax)
	m.CPU += o.CPU
	m.CPUKnown = m.CPUKnown || o.CPUKnown
	m.SelfApprox = m.SelfApprox || o.SelfApprox
	if o.durations == nil {
		return nil
	}
	if m.durations == nil {
		m.durations = o.durations
		return nil
	}
	return m.durations.MergeWith(o.durations)
}

// charge works out what the probes cost. The part inside the measured duration
// is in the method's own self time once per entry; the rest of each direct
// child's pair lies outside the child's duration and so in this self time too.
func (m *Method) charge(c eventlog.Cost) {
	cost := float64(m.Entries())*c.InnerNS + float64(m.Children)*(c.PairNS-c.InnerNS)
	m.ProbeCost = int64(math.Round(cost))
	m.SelfNet = max(m.Self-m.ProbeCost, 0)
}

// merge takes over a sweeper's methods.
func (b *builder) merge(s *sweeper) error {
	type key struct {
		process int
		id      uint64
	}
	known := map[key]*Method{}
	for _, m := range b.Methods {
		known[key{m.Process, m.ID}] = m
	}
	for process, methods := range s.methods {
		for id, m := range methods {
			if k := known[key{process, id}]; k == nil {
				m.ProbeCost, m.SelfNet = -1, -1
				b.Methods = append(b.Methods, m)
			} else if err := k.merge(m); err != nil {
				return err
			}
		}
	}
	b.Events += s.events
	b.Bad += s.bad
	b.Overlaps += s.overlaps
	b.Inconvertible += s.inconvertible
	return nil
}
