package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/jiffyperf/jiffy/instrument/archive"
	"github.com/jiffyperf/jiffy/instrument/classfile"
	"github.com/jiffyperf/jiffy/instrument/verify"
)

// verifyFlags are the flags of `jiffy verify`.
type verifyFlags struct {
	unchecked bool
	jobs      int
	quiet     bool
}

func newVerifyCommand() *cobra.Command {
	var flags verifyFlags
	cmd := &cobra.Command{
		Use:   "verify [flags] INPUT...",
		Short: "Check classes as a virtual machine would before it runs them",
		Long: `Check the methods of classes as a virtual machine would before it runs them: types, stack, frames, handlers.

INPUT is a jar, a directory of classes or a single class. Each finding is a line: where it is, and one of

  refused           a virtual machine would not link the class
  frames            it links, but R8 rejects the method's frames
  locking           it links, but a lock may be left locked, so that the method runs slowly
  not type-checked  the method has no frames, as in classes up to version 49 (listed with --unchecked only)

Whether one class extends another is not looked up: where that matters, it is taken to be so. The exit code is 1 if anything is
refused or can't be read.`,
		Example: `  jiffy verify app-timed.jar
  jiffy verify --quiet build/classes && echo fine`,
		Args: cobra.MinimumNArgs(1),
		RunE: flags.run,
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&flags.unchecked, "unchecked", false, "also list the methods whose types can't be checked")
	f.IntVarP(&flags.jobs, "jobs", "j", 0, "classes to work on at a time (default one for each CPU)")
	f.BoolVarP(&flags.quiet, "quiet", "q", false, "print findings only, without the summary")
	return cmd
}

// verified is what was found in one class.
type verified struct {
	findings []verify.Finding
	methods  int
	err      error // the class can't be read
}

func (f *verifyFlags) run(cmd *cobra.Command, args []string) error {
	if f.jobs < 0 {
		return usageError(fmt.Errorf("-j %d is less than one", f.jobs))
	}
	in, err := archive.Open(args)
	if err != nil {
		return err
	}
	defer in.Close()
	var classes []*archive.Entry
	for _, e := range in.Entries() {
		if e.IsClass() {
			classes = append(classes, e)
		}
	}
	found, err := f.verifyAll(cmd.Context(), classes)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	failed := f.print(out, classes, found)
	if err := out.Flush(); err != nil {
		return err
	}
	if failed {
		return &exitError{Code: exitFailed}
	}
	return nil
}

// verifyAll checks classes in parallel. The results are in the order of the classes.
func (f *verifyFlags) verifyAll(ctx context.Context, classes []*archive.Entry) ([]verified, error) {
	found := make([]verified, len(classes))
	group, ctx := errgroup.WithContext(ctx)
	var taken atomic.Int64
	for range cmp.Or(f.jobs, runtime.GOMAXPROCS(0)) {
		group.Go(func() error {
			var v verify.Verifier
			var c classfile.Class
			for {
				i := int(taken.Add(1)) - 1
				if i >= len(classes) {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				found[i] = verifyEntry(&v, &c, classes[i])
			}
		})
	}
	return found, group.Wait()
}

func verifyEntry(v *verify.Verifier, c *classfile.Class, e *archive.Entry) (r verified) {
	data, err := e.Content()
	if err == nil {
		err = c.Parse(data)
	}
	if err != nil {
		return verified{err: err}
	}
	return verified{findings: v.Class(nil, c), methods: len(c.Methods)}
}

// print writes the findings and the summary, and reports whether anything was refused.
func (f *verifyFlags) print(out io.Writer, classes []*archive.Entry, found []verified) (failed bool) {
	counts := map[verify.Kind]int{}
	methods, unreadable := 0, 0
	for i, r := range found {
		if r.err != nil {
			unreadable++
			fmt.Fprintf(out, "%s: can't be read: %v\n", classes[i].Place(), r.err)
			continue
		}
		methods += r.methods
		for _, finding := range r.findings {
			counts[finding.Kind]++
			if finding.Kind != verify.Unchecked || f.unchecked {
				fmt.Fprintf(out, "%s: %v\n", classes[i].Place(), finding)
			}
		}
	}
	if !f.quiet {
		summary := []string{count(len(classes), "class", "classes"), count(methods, "method", "methods")}
		for _, kind := range []verify.Kind{verify.Refused, verify.Frames, verify.Locking, verify.Unchecked} {
			summary = append(summary, fmt.Sprintf("%d %v", counts[kind], kind))
		}
		if unreadable > 0 {
			summary = append(summary, fmt.Sprintf("%d unreadable", unreadable))
		}
		fmt.Fprintln(out, strings.Join(summary, ", "))
	}
	return counts[verify.Refused]+unreadable > 0
}

// count is a number with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
