package procfs

import (
	"os"
	"testing"
)

// Threads of this process come and go as fast as they can while it samples
// itself: reads of vanished files are everyday here.
func TestThreadsThatVanishWhileTheyAreRead(t *testing.T) {
	for name, budget := range budgets {
		t.Run(name, func(t *testing.T) {
			steady, end := namedThread("steady")
			defer close(end)
			done := make(chan bool)
			churned := make(chan int)
			go churn(done, churned)

			p := openProcess(t, os.Getpid(), budget())
			type life struct{ samples, exits int }
			lives := make(map[[2]uint64]life)
			const rounds = 300
			for range rounds {
				err := p.Threads(func(s *ThreadSample) {
					id := [2]uint64{uint64(s.TID), s.Starttime}
					l := lives[id]
					if s.Exited {
						l.exits++
					} else {
						l.samples++
					}
					lives[id] = l
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			close(done)
			if n := <-churned; n < 10 {
				t.Fatalf("only %d threads came and went", n)
			}
			exits := 0
			for id, l := range lives {
				exits += l.exits
				if l.exits > l.samples || l.samples == 0 {
					t.Errorf("thread %d with starttime %d: %d exits after %d samples", id[0], id[1], l.exits, l.samples)
				}
				if int(id[0]) == steady && (l.samples != rounds || l.exits != 0) {
					t.Errorf("the steady thread was sampled %d times in %d rounds, with %d exits", l.samples, rounds, l.exits)
				}
			}
			if exits == 0 {
				t.Error("no exit was seen")
			}
		})
	}
}

func churn(done chan bool, churned chan int) {
	for n := 0; ; n++ {
		select {
		case <-done:
			churned <- n
			return
		default:
			_, end := namedThread("short")
			close(end)
		}
	}
}
