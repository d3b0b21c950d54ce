package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/jiffyperf/jiffy/runtime-collector/collect"
)

func newCollectCommand() *cobra.Command {
	var o collect.Options
	cmd := &cobra.Command{
		Use:   "collect -o RUN [flags] (--pid N | -- COMMAND [ARG…])",
		Short: "Run a program, or attach to one, and sample its threads",
		Long: `Run a program, or attach to one that runs, and sample its processes and threads from procfs until it ends. The samples, the
program's event logs and the probe maps of its class path go into the directory RUN, from which jiffy report makes CSV.

A command gets JIFFY_LOG in its environment, and this terminal as its own; signals are passed on to it. The exit code is the
command's own, or 128+n when signal n killed it; 125 when jiffy failed, 126 when the command can't be executed, 127 when there
is none of that name. With --pid, sampling ends with the process, after --duration, or at Ctrl-C.`,
		Example: `  jiffy collect -o run -- java -cp app.jar com.acme.Main
  jiffy collect -o run --pid 4711 --duration 30s`,
		Args: afterDashes,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Command = args
			o.Messages = cmd.ErrOrStderr()
			o.Version = programVersion()
			return runCollect(o)
		},
	}
	f := cmd.Flags()
	f.SetInterspersed(false)
	f.StringVarP(&o.Dir, "output", "o", "", "the directory `RUN` to make")
	f.IntVar(&o.PID, "pid", 0, "attach to the process `N`")
	f.DurationVar(&o.Interval, "interval", time.Second, "`TIME` between samples")
	f.DurationVar(&o.Duration, "duration", 0, "stop sampling after this `TIME`; a command runs on (default: sample to the end)")
	f.StringArrayVar(&o.Mappings, "mapping", nil, "take the probe map `FILE` instead of those on the class path; may be repeated")
	f.BoolVar(&o.Force, "force", false, "replace the earlier run in RUN")
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return collectUsage(slices.Contains(os.Args, "--"), fmt.Errorf("%w; see %s --help", err, cmd.CommandPath()))
	})
	return cmd
}

// afterDashes accepts the command's words after -- only: there is no telling its flags from jiffy's otherwise.
func afterDashes(cmd *cobra.Command, args []string) error {
	if len(args) > 0 && cmd.ArgsLenAtDash() != 0 {
		return collectUsage(true, fmt.Errorf("put -- before the command: %s … -- %s", cmd.CommandPath(), args[0]))
	}
	return nil
}

// collectUsage is an error of the one who called. Where a command was to be run, its exit code must not be taken for the
// command's own.
func collectUsage(withCommand bool, err error) error {
	if withCommand {
		return &exitError{Code: collect.StatusFailed, Err: err}
	}
	return usageError(err)
}

func runCollect(o collect.Options) error {
	if err := o.Validate(); err != nil {
		return collectUsage(len(o.Command) > 0, fmt.Errorf("%w; see jiffy collect --help", err))
	}
	status, err := collect.Run(o)
	if failed, ok := errors.AsType[*collect.Error](err); ok {
		return &exitError{Code: failed.Status, Err: failed.Err}
	}
	if err != nil || status == 0 {
		return err
	}
	return &exitError{Code: status}
}
