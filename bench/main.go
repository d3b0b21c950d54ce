// Command bench measures jiffy against what else does its work, side by side on one machine, and prints Markdown tables: the median of several
// runs with the smallest and the largest. `make bench` calls it from the repository's root.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/jiffyperf/jiffy/proof/jdk"
)

// A bench holds what all measurements need.
type bench struct {
	jdk     jdk.JDK
	runs    int    // of each measurement
	dir     string // for what is built and written meanwhile
	jiffy   string // the binary
	asm     string // class path of ASM
	jmh     string // class path of JMH
	runtime string // the in-app runtime's jar
	out     io.Writer
}

func main() {
	b := bench{out: os.Stdout}
	only := flag.String("only", "", "one of rewriting, process, probe, sample; all if empty")
	flag.IntVar(&b.runs, "runs", 5, "runs of each measurement")
	flag.StringVar(&b.dir, "dir", "build/bench", "working folder")
	flag.StringVar(&b.jiffy, "jiffy", "bin/jiffy", "jiffy's binary")
	flag.StringVar(&b.asm, "asm", "", "class path of ASM")
	flag.StringVar(&b.jmh, "jmh", "", "class path of JMH")
	flag.StringVar(&b.runtime, "runtime", "build/jiffy-runtime.jar", "jar of the in-app runtime")
	flag.Parse()
	if err := b.run(*only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func (b *bench) run(only string) error {
	jdks, err := jdk.Find()
	if err != nil {
		return err
	}
	b.jdk = jdks[0]
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return err
	}
	fmt.Fprintf(b.out, "Machine: %s.\nEach figure: the median of %d runs (smallest–largest).\n", machine(b.jdk), b.runs)
	parts := []struct {
		name    string
		measure func() error
	}{{"rewriting", b.rewriting}, {"process", b.process}, {"probe", b.probe}, {"sample", b.sample}}
	for _, part := range parts {
		if only != "" && only != part.name {
			continue
		}
		if err := part.measure(); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}

// table prints a Markdown table: a title, the header's cells, then rows.
func (b *bench) table(title string, header []string, rows ...[]string) {
	fmt.Fprintf(b.out, "\n## %s\n\n| %s |\n|%s\n", title, strings.Join(header, " | "), strings.Repeat("---|", len(header)))
	for _, row := range rows {
		fmt.Fprintf(b.out, "| %s |\n", strings.Join(row, " | "))
	}
}

// javaBase returns a jar of all classes of java.base, stored.
func (b *bench) javaBase() (string, error) {
	jar := filepath.Join(b.dir, fmt.Sprintf("java.base-%d.jar", b.jdk.Release))
	if _, err := os.Stat(jar); err == nil {
		return jar, nil
	}
	_, err := b.jdk.Run("java", "proof/testdata/ModuleJar.java", "java.base", jar)
	return jar, err
}

// asmHarness compiles the ASM harness and returns its class path.
func (b *bench) asmHarness() (string, error) {
	classes := filepath.Join(b.dir, "asm")
	err := b.jdk.Compile(classes, []string{"-Xlint:all", "-Werror", "--release", "17", "-cp", b.asm}, "bench/asm/src")
	return classes + string(filepath.ListSeparator) + b.asm, err
}

// pinned returns a command that runs on one core where taskset(1) is there to see to it.
func pinned(name string, args ...string) *exec.Cmd {
	if taskset, err := exec.LookPath("taskset"); err == nil {
		return exec.Command(taskset, append([]string{"-c", "0", name}, args...)...)
	}
	return exec.Command(name, args...)
}

// output runs a command and returns its standard output; the error holds its standard error.
func output(cmd *exec.Cmd) (string, error) {
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, stderr.String())
	}
	return stdout.String(), nil
}
