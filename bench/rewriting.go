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
	instrument := func(jobs int) *exec.Cmd {
		return exec.Command(b.jiffy, "instrument", "-q", "--huge", "--compression", "store", "-j", strconv.Itoa(jobs), "-o", out, jar)
	}
	var one, all, java spread
	for range b.runs {
		for _, m := range []struct {
			cmd *exec.Cmd
			to  *spread
		}{
			{instrument(1), &one},
			{instrument(runtime.NumCPU()), &all},
			{exec.Command(b.jdk.Tool("java"), "-cp", asm, "RewriteJar", jar, out), &java},
		} {
			if err := os.RemoveAll(out); err != nil {
				return err
			}
			start := time.Now()
			if _, err := output(m.cmd); err != nil {
				return err
			}
			*m.to = append(*m.to, time.Since(start).Seconds()*1e3)
		}
	}
	b.table("Whole process, jar to jar, stored output, ms", []string{"java.base", "jiffy", "ASM, started cold", "ratio", "aim"},
		[]string{fmt.Sprintf("all cores (%d workers)", runtime.NumCPU()), all.String(), java.String(), ratio(java, all), "6×"},
		[]string{"one worker", one.String(), java.String(), ratio(java, one), ""})
	fmt.Fprintf(b.out, "\nThe ASM harness rewrites in one thread; its VM compiles and collects garbage on all cores.\n")
	return nil
}

// ratio says how many times the median of a is that of b.
func ratio(a, b spread) string {
	return fmt.Sprintf("%.1f×", a.median()/b.median())
}
