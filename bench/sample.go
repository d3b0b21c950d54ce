package main

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
)

// procfsBenchmark is the benchmark in runtime-collector/procfs that samples the threads of a process, with and without kept descriptors.
const procfsBenchmark = "BenchmarkThreadSample"

var benchmarkLine = regexp.MustCompile(`(?m)^` + procfsBenchmark + `/(\w+)\S*\s.*?\s([\d.]+) ns/thread.*?\s(\d+) allocs/op`)

// sample measures one thread's sample from /proc.
func (b *bench) sample() error {
	text, err := output(exec.Command("go", "test", "-run", "^$", "-bench", "^"+procfsBenchmark+"$", "-benchmem", "-count", strconv.Itoa(b.runs), "./runtime-collector/procfs"))
	if err != nil {
		return err
	}
	us, allocs := map[string]spread{}, map[string]spread{}
	for _, found := range benchmarkLine.FindAllStringSubmatch(text, -1) {
		ns, err := strconv.ParseFloat(found[2], 64)
		if err != nil {
			return err
		}
		n, err := strconv.ParseFloat(found[3], 64)
		if err != nil {
			return err
		}
		us[found[1]], allocs[found[1]] = append(us[found[1]], ns/1e3), append(allocs[found[1]], n)
	}
	kept, reopened := us["kept"], us["reopened"]
	if len(kept) == 0 || len(reopened) == 0 {
		return fmt.Errorf("%s printed no result:\n%s", procfsBenchmark, text)
	}
	b.table("One thread's sample from /proc: stat and schedstat", []string{"", "µs", "aim", "allocations"},
		[]string{"file descriptors kept", kept.String(), "≤ 5 µs", fmt.Sprint(allocs["kept"].median())},
		[]string{"opened anew each time", reopened.String(), "", fmt.Sprint(allocs["reopened"].median())})
	return nil
}
