package collect

import "time"

// A run's samples start close together and spread out to the interval: what a
// thread did after its last sample can't be attributed to it any more, and that
// should be a small part of short runs too.
const (
	closest  = 50 * time.Millisecond // between the first samples
	youngest = 20                    // later ones are at most 1/20 of the run so far apart
	cheap    = 50                    // early samples may take 1/50 of the time
)

// schedule is the grid of sampling times after the start: the early points, up
// to where their distance has grown to the interval, then multiples of the
// interval. Deadlines are absolute, so that a late sample doesn't shift those
// after it.
type schedule struct {
	early    []time.Duration
	regular  time.Duration // the first point after the early ones
	interval time.Duration
	point    int // index of the next grid point
}

func newSchedule(interval time.Duration) *schedule {
	s := &schedule{interval: interval}
	for at, step := time.Duration(0), closest; step < interval; at += step {
		s.early = append(s.early, at)
		step = max(closest, (at / youngest).Truncate(time.Millisecond))
	}
	if n := len(s.early); n > 0 {
		s.regular = s.early[n-1].Truncate(interval) + interval
	}
	return s
}

func (s *schedule) at(point int) time.Duration {
	if point < len(s.early) {
		return s.early[point]
	}
	return s.regular + time.Duration(point-len(s.early))*s.interval
}

// next returns the next time to sample at, both times counted from the start,
// and how many grid points went by unsampled. A point is missed once the one
// after it is due as well; until then it is only late.
//
// cost is how long the last sample took. With thousands of threads early points
// are left out on purpose, which is not missing them; the interval that was
// asked for is kept at any cost.
func (s *schedule) next(now, cost time.Duration) (deadline time.Duration, missed int) {
	rested := now + (cheap-1)*cost
	for s.point < len(s.early) && s.at(s.point) < rested && s.at(s.point+1) <= now+s.interval {
		s.point++
	}
	for s.at(s.point+1) <= now {
		s.point++
		missed++
	}
	deadline = s.at(s.point)
	s.point++
	return deadline, missed
}
