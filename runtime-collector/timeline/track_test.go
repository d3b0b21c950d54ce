package timeline

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jiffyperf/jiffy/runtime-collector/eventlog"
	"github.com/jiffyperf/jiffy/runtime-collector/eventlog/eventlogtest"
	"github.com/jiffyperf/jiffy/runtime-collector/run"
)

func named(comm string, samples ...run.ThreadSample) []run.ThreadSample {
	for i := range samples {
		samples[i].Comm = comm
	}
	return samples
}

func TestThreadsOfLogAndSamplesAreJoined(t *testing.T) {
	const at, later = base, base + 100
	reused := sample(later, 7, 500)
	reused.StartTime = uint64(base/10_000_000) + 1
	worker := eventlog.Thread{JavaID: 9, Name: "a worker with a long name"}
	known := func(tid, start int64) eventlog.Thread {
		k := worker
		k.TID, k.StartTime = tid, start
		return k
	}
	main := eventlog.Thread{JavaID: 1, Name: "main", Flags: eventlog.MainThread}
	tests := map[string]struct {
		thread  eventlog.Thread
		end     int64 // of its only call
		samples [][]run.ThreadSample
		want    int64 // tid; 0 not joined
	}{
		"by tid and start time": {known(7, 1), later,
			[][]run.ThreadSample{named("x", sample(at, 7, 0), reused)}, 7},
		"a tid with another start time": {known(7, 99), later,
			[][]run.ThreadSample{named("x", sample(at, 7, 0))}, 0},
		"a tid that was used twice": {known(7, 0), later,
			[][]run.ThreadSample{named("x", sample(at, 7, 0), reused)}, 0},
		"by the only name": {worker, later,
			[][]run.ThreadSample{named("a worker with a", sample(at, 7, 0)), named("another", sample(at, 8, 0))}, 7},
		"a name that two have": {worker, later,
			[][]run.ThreadSample{named("a worker with a", sample(at, 7, 0)), named("a worker with a", sample(at, 8, 0))}, 0},
		"a name of one that was gone": {worker, later,
			[][]run.ThreadSample{named("a worker with a", sample(at, 7, 0), gone(later-50, 7))}, 0},
		"the main thread, which isn't the process's first": {main, later,
			[][]run.ThreadSample{named("java", sample(at, pid, 0)), named("java", sample(at, pid+1, 0))}, pid + 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := eventlogtest.New()
			w.Pairing.Mono = base + 1000
			w.Thread(test.thread).Events(0, ev(1, test.end-10, test.end))
			in := Input{Start: base, Logs: []Log{{Process: theProcess, Events: readLog(t, w)}},
				Processes: []run.ProcessSample{processSample(base, 0), processSample(base+1000, 0)}}
			for _, s := range test.samples {
				in.Threads = append(in.Threads, s...)
			}
			tl := build(t, in)
			var joined []int64
			for _, row := range tl.Threads {
				if row.HasTop && row.Sampled {
					joined = append(joined, row.TID)
					if row.Name != test.thread.Name {
						t.Errorf("the joined thread is called %q", row.Name)
					}
				}
			}
			var want []int64
			if test.want != 0 {
				want = []int64{test.want}
			}
			if diff := cmp.Diff(want, joined); diff != "" {
				t.Errorf("tids (-want +got):\n%s", diff)
			}
		})
	}
}

// A thread of the log that recorded nothing still is a row.
func TestThreadsWithoutEventsStay(t *testing.T) {
	w := eventlogtest.New()
	w.Thread(eventlog.Thread{JavaID: 9, TID: 7, StartTime: 1, Name: "quiet"})
	tl := build(t, Input{Start: base, Logs: []Log{{Process: theProcess, Events: readLog(t, w)}},
		Threads: []run.ThreadSample{sample(base, 7, 0), sample(base+10, 7, 5)}})
	if len(tl.Threads) != 1 || tl.Threads[0].Name != "quiet" || tl.Threads[0].CPU != 5 {
		t.Errorf("threads: %+v", tl.Threads)
	}
}
