package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jiffyperf/jiffy/instrument"
	"github.com/jiffyperf/jiffy/instrument/archive"
	"github.com/jiffyperf/jiffy/instrument/probe"
	"github.com/jiffyperf/jiffy/instrument/rules"
	"github.com/jiffyperf/jiffy/runtime-collector/android"
)

// instrumentFlags are the flags of `jiffy instrument`: those that the configuration file has, too, and the others.
type instrumentFlags struct {
	rules.Config
	file    string // the configuration
	output  string
	changed string
	explain string
	verify  bool
	quiet   bool
}

func newInstrumentCommand() *cobra.Command {
	var flags instrumentFlags
	cmd := &cobra.Command{
		Use:   "instrument [flags] -o OUT INPUT...",
		Short: "Put probes into classes",
		Long: `Put a probe into every method that the patterns select, so that each call is recorded with its duration.

INPUT is a jar, a directory of classes or a single class. OUT is a jar if its name ends in .jar, else a
directory. Methods and classes that can't be changed safely stay as they are and are listed. The probe map,
which says what the ids in an event log stand for, travels in OUT as META-INF/jiffy/probes-*.csv.

Patterns: com.acme.Foo (with its nested classes), com.acme.* (one package), com.acme.** (and all below),
com.acme.Foo#bar, com.acme.Foo#bar(I)V, **#on*. Without --include everything matches; --exclude wins.`,
		Example: `  jiffy instrument --include 'com.acme.**' --runtime -o app-timed.jar app.jar
  jiffy instrument -c jiffy.yaml -o build/timed build/classes`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.configure(cmd); err != nil {
				return usageError(err)
			}
			return flags.run(cmd, args)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&flags.output, "output", "o", "", "the jar or directory `OUT` to write")
	f.StringVarP(&flags.file, "config", "c", "", "YAML `FILE` with the same keys as these flags; flags win")
	f.StringSliceVar((*[]string)(&flags.Probe), "probe", []string{"methods"}, "which `PROBES` to put in: methods")
	f.StringArrayVar((*[]string)(&flags.Include), "include", nil, "`PATTERN` of what to instrument; may be repeated (default all)")
	f.StringArrayVar((*[]string)(&flags.Exclude), "exclude", nil, "`PATTERN` of what to leave alone; may be repeated")
	f.StringVar(&flags.Clock, "clock", "auto", "`CLOCK` to read: auto, elapsedRealtimeNanos, elapsedRealtime, nanoTime")
	f.StringVar(&flags.Exits, "exits", "all", "which `EXITS` to record: all, or normal, without those by exceptions")
	f.StringVar(&flags.IDSalt, "id-salt", "", "any `TEXT`; changes all probe ids, should two of them collide")
	f.BoolVar(&flags.Huge, "huge", false, "also methods that would cross 8,000 bytes, which HotSpot then doesn't compile")
	f.BoolVar(&flags.SkipTrivial, "skip-trivial", false, "leave getters, setters and empty bodies alone")
	f.BoolVar(&flags.verify, "verify", true, "check every rewritten method before it is written; one that fails stays as it was")
	f.BoolVar(&flags.Runtime, "runtime", false, "add the runtime's classes to OUT, so that it runs by itself")
	f.StringVar(&flags.Compression, "compression", "keep", "`MODE` of changed classes in a jar: keep (as they were), store, deflate")
	f.StringVar(&flags.Mapping, "mapping", "", "also write the probe map to `FILE`")
	f.StringVar(&flags.Report, "report", "", "write a CSV row for each class and method to `FILE`: what was inserted, or why not, sizes, time")
	f.StringVar(&flags.changed, "changed", "", "read only what `FILE` lists: lines \"added PATH\", \"modified PATH\", \"removed PATH\"; OUT is a directory")
	f.StringVar(&flags.explain, "explain", "", "write no output, but show `CLASS#METHOD` before and after side by side, or why it is left alone")
	f.IntVarP(&flags.Jobs, "jobs", "j", 0, "work on `N` classes at a time (default one for each CPU)")
	f.BoolVarP(&flags.quiet, "quiet", "q", false, "print nothing but warnings and errors")
	return cmd
}

// configure reads the configuration file and takes from it what was not given as a flag.
func (f *instrumentFlags) configure(cmd *cobra.Command) error {
	if f.file == "" {
		return nil
	}
	c, err := rules.LoadConfig(f.file)
	if err != nil {
		return err
	}
	given := cmd.Flags().Changed
	take(&f.Probe, c.Probe, given("probe") || c.Probe == nil)
	take(&f.Include, c.Include, given("include"))
	take(&f.Exclude, c.Exclude, given("exclude"))
	take(&f.Clock, c.Clock, given("clock") || c.Clock == "")
	take(&f.Exits, c.Exits, given("exits") || c.Exits == "")
	take(&f.IDSalt, c.IDSalt, given("id-salt"))
	take(&f.Huge, c.Huge, given("huge"))
	take(&f.SkipTrivial, c.SkipTrivial, given("skip-trivial"))
	take(&f.verify, c.Verify == nil || *c.Verify, given("verify"))
	take(&f.Runtime, c.Runtime, given("runtime"))
	take(&f.Compression, c.Compression, given("compression") || c.Compression == "")
	take(&f.Mapping, c.Mapping, given("mapping"))
	take(&f.Report, c.Report, given("report"))
	take(&f.Jobs, c.Jobs, given("jobs"))
	return nil
}

