package timeline

import (
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jiffyperf/jiffy/runtime-collector/eventlog"
	"github.com/jiffyperf/jiffy/runtime-collector/eventlog/eventlogtest"
	"github.com/jiffyperf/jiffy/runtime-collector/run"
)

const pid = 50

// theProcess began a tick after the system did, and base is long after: its
// counters don't begin at 0 with the run.
var theProcess = Process{PID: pid, StartTime: 1}

const base = int64(90e9)

// sample is a reading with schedstat.
func sample(mono int64, tid int, cpu int64) run.ThreadSample {
	return run.ThreadSample{Mono: mono, PID: pid, TID: tid, StartTime: 1, Comm: "worker", State: "S",
		Run: cpu, Wait: cpu / 2, Slices: cpu / 10}
}

func gone(mono int64, tid int) run.ThreadSample {
	return run.ThreadSample{Mono: mono, PID: pid, TID: tid, StartTime: 1, Exited: true}
}

// process is a reading of the process; it began before the run.
func processSample(mono, ticks int64) run.ProcessSample {
	return run.ProcessSample{Mono: mono, Boot: mono, PID: pid, StartTime: 1, UTime: ticks}
}

// The CPU of each sample interval is handed out by the self time in it, which is
// worked out here instant by instant.
func TestCPUEstimateAgreesWithBruteForce(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 4))
		events := randomCalls(r, base, base+200, 5)
		samples := []run.ThreadSample{sample(base+r.Int64N(50), 7, 1000)}
		for len(samples) < 6 {
			last := samples[len(samples)-1]
			samples = append(samples, sample(last.Mono+1+r.Int64N(60), 7, last.Run+r.Int64N(1000)))
		}
		w := eventlogtest.New()
		w.Pairing.Mono = base + 400
		w.Thread(eventlog.Thread{JavaID: 1, TID: 7, StartTime: 1, Name: "main"})
		writeChunks(r, w, 0, events)
		tl := build(t, Input{Start: base, Threads: samples, Logs: []Log{{Process: theProcess, Events: readLog(t, w)}}})

		want := map[uint64]int64{}
		for i := 1; i < len(samples); i++ {
			a, b := samples[i-1], samples[i]
			for id, self := range selfBetween(events, a.Mono, b.Mono) {
				want[id] += (b.Run - a.Run) * self / (b.Mono - a.Mono)
			}
		}
		got := map[uint64]int64{}
		for _, m := range tl.Methods {
			if m.CPU != 0 {
				got[m.ID] = m.CPU
			}
		}
		maps.DeleteFunc(want, func(_ uint64, cpu int64) bool { return cpu == 0 })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d: CPU (-want +got):\n%s", seed, diff)
		}
	}
}

// selfBetween counts the instants that each method was innermost.
func selfBetween(events []eventlog.Event, from, to int64) map[uint64]int64 {
	depth := depths(parents(events))
	self := map[uint64]int64{}
	for at := from; at < to; at++ {
		innermost := -1
		for i, e := range events {
			if e.Start <= at && at < e.End && (innermost < 0 || depth[i] > depth[innermost]) {
				innermost = i
			}
		}
		if innermost >= 0 {
			self[events[innermost].ID]++
		}
	}
	return self
}

func TestWindowsConserveCPU(t *testing.T) {
	var samples []run.ThreadSample
	var processes []run.ProcessSample
	r := rand.New(rand.NewPCG(1, 5))
	for i, cpu := int64(0), int64(0); i < 20; i++ {
		at := base + i*777_777_777
		samples = append(samples, sample(at, 7, cpu))
		processes = append(processes, processSample(at, cpu/10_000_000))
		cpu += r.Int64N(500_000_000)
	}
	tl := build(t, Input{Start: base, Window: 1e9, Threads: samples, Processes: processes})
	var cpu, wait, ns int64
	var jiffies float64
	for _, row := range tl.Threads {
		if row.Residual {
			cpu += row.CPU
			jiffies += row.UTime
			continue
		}
		cpu += row.CPU
		wait += row.Wait
		ns += row.Measured
	}
	last := samples[len(samples)-1]
	if want := processes[len(processes)-1].UTime * 10_000_000; cpu != want {
		t.Errorf("threads and residual use %d ns, the process %d", cpu, want)
	}
	if want := float64(processes[len(processes)-1].UTime); jiffies != want {
		t.Errorf("threads and residual use %v jiffies, the process %v", jiffies, want)
	}
	if wait != last.Wait {
		t.Errorf("waits sum to %d, want %d", wait, last.Wait)
	}
	if want := last.Mono - base; ns != want {
		t.Errorf("windows measure %d ns, want %d", ns, want)
	}
}

