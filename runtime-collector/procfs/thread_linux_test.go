package procfs

import (
	"os"
	"sync/atomic"
	"testing"
)

// Threads of this process come and go as fast as they can while it samples
// itself: reads of vanished files are everyday here.
func TestThreadsThatVanishWhileTheyAreRead(t *testing.T) {
	for name, budget := range budgets {
		t.Run(name, func(t *testing.T) {
			steady, end := namedThread("steady")
			defer close(end)
			var churned atomic.Int64
			stop := churn(&churned)
			defer stop()

			p := openProcess(t, os.Getpid(), budget())
			type life struct{ samples, exits int }
			lives := make(map[[2]uint64]life)
			rounds, exits := 0, 0
			for ; rounds < 100 || churned.Load() < 20 || exits == 0; rounds++ {
				err := p.Threads(func(s *ThreadSample) {
					id := [2]uint64{uint64(s.TID), s.Starttime}
					l := lives[id]
					if s.Exited {
						l.exits++
						exits++
					} else {
						l.samples++
					}
					lives[id] = l
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			for id, l := range lives {
				if l.exits > l.samples || l.samples == 0 {
					t.Errorf("thread %d with starttime %d: %d exits after %d samples", id[0], id[1], l.exits, l.samples)
				}
				if int(id[0]) == steady && (l.samples != rounds || l.exits != 0) {
					t.Errorf("the steady thread was sampled %d times in %d rounds, with %d exits", l.samples, rounds, l.exits)
				}
			}
		})
	}
}

// churn starts and ends threads, and counts them, until it is stopped.
func churn(count *atomic.Int64) (stop func()) {
	done, ended := make(chan bool), make(chan bool)
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			default:
				_, end := namedThread("short")
				close(end)
				count.Add(1)
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}
