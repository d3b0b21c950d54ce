// Command rewrite times jiffy's methods probe over the classes of a jar, held in memory, in one goroutine.
//
// It prints what bench/asm's Rewrite prints, by the same rules: lines of a name and a number.
package main

import (
	"archive/zip"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jiffyperf/jiffy/instrument/probe"
)

const mostPasses = 100

// everything is a matcher that selects all methods.
type everything struct{}

func (everything) MatchClass([]byte) (all, some bool)       { return true, true }
func (everything) MatchMethod(class, method, _ []byte) bool { return true }

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: rewrite JAR")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "rewrite:", err)
		os.Exit(1)
	}
}

func run(jar string) error {
	classes, err := read(jar)
	if err != nil {
		return err
	}
	size := 0
	for _, class := range classes {
		size += len(class)
	}
	instrumenter := probe.New(probe.Options{Huge: true, Match: everything{}})
	var passes []time.Duration
	var methods, failed int
	for len(passes) < mostPasses && gettingFaster(passes) {
		start := time.Now()
		methods, failed = pass(instrumenter, classes)
		passes = append(passes, time.Since(start))
	}
	fmt.Printf("classes %d\nmethods %d\nbytes %d\nfailed %d\npasses %d\n", len(classes), methods, size, failed, len(passes))
	fmt.Printf("cold_mb_s %.2f\nwarm_mb_s %.2f\n", megabytesPerSecond(size, passes[0]), megabytesPerSecond(size, slices.Min(passes)))
	return nil
}

// pass rewrites all classes once. Returns the methods that got a probe, and the classes that could not be read.
func pass(instrumenter *probe.Instrumenter, classes [][]byte) (methods, failed int) {
	for _, class := range classes {
		result, err := instrumenter.Class(class)
		if err != nil {
			failed++
		}
		methods += len(result.Probes)
	}
	return methods, failed
}

// gettingFaster reports whether the best of the last five passes is at least 2 % faster than the best before them.
func gettingFaster(passes []time.Duration) bool {
	n := len(passes)
	return n < 10 || float64(slices.Min(passes[n-5:])) < 0.98*float64(slices.Min(passes[:n-5]))
}

func megabytesPerSecond(bytes int, d time.Duration) float64 {
	return float64(bytes) / 1e6 / d.Seconds()
}

func read(jar string) ([][]byte, error) {
	in, err := zip.OpenReader(jar)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var classes [][]byte
	for _, entry := range in.File {
		if !strings.HasSuffix(entry.Name, ".class") {
			continue
		}
		from, err := entry.Open()
		if err != nil {
			return nil, err
		}
		class, err := io.ReadAll(from)
		from.Close()
		if err != nil {
			return nil, fmt.Errorf("%s!%s: %w", jar, entry.Name, err)
		}
		classes = append(classes, class)
	}
	return classes, nil
}
