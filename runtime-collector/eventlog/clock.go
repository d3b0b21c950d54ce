package eventlog

import "sort"

// Pairing holds three clocks read at one moment, in ns; -1 not known.
type Pairing struct {
	Mono, Boot, Wall int64
	// Uncertainty is the widest bracket of the three readings plus their
	// resolution, ns.
	Uncertainty int64
}

// Clocks converts the clocks of events to CLOCK_MONOTONIC.
//
// CLOCK_BOOTTIME runs ahead of CLOCK_MONOTONIC by the time the system was
// suspended, so their difference stays the same between two suspends. Pairings
// that agree within their uncertainty are therefore one step with one offset;
// the noise of single readings doesn't move events against each other. A suspend
// is put in the middle of what is left between the two pairings around it, so
// the conversion never turns time back.
type Clocks struct {
	steps []clockStep
}

type clockStep struct {
	from   int64 // first boottime the step is good for, ns
	offset int64 // boottime − monotonic, ns

	first, last int64 // boottimes of its first and last pairing, ns
}

// NewClocks makes a converter from pairings in the order of their time.
// Pairings without monotonic or boot time are left out.
func NewClocks(pairings []Pairing) *Clocks {
	c := &Clocks{}
	var low, high int64 // bounds of the current step's offset
	for _, p := range pairings {
		if p.Mono < 0 || p.Boot < 0 || p.Uncertainty < 0 {
			continue
		}
		offset := p.Boot - p.Mono
		l, h := offset-p.Uncertainty, offset+p.Uncertainty
		if n := len(c.steps); n > 0 && l <= high && h >= low {
			low, high = max(l, low), min(h, high)
			c.steps[n-1].last = p.Boot
		} else {
			low, high = l, h
			c.steps = append(c.steps, clockStep{first: p.Boot, last: p.Boot})
		}
		c.steps[len(c.steps)-1].offset = low + (high-low)/2
	}
	for i := 1; i < len(c.steps); i++ {
		before, after := &c.steps[i-1], &c.steps[i]
		slept := after.offset - before.offset
		after.from = before.last + (after.first-before.last-slept)/2 + slept
	}
	return c
}

// Known tells whether times of the clock can be converted.
func (c *Clocks) Known(clock Clock) bool {
	return !clock.Boottime() || len(c.steps) > 0
}

// Mono converts a time of an event's clock to CLOCK_MONOTONIC, ns. A time of a
// clock that isn't Known is returned as it is.
func (c *Clocks) Mono(clock Clock, t int64) int64 {
	if !clock.Boottime() || len(c.steps) == 0 {
		return t
	}
	next := sort.Search(len(c.steps)-1, func(i int) bool { return c.steps[i+1].from > t }) + 1
	mono := t - c.steps[next-1].offset
	if next < len(c.steps) {
		// Within the suspend CLOCK_MONOTONIC stood still.
		mono = min(mono, c.steps[next].from-c.steps[next].offset)
	}
	return mono
}
