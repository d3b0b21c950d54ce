package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// figures are what a rewriting program prints: lines of a name and a number.
type figures map[string]float64

func parseFigures(text string) (figures, error) {
	f := figures{}
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		x, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return nil, fmt.Errorf("line %q: %w", lines.Text(), err)
		}
		f[name] = x
	}
	return f, nil
}

// rewriting compares rewriting alone: classes in memory, one thread on one core.
func (b *bench) rewriting() error {
	jar, err := b.javaBase()
	if err != nil {
		return err
	}
	asm, err := b.asmHarness()
	if err != nil {
		return err
	}
	program := filepath.Join(b.dir, "rewrite")
	if _, err := output(exec.Command("go", "build", "-o", program, "./bench/rewrite")); err != nil {
		return err
	}
	var jiffyCold, jiffyWarm, asmCold, asmWarm spread
	var last [2]figures
	for range b.runs { // in turn, so that what else the machine does hits both
		java := pinned(b.jdk.Tool("java"), "-XX:+UseSerialGC", "-Xmx1g", "-cp", asm, "Rewrite", jar)
		for i, cmd := range []*exec.Cmd{pinned(program, jar), java} {
			cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
			text, err := output(cmd)
			if err != nil {
				return err
			}
			if last[i], err = parseFigures(text); err != nil {
				return err
			}
		}
		jiffyCold, jiffyWarm = append(jiffyCold, last[0]["cold_mb_s"]), append(jiffyWarm, last[0]["warm_mb_s"])
		asmCold, asmWarm = append(asmCold, last[1]["cold_mb_s"]), append(asmWarm, last[1]["warm_mb_s"])
	}
	b.table("Rewriting alone, one core, MB of class file per second", []string{"java.base", "jiffy", "ASM", "ratio", "aim"},
		[]string{"first pass of a new process", jiffyCold.String(), asmCold.String(), ratio(jiffyCold, asmCold), "5×"},
		[]string{"best pass, once it gets no faster", jiffyWarm.String(), asmWarm.String(), ratio(jiffyWarm, asmWarm), "2×"})
	fmt.Fprintf(b.out, "\n%.0f classes, %.1f MB. Methods with a probe: jiffy %.0f, ASM %.0f.\n",
		last[1]["classes"], last[1]["bytes"]/1e6, last[0]["methods"], last[1]["methods"])
	return nil
}

// process compares whole processes, from a jar to a jar of stored entries.
func (b *bench) process() error {
	jar, err := b.javaBase()
	if err != nil {
		return err
	}
	asm, err := b.asmHarness()
	if err != nil {
		return err
	}
	out := filepath.Join(b.dir, "out.jar")
	instrument := func(jobs int, verify bool) *exec.Cmd {
		return exec.Command(b.jiffy, "instrument", "-q", "--huge", "--compression", "store", fmt.Sprintf("--verify=%t", verify), "-j", strconv.Itoa(jobs), "-o", out, jar)
	}
	java := exec.Command(b.jdk.Tool("java"), "-cp", asm, "RewriteJar", jar, out)
	cores := runtime.NumCPU()
	variants := []struct {
		name, aim string
		cmd       *exec.Cmd
		ms        spread
	}{
		{"ASM, started cold", "", java, nil},
		{fmt.Sprintf("jiffy, %d workers, as it comes: what it wrote is verified", cores), "", instrument(cores, true), nil},
		{fmt.Sprintf("jiffy, %d workers, `--verify=false`", cores), "6×", instrument(cores, false), nil},
		{"jiffy, 1 worker, `--verify=false`", "", instrument(1, false), nil},
	}
	for range b.runs {
		for i := range variants {
			v := &variants[i]
			if err := os.RemoveAll(out); err != nil {
				return err
			}
			cmd := *v.cmd // a Cmd runs once
			start := time.Now()
			if _, err := output(&cmd); err != nil {
				return err
			}
			v.ms = append(v.ms, time.Since(start).Seconds()*1e3)
		}
	}
	var rows [][]string
	for _, v := range variants {
		rows = append(rows, []string{v.name, v.ms.String(), ratio(variants[0].ms, v.ms), v.aim})
	}
	b.table("Whole process, java.base, jar to jar, stored output", []string{"", "ms", "ratio to ASM", "aim"}, rows...)
	fmt.Fprintf(b.out, "\nThe ASM harness rewrites in one thread; its VM compiles and collects garbage on all cores. It verifies nothing, and writes no probe map.\n")
	return nil
}

// ratio says how many times the median of a is that of b.
func ratio(a, b spread) string {
	return fmt.Sprintf("%.1f×", a.median()/b.median())
}
