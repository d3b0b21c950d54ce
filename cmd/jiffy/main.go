// Command jiffy finds out where a program's time and CPU go: it puts probes into classes, samples the running program, and
// makes reports of both.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// version is set by the linker: -ldflags "-X main.version=v1.2.3".
var version string

// Exit codes. collect's are the command's that it runs.
const (
	exitFailed = 1 // and said why
	exitUsage  = 2
)

// exitError is an error that says with which code the process ends. Commands return one where 1 is not right.
type exitError struct {
	Code int
	Err  error // nil if there is nothing more to say
}

func (e *exitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

func (e *exitError) Unwrap() error { return e.Err }

// usageError is an error of the one who called.
func usageError(err error) error { return &exitError{Code: exitUsage, Err: err} }

func main() {
	os.Exit(run(os.Args[1:]))
}

// run runs the command line and returns the exit code.
func run(args []string) int {
	// Killed by a signal, a command still removes what it left half done.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	root := newRootCommand()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if exit, ok := errors.AsType[*exitError](err); ok {
		if exit.Err != nil {
			report(exit.Err)
		}
		return exit.Code
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	report(err)
	return exitFailed
}

// report prints an error as one line, even if it was joined of several.
func report(err error) {
	fmt.Fprintln(os.Stderr, "jiffy:", strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; "))
}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "jiffy",
		Short: "Find out where a program's time and CPU go",
		Long: `jiffy puts probes into the classes of a Java or Android program, samples its processes and threads while it runs, and
shows in CSV where its wall time and its CPU time went.`,
		Version: programVersion(),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError(fmt.Errorf("unknown command %q; see jiffy --help", args[0]))
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error {
			if err := c.Help(); err != nil {
				return err
			}
			return &exitError{Code: exitUsage}
		},
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetVersionTemplate("jiffy {{.Version}}\n")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError(fmt.Errorf("%w; see %s --help", err, c.CommandPath()))
	})
	root.AddCommand(newInstrumentCommand(), newCollectCommand(), newReportCommand(), newDumpCommand(), newVerifyCommand())
	for _, c := range root.Commands() {
		c.Args = asUsage(c.Args)
	}
	return root
}

// asUsage makes what a check of arguments says an error of usage.
func asUsage(check cobra.PositionalArgs) cobra.PositionalArgs {
	if check == nil {
		return nil
	}
	return func(c *cobra.Command, args []string) error {
		err := check(c, args)
		if _, ok := errors.AsType[*exitError](err); err == nil || ok {
			return err
		}
		return usageError(fmt.Errorf("%w; see %s --help", err, c.CommandPath()))
	}
}

// programVersion is the linker's version, else that of the module, else the revision it was built from.
func programVersion() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel-" + s.Value[:12]
		}
	}
	return "devel"
}
