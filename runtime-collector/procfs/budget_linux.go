package procfs

import "golang.org/x/sys/unix"

// Budget bounds the descriptors that samplers keep open. Threads past it are
// sampled by open, read, close, which is slower but never fails for want of
// descriptors. A Budget may be shared by processes, not by goroutines.
type Budget struct {
	left int
}

// NewBudget returns a budget of n descriptors.
func NewBudget(n int) *Budget { return &Budget{left: n} }

// DefaultBudget returns what RLIMIT_NOFILE (getrlimit(2)) leaves to this
// process, less a reserve for everything else it opens.
//
// The soft limit already is the hard limit: the Go runtime raises it at start,
// and gives programs started by this process the limit it was born with.
// Raising it here by hand would switch that second half off.
func DefaultBudget() *Budget {
	const reserve, unlimited = 64, 1 << 20
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return NewBudget(0)
	}
	return NewBudget(max(0, int(min(limit.Cur, unlimited))-reserve))
}

// take reserves n descriptors, or none and returns false.
func (b *Budget) take(n int) bool {
	if b.left < n {
		return false
	}
	b.left -= n
	return true
}

func (b *Budget) giveBack(n int) { b.left += n }
