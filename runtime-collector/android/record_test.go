package android

import (
	"fmt"
	"testing"
)

func TestEveryCallIsCounted(t *testing.T) {
	const threads, rounds = 8, 250000 // a million events on each thread
	tests := []struct {
		name    string
		options []string
		folded  bool
	}{
		{"all exact", []string{"-Djiffy.buffer=1g"}, false},
		{"past the disk quota", []string{"-Djiffy.buffer=1g", "-Djiffy.quota=8m"}, true},
		{"past the memory bound", []string{"-Djiffy.buffer=256k"}, true},
		{"without room for a single block", []string{"-Djiffy.buffer=0"}, true},
		{"without disk quota", []string{"-Djiffy.quota=0"}, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			log := run{program: "Counts", options: test.options, args: []string{fmt.Sprint(threads), fmt.Sprint(rounds)}}.start(t).mustSucceed(t).open(t)
			log.want(t, 1, threads*rounds, 0)
			log.want(t, 2, 2*threads*rounds, threads*rounds)
			log.want(t, 3, threads*rounds, 0)
			log.want(t, 4, threads, 0)
			log.wantNothingLost(t)
			if folded := log.Phase != nil; folded != test.folded {
				t.Errorf("folded: %v, want %v", folded, test.folded)
			}
			if log.End == nil || log.End.Reason != "shutdown" {
				t.Errorf("end is %+v, want one for shutdown", log.End)
			}
			log.wantTimeConserved(t, 4)
		})
	}
}

// wantTimeConserved fails the test unless the self times of all methods sum to the outermost calls' durations: those of
// the method in which each thread spends its life.
func (r *recorded) wantTimeConserved(t testing.TB, outermost uint64) {
	t.Helper()
	var self int64
	for _, m := range []map[uint64]*tally{r.exact, r.folds} {
		for _, f := range m {
			self += f.self
		}
	}
	if total := r.all(outermost).total; self != total {
		t.Errorf("self times sum to %d ns, outermost calls to %d", self, total)
	}
	if r.approx > 0 {
		t.Errorf("%d folded rows are approximate", r.approx)
	}
}
