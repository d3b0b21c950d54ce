package timeline

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/jiffyperf/jiffy/runtime-collector/eventlog"
	"github.com/jiffyperf/jiffy/runtime-collector/eventlog/eventlogtest"
	"github.com/jiffyperf/jiffy/runtime-collector/run"
)

// FuzzBuild makes timelines of logs whose checksums are right and whose contents
// needn't make sense.
func FuzzBuild(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 1))
	exact, folded := foldAt(randomCalls(r, base, base+300, 6), base+150)
	w := eventlogtest.New()
	w.Thread(eventlog.Thread{Index: 2, JavaID: 1, TID: 7, StartTime: 1, Flags: eventlog.MainThread, Name: "main"})
	w.Cost("start", 60, 20).Events(2, exact...)
	f.Add(w.Bytes())
	w.Fold(2, foldRows(folded, nil)...)
	w.Clock = eventlog.ElapsedRealtimeNanos
	w.Thread(eventlog.Thread{Index: 3, Flags: eventlog.Stripe}).Shared(3, exact...).End("snapshot")
	f.Add(w.Bytes())
	f.Fuzz(func(t *testing.T, log []byte) {
		log = eventlogtest.Seal(bytes.Clone(log))
		l, err := eventlog.Read("fuzz", bytes.NewReader(log), int64(len(log)))
		if err != nil {
			return
		}
		calls, err := NewCallSorter(t.TempDir(), ByThread)
		if err != nil {
			t.Fatal(err)
		}
		defer calls.Close()
		tl, err := Build(t.Context(), Input{
			Logs:    []Log{{Process: theProcess, Events: l, Folded: l}},
			Threads: []run.ThreadSample{sample(base, 7, 0), sample(base+100, 7, 50), sample(base+200, 7, 300)},
			Start:   base, HZ: 100, Calls: calls,
		})
		if err != nil {
			t.Fatal(err)
		}
		var cpu int64
		for _, m := range tl.Methods {
			m.Quantile(0.99)
			cpu += m.CPU
		}
		if cpu < 0 || cpu > 300 {
			t.Fatalf("methods have %d ns of CPU, the thread has 300", cpu)
		}
	})
}
