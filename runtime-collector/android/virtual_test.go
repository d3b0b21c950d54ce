package android

import (
	"fmt"
	"testing"

	"github.com/jiffyperf/jiffy/runtime-collector/eventlog"
)

func TestVirtualThreads(t *testing.T) {
	const threads, rounds = 10000, 20
	j := jdkFrom(t, 21)
	classPath := programClasses(t, j, "testdata/virtual", "--release", "21")
	for _, options := range [][]string{nil, {"-Djiffy.quota=0"}, {"-Djiffy.buffer=64k"}, {"-Djdk.virtualThreadScheduler.parallelism=1"}} {
		t.Run(fmt.Sprint(options), func(t *testing.T) {
			r := run{jdk: j, program: "VirtualCounts", options: options, args: []string{fmt.Sprint(threads), fmt.Sprint(rounds)}}
			log := r.startWith(t, classPath).mustSucceed(t).open(t)
			log.want(t, 1, threads*rounds, 0)
			log.want(t, 2, 2*threads*rounds, threads*rounds)
			log.wantNothingLost(t)
			log.wantNested(t)
			for _, thread := range log.Threads {
				if thread.Flags&eventlog.Stripe == 0 && thread.Name != "main" {
					t.Errorf("a buffer of its own for thread %+v", thread)
				}
			}
			if len(log.Threads) > 17 {
				t.Errorf("%d buffers", len(log.Threads))
			}
		})
	}
}

// wantNested fails the test unless the exact calls of each virtual thread are those of the program: in end order, each
// call of method 1 around two of method 2.
func (r *recorded) wantNested(t *testing.T) {
	t.Helper()
	if r.Phase != nil {
		return
	}
	threads := map[int64]bool{}
	for _, stripe := range r.Threads {
		last := map[int64][]eventlog.Event{}
		c := r.Forward(stripe.Index)
		for e := c.Next(); e != nil; e = c.Next() {
			threads[e.JavaThread] = true
			last[e.JavaThread] = append(last[e.JavaThread], *e)
			if e.ID != 1 {
				continue
			}
			n := last[e.JavaThread]
			if len(n) != 3 || n[0].ID != 2 || n[1].ID != 2 || n[0].Start < e.Start || n[1].Start < n[0].End || n[1].End > e.End {
				t.Fatalf("virtual thread %d: calls %+v", e.JavaThread, n)
			}
			delete(last, e.JavaThread)
		}
	}
	if len(threads) != 10000 {
		t.Errorf("calls of %d virtual threads", len(threads))
	}
}
