package timeline

import (
	"math/rand/v2"
	"testing"

	"github.com/jiffyperf/jiffy/runtime-collector/eventlog"
	"github.com/jiffyperf/jiffy/runtime-collector/eventlog/eventlogtest"
)

// BenchmarkBuild reads a million calls of 500 methods on four threads.
func BenchmarkBuild(b *testing.B) {
	const threads, callsPerThread = 4, 250_000
	r := rand.New(rand.NewPCG(1, 9))
	w := eventlogtest.New()
	for index := range uint32(threads) {
		w.Thread(eventlog.Thread{Index: index, JavaID: int64(index) + 1, Name: "worker"})
		at := int64(1000)
		var events []eventlog.Event
		for n := 0; n < callsPerThread; n += 5 {
			start := at
			for range 4 {
				s := at + r.Int64N(1000)
				at = s + r.Int64N(5000)
				events = append(events, ev(1+r.Uint64N(500), s, at))
			}
			at += 100
			events = append(events, ev(1+r.Uint64N(500), start, at))
			if len(events) >= 8000 {
				w.Events(index, events...)
				events = events[:0]
			}
		}
		w.Events(index, events...)
	}
	in := Input{HZ: 100, Logs: []Log{{Events: readLog(b, w)}}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Build(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(threads*callsPerThread), "ns/call")
}
