package timeline

import "github.com/jiffyperf/jiffy/runtime-collector/run"

// ProcessPoint is one sample of a process with what follows from it. The first
// sample of a process has no interval, so its relative figures are unknown.
type ProcessPoint struct {
	Process int // index into Timeline.Processes
	Sample  run.ProcessSample
	T       int64 // since the start of the run, ns

	CPUSeconds  float64 // since the process began
	Lived       float64 // seconds the process has existed, suspends included
	Interval    int64   // since the sample before, ns; 0 the first
	Suspended   int64   // of that interval, ns of CLOCK_BOOTTIME
	IntervalCPU int64   // ticks in it
}

// processPoints works out the points of all samples.
func (b *builder) processPoints() []ProcessPoint {
	points := make([]ProcessPoint, 0, len(b.in.Processes))
	last := map[int]run.ProcessSample{}
	hz := float64(b.HZ)
	for _, s := range b.in.Processes {
		id := b.process(Process{PID: s.PID, StartTime: s.StartTime})
		p := ProcessPoint{
			Process:    id,
			Sample:     s,
			T:          s.Mono - b.Start,
			CPUSeconds: float64(s.UTime+s.STime) / hz,
			Lived:      float64(s.Boot)/1e9 - float64(s.StartTime)/hz,
		}
		if before, ok := last[id]; ok && s.Mono > before.Mono {
			p.Interval = s.Mono - before.Mono
			p.Suspended = max(s.Boot-before.Boot-p.Interval, 0)
			p.IntervalCPU = s.UTime + s.STime - before.UTime - before.STime
		}
		last[id] = s
		points = append(points, p)
	}
	return points
}

// OneCorePct is the CPU time of the interval in percent of one CPU; false for
// the first sample.
func (p *ProcessPoint) OneCorePct(hz int64) (float64, bool) {
	if p.Interval <= 0 {
		return 0, false
	}
	return 100 * float64(p.IntervalCPU) / float64(hz) / (float64(p.Interval) / 1e9), true
}

// Impossible tells whether the interval has more CPU time than the device has
// CPUs for, by more than the two ticks that reading can be off.
func (p *ProcessPoint) Impossible(hz, cpus int64) bool {
	pct, ok := p.OneCorePct(hz)
	if !ok || cpus <= 0 {
		return false
	}
	tolerance := 100 * 2 / float64(hz) / (float64(p.Interval) / 1e9)
	return pct > 100*float64(cpus)+tolerance
}
