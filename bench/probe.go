package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/jiffyperf/jiffy/runtime-collector/eventlog"
)

// A jmhResult is what is read of JMH's JSON, for one benchmark.
type jmhResult struct {
	Benchmark     string
	PrimaryMetric struct {
		RawData [][]float64 // by fork, by iteration; ns per call
	}
}

// quotas are the two ways in which an event ends: in the log, or folded into an aggregate.
var quotas = []struct{ name, quota string }{{"events to the log", "64g"}, {"folded, past the quota", "0"}}

// probe measures what a probed call costs, next to two bare clock reads, and what it allocates.
func (b *bench) probe() error {
	classes := filepath.Join(b.dir, "probe")
	path := strings.Join([]string{classes, b.runtime, b.jmh}, string(filepath.ListSeparator))
	flags := []string{"--release", "17", "-cp", path, "-processor", "org.openjdk.jmh.generators.BenchmarkProcessor"}
	if err := b.jdk.Compile(classes, flags, "bench/probe/src"); err != nil {
		return err
	}
	var rows [][]string
	for _, q := range quotas {
		costs := map[string]spread{}
		var events fate
		for range b.runs {
			if err := b.jmhFork(path, q.quota, costs, &events); err != nil {
				return err
			}
		}
		allocated, err := b.allocated(path, q.quota)
		if err != nil {
			return err
		}
		call, clocks, probe := costs["call"], costs["twoClockReads"], costs["probe"]
		rows = append(rows, []string{q.name, probe.String(), clocks.String(), call.String(), ratio(probe, clocks), "≤ 1.5×", events.folded.String(), events.dropped.String(), allocated})
	}
	b.table("The probe's cost, ns per call", []string{"", "call with a probe", "call with two clock reads", "bare call", "ratio", "aim", "events folded, %", "dropped, per million", "bytes the thread allocates per call"}, rows...)
	return nil
}

// jmhFork runs the benchmarks in one VM each, and adds the median of its iterations to costs, by method name.
func (b *bench) jmhFork(path, quota string, costs map[string]spread, events *fate) error {
	file := filepath.Join(b.dir, "jmh.json")
	for _, method := range []string{"call", "twoClockReads", "probe"} {
		log, err := os.MkdirTemp(memoryDir(b.dir), "jiffy-bench")
		if err != nil {
			return err
		}
		defer os.RemoveAll(log)
		_, err = b.jdk.Run("java", "-cp", path, "org.openjdk.jmh.Main", "-f", "1", "-wi", "4", "-w", "500ms", "-i", "6", "-r", "250ms",
			"-rf", "json", "-rff", file, "-jvmArgs", "-Djiffy.log="+log+" -Djiffy.quota="+quota, "bench.ProbeCost."+method+"$")
		if err != nil {
			return err
		}
		results, err := readJMH(file)
		if err != nil {
			return err
		}
		for _, r := range results {
			costs[method] = append(costs[method], spread(r.PrimaryMetric.RawData[0]).median())
		}
		if method == "probe" {
			if err := events.add(log); err != nil {
				return err
			}
		}
		os.RemoveAll(log) // it may be large
	}
	return nil
}

func readJMH(file string) ([]jmhResult, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var results []jmhResult
	if err := json.Unmarshal(data, &results); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(results) == 0 {
		return nil, fmt.Errorf("%s: JMH has run nothing", file)
	}
	return results, nil
}

// A fate is what became of the events of several runs: it shows which of the two ways was measured.
type fate struct {
	folded  spread // %
	dropped spread // per million
}

// add adds the fate of one run's events.
func (f *fate) add(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "events-*.jiffy"))
	if err != nil {
		return err
	}
	if len(files) != 1 {
		return fmt.Errorf("%s: %d event logs, want 1", dir, len(files))
	}
	log, err := eventlog.Open(files[0])
	if err != nil {
		return err
	}
	defer log.Close()
	c := log.Counters
	if c.Events == 0 {
		return fmt.Errorf("%s holds no events", files[0])
	}
	events := float64(c.Events + c.Dropped)
	f.folded = append(f.folded, 100*float64(c.Folded)/events)
	f.dropped = append(f.dropped, 1e6*float64(c.Dropped)/events)
	return nil
}

// allocated returns the bytes that a thread allocates per probed call.
func (b *bench) allocated(path, quota string) (string, error) {
	log, err := os.MkdirTemp(memoryDir(b.dir), "jiffy-bench")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(log)
	text, err := b.jdk.Run("java", "-Djiffy.log="+log, "-Djiffy.quota="+quota, "-cp", path, "bench.AllocatedBytes")
	if err != nil {
		return "", err
	}
	f, err := parseFigures(text)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%.6f", f["bytes"]/f["calls"]), nil
}

// memoryDir returns a folder on a file system in memory if there is one, so that the disk is not what is measured.
func memoryDir(otherwise string) string {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		return "/dev/shm"
	}
	return otherwise
}