// take sets to, unless it is to keep its value.
func take[T any](to *T, value T, keep bool) {
	if !keep {
		*to = value
	}
}

// options checks the flags. Its errors are the caller's.
func (f *instrumentFlags) options(inputs []string) (o instrument.Options, err error) {
	o = instrument.Options{
		Inputs: inputs, Output: f.output, Salt: f.IDSalt, Huge: f.Huge, SkipTrivial: f.SkipTrivial, Verify: f.verify,
		Workers: f.Jobs, Mapping: f.Mapping, Report: f.Report, Changed: f.changed, Version: programVersion(),
	}
	switch {
	case len(inputs) == 0:
		return o, errors.New("no inputs: name a jar, a directory or a class")
	case f.output == "" && f.explain == "":
		return o, errors.New("no output: say -o OUT, a jar or a directory")
	case f.changed != "" && archive.JarName(f.output):
		return o, fmt.Errorf("--changed needs a directory as output, and %s is a jar", f.output)
	case f.Jobs < 0:
		return o, fmt.Errorf("-j %d is less than one", f.Jobs)
	}
	for _, p := range f.Probe {
		if p != "methods" {
			return o, fmt.Errorf("unknown probe %q: take methods", p)
		}
	}
	if o.Rules, err = rules.New(f.Include, f.Exclude); err != nil {
		return o, err
	}
	if o.Clock, err = probe.ParseClock(f.Clock); err != nil {
		return o, err
	}
	if o.Exits, err = probe.ParseExits(f.Exits); err != nil {
		return o, err
	}
	o.Compression, err = archive.ParseCompression(f.Compression)
	return o, err
}

func (f *instrumentFlags) run(cmd *cobra.Command, inputs []string) error {
	collectSeldom()
	o, err := f.options(inputs)
	if err != nil {
		return usageError(err)
	}
	o.AddRuntime = f.Runtime
	if o.Runtime, err = runtimeFiles(); err != nil && f.Runtime {
		return fmt.Errorf("--runtime: %w", err)
	}
	if f.explain != "" {
		return f.explainMethod(cmd, o)
	}
	var terminal io.Writer
	if !f.quiet {
		terminal = os.Stderr
	}
	bar := newProgress(terminal, "instrumenting", true)
	o.Progress = bar.set
	start := time.Now()
	summary, err := instrument.Run(cmd.Context(), o)
	bar.clear()
	if err != nil {
		return err
	}
	f.warn(cmd.ErrOrStderr(), summary)
	if f.quiet {
		return nil
	}
	return summary.Write(cmd.OutOrStdout(), time.Since(start).Seconds())
}

// explainMethod is --explain.
func (f *instrumentFlags) explainMethod(cmd *cobra.Command, o instrument.Options) error {
	p, err := rules.Parse(f.explain)
	if err != nil {
		return usageError(fmt.Errorf("--explain: %w", err))
	}
	if !p.OfMethods() {
		return usageError(fmt.Errorf("--explain %s: name a method, as in com.acme.Foo#bar", p))
	}
	return instrument.Explain(cmd.Context(), o, p, cmd.OutOrStdout())
}

// maxListed is how many damaged classes are listed one by one.
const maxListed = 20

// warn prints what should be known beside the summary.
func (f *instrumentFlags) warn(to io.Writer, s *instrument.Summary) {
	for _, w := range s.Warnings {
		fmt.Fprintln(to, "jiffy: warning:", w)
	}
	for i, failed := range s.Failed {
		if i == maxListed {
			fmt.Fprintf(to, "jiffy: warning: left as they are: %d more; --report lists them all\n", len(s.Failed)-i)
			break
		}
		fmt.Fprintln(to, "jiffy: warning: left as it is:", failed)
	}
	if f.quiet {
		return
	}
	for _, n := range s.Notes {
		fmt.Fprintln(to, "jiffy: note:", n)
	}
}

// runtimeFiles returns the runtime's class files.
func runtimeFiles() ([]archive.File, error) {
	classes, err := android.Classes()
	if err != nil {
		return nil, err
	}
	var files []archive.File
	err = fs.WalkDir(classes, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".class") {
			return err
		}
		content, err := fs.ReadFile(classes, path)
		files = append(files, archive.File{Name: path, Content: content})
		return err
	})
	return files, err
}

// collectSeldom trades memory for time: a run is over in a second or so, and little of what it allocates is garbage before.
// Past the limit collections come as often as they must. GOGC and GOMEMLIMIT win.
func collectSeldom() {
	const limit = 256 << 20
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetGCPercent(400)
		debug.SetMemoryLimit(limit)
	}
}