func TestStatus(t *testing.T) {
	const second = int64(1e9)
	ticks := func(at int64) uint64 { return uint64(at / 10_000_000) }
	at := func(s int64) int64 { return base + s*second }
	born := func(tid int, s int64) func(run.ThreadSample) run.ThreadSample {
		return func(x run.ThreadSample) run.ThreadSample {
			x.StartTime = ticks(at(s))
			return x
		}
	}
	late := born(3, 2)
	in := Input{Start: base, Window: second,
		Threads: []run.ThreadSample{
			sample(at(0), 1, 100), sample(at(1), 1, 200), sample(at(2), 1, 200), sample(at(3), 1, 200), sample(at(4), 1, 300),
			sample(at(0), 2, 100), sample(at(1), 2, 200), gone(at(2), 2),
			late(sample(at(3), 3, 70)), late(sample(at(4), 3, 90)),
		},
		Processes: []run.ProcessSample{processSample(at(0), 0), processSample(at(4), 0)},
	}
	got := map[int64][]Status{}
	cpu := map[int64]int64{}
	for _, row := range build(t, in).Threads {
		if !row.Residual {
			got[row.TID] = append(got[row.TID], row.Status)
			cpu[row.TID] += row.CPU
		}
	}
	want := map[int64][]Status{
		1: {Running, Idle, Idle, Running},
		2: {Running, Exited},
		3: {New, Running},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
	// Thread 3 began during the run: all its CPU counts. The others had some before.
	if diff := cmp.Diff(map[int64]int64{1: 200, 2: 100, 3: 90}, cpu); diff != "" {
		t.Errorf("CPU (-want +got):\n%s", diff)
	}
}

func TestATidUsedTwiceIsTwoThreads(t *testing.T) {
	first, second := sample(base, 7, 100), sample(base+2e9, 7, 5)
	second.StartTime = uint64((base + 1e9) / 10_000_000)
	threads := []run.ThreadSample{first, sample(base+1e9, 7, 400), second}
	processes := []run.ProcessSample{processSample(base, 0)}
	tl := build(t, Input{Start: base, Threads: threads, Processes: processes})
	var cpu []int64
	for _, row := range tl.Threads {
		cpu = append(cpu, row.CPU)
	}
	if diff := cmp.Diff([]int64{300, 5}, cpu); diff != "" {
		t.Errorf("CPU (-want +got):\n%s", diff)
	}
}

func TestTopMethodPerWindow(t *testing.T) {
	w := eventlogtest.New()
	w.Pairing.Mono = base + 200
	w.Thread(eventlog.Thread{JavaID: 1, TID: 7, StartTime: 1, Name: "main"})
	w.Events(0, ev(1, base, base+60), ev(2, base+60, base+100), ev(3, base+150, base+200))
	threads := []run.ThreadSample{sample(base, 7, 0), sample(base+50, 7, 500), sample(base+100, 7, 1000), sample(base+200, 7, 1400)}
	tl := build(t, Input{Start: base, Window: 100, Threads: threads,
		Logs: []Log{{Process: theProcess, Events: readLog(t, w)}}})
	type top struct {
		ID    uint64
		Share float64
	}
	var got []top
	for _, row := range tl.Threads {
		got = append(got, top{row.Top, row.TopShare})
	}
	if diff := cmp.Diff([]top{{1, 0.6}, {3, 0.5}}, got); diff != "" {
		t.Errorf("top methods (-want +got):\n%s", diff)
	}
}

func TestWithoutSamplesNothingIsMadeUp(t *testing.T) {
	w := eventlogtest.New()
	w.Thread(eventlog.Thread{JavaID: 1, Name: "main"})
	w.Events(0, ev(1, 0, 60), ev(2, 60, 100))
	tl := build(t, Input{Logs: []Log{{Process: theProcess, Events: readLog(t, w)}}})
	for _, m := range tl.Methods {
		if m.CPUKnown || m.ProbeCost != -1 || m.SelfNet != -1 {
			t.Errorf("method %d: CPU known %v, probe cost %d, self net %d", m.ID, m.CPUKnown, m.ProbeCost, m.SelfNet)
		}
	}
	if len(tl.Threads) != 1 || tl.Threads[0].Sampled || tl.Threads[0].Top != 1 || tl.Threads[0].TopShare != -1 {
		t.Errorf("threads: %+v", tl.Threads)
	}
}

func TestProcessPoints(t *testing.T) {
	samples := []run.ProcessSample{
		{Mono: base, Boot: base, PID: pid, StartTime: 1, UTime: 100, STime: 50},
		{Mono: base + 1e9, Boot: base + 3e9, PID: pid, StartTime: 1, UTime: 180, STime: 70, CUTime: 500},
		{Mono: base + 2e9, Boot: base + 4e9, PID: pid, StartTime: 1, UTime: 480, STime: 70},
	}
	points := build(t, Input{Start: base, Processes: samples}).Samples
	if _, ok := points[0].OneCorePct(100); ok {
		t.Error("the first sample has a rate")
	}
	if pct, _ := points[1].OneCorePct(100); pct != 100 {
		t.Errorf("%v %% of a core, want 100", pct)
	}
	if points[1].Suspended != 2e9 {
		t.Errorf("suspended %d ns, want 2e9", points[1].Suspended)
	}
	if points[1].Impossible(100, 1) || !points[2].Impossible(100, 2) || points[2].Impossible(100, 3) {
		t.Error("300 % of a core is impossible with two CPUs, and possible with three")
	}
}

func TestTooManyWindows(t *testing.T) {
	in := Input{HZ: 100, Start: base, Window: 1, Threads: []run.ThreadSample{sample(base, 7, 0), sample(base+1e10, 7, 1)}}
	if _, err := Build(t.Context(), in); err == nil || !strings.Contains(err.Error(), "10000000000 windows of 1ns in a run of 10s are too many") {
		t.Errorf("error %v", err)
	}
}
