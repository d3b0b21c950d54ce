package collect

import (
	"slices"
	"testing"
	"time"
)

// grid returns the first n deadlines of a sampler that is always in time.
func grid(interval time.Duration, n int) []time.Duration {
	s := newSchedule(interval)
	var now time.Duration
	var deadlines []time.Duration
	for range n {
		now, _ = s.next(now, 0)
		deadlines = append(deadlines, now)
	}
	return deadlines
}

const ms = time.Millisecond

func TestScheduleOfShortIntervalsIsRegular(t *testing.T) {
	for _, interval := range []time.Duration{ms, 10 * ms, 50 * ms} {
		for i, at := range grid(interval, 100) {
			if at != time.Duration(i)*interval {
				t.Errorf("interval %v: point %d at %v", interval, i, at)
			}
		}
	}
}

func TestScheduleSpreadsOutToTheInterval(t *testing.T) {
	for _, interval := range []time.Duration{70 * ms, 100 * ms, 333 * ms, time.Second, time.Minute} {
		points := grid(interval, 400)
		if points[0] != 0 || points[1] != closest {
			t.Errorf("interval %v: starts at %v, %v", interval, points[0], points[1])
		}
		for i, at := range points[1:] {
			before := points[i]
			step := at - before
			if step <= 0 || step > interval || step > max(closest, at/youngest) {
				t.Errorf("interval %v: a step of %v at %v", interval, step, before)
			}
			if at > youngest*interval+interval && (step != interval || at%interval != 0) {
				t.Errorf("interval %v: a step from %v to %v, long after the start", interval, before, at)
			}
		}
	}
}

func TestScheduleOfTheDefaultIntervalCostsFewSamples(t *testing.T) {
	points := grid(time.Second, 200)
	n := slices.IndexFunc(points, func(at time.Duration) bool { return at > 30*time.Second })
	if n < 40 || n > 100 {
		t.Errorf("%d samples in the first 30 s", n)
	}
}

func TestScheduleCountsMissedSamples(t *testing.T) {
	for _, c := range []struct {
		name     string
		now      time.Duration // after the sample at 100 s
		deadline time.Duration
		missed   int
	}{
		{"in time", 100_001 * ms, 101_000 * ms, 0},
		{"late, but nothing is lost yet", 101_900 * ms, 101_000 * ms, 0},
		{"one missed", 102_000 * ms, 102_000 * ms, 1},
		{"stopped for a while", 200_500 * ms, 200_000 * ms, 99},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSchedule(time.Second)
			for deadline := time.Duration(-1); deadline != 100*time.Second; {
				deadline, _ = s.next(max(deadline, 0), 0)
			}
			deadline, missed := s.next(c.now, 0)
			if deadline != c.deadline || missed != c.missed {
				t.Errorf("next at %v with %d missed, want %v with %d", deadline, missed, c.deadline, c.missed)
			}
			after, _ := s.next(c.now, 0)
			if after != c.deadline+time.Second {
				t.Errorf("the one after at %v, want %v: the grid must not shift", after, c.deadline+time.Second)
			}
		})
	}
}

func TestScheduleLeavesOutEarlySamplesThatCostTooMuch(t *testing.T) {
	for _, c := range []struct {
		cost              time.Duration // of every sample
		shortest, longest time.Duration // step in the first 10 s
	}{
		{ms / 10, 50 * ms, 500 * ms},
		{ms, 50 * ms, 500 * ms},
		{4 * ms, 196 * ms, 500 * ms},
		{30 * ms, 500 * ms, time.Second},
		{3 * time.Second, 500 * ms, time.Second}, // and every other one is missed
	} {
		s := newSchedule(time.Second)
		previous, _ := s.next(0, 0)
		for previous < 10*time.Second {
			end := previous + min(c.cost, 100*ms)
			at, missed := s.next(end, c.cost)
			if missed != 0 {
				t.Errorf("cost %v: %d missed at %v", c.cost, missed, at)
			}
			if step := at - previous; step < c.shortest || step > c.longest+min(c.cost, 100*ms) {
				t.Errorf("cost %v: a step of %v at %v, want %v to %v", c.cost, step, previous, c.shortest, c.longest)
			}
			previous = at
		}
	}
}
