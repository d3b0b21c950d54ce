// Package collect runs a program, or attaches to one, samples its processes
// and threads from procfs until it ends, and leaves a run directory that
// `jiffy report` turns into CSV.
//
// The run directory:
//
//	collect.csv           facts about the run, key,value
//	process-samples.csv   one row per process and sample
//	thread-samples.csv    one row per thread and sample
//	capabilities.csv      which kernel files could be read
//	log/                  the program's event logs
//	maps/                 the probe maps of the instrumented code
//
// Samples are written at every sample, so that a killed collector loses
// nothing it had read; collect.csv then says complete,false.
package collect

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Exit statuses of a run that jiffy could not do, as env(1) has them.
const (
	StatusFailed        = 125 // jiffy itself failed
	StatusNotExecutable = 126 // the command was found but can't be executed
	StatusNotFound      = 127 // the command was not found
	statusSignal        = 128 // + n: the command was killed by signal n
)

// MinInterval is the shortest interval between samples.
const MinInterval = time.Millisecond

// Options says what to collect. Either Command or PID is set.
type Options struct {
	Dir      string        // the run directory
	Command  []string      // program and arguments to start
	PID      int           // process to attach to
	Interval time.Duration // between samples
	Duration time.Duration // sample no longer than this; 0 is until the end
	Mappings []string      // probe maps to take instead of looking for them
	Force    bool          // replace a previous run in Dir
	Version  string        // jiffy's own
	Messages io.Writer     // one line per thing worth telling, and the summary
}

// Validate returns what is wrong with the options before anything is touched.
func (o *Options) Validate() error {
	switch {
	case o.Dir == "":
		return errors.New("no run directory: give one with -o RUN")
	case len(o.Command) == 0 && o.PID == 0:
		return errors.New("nothing to collect: give -- COMMAND or --pid N")
	case len(o.Command) > 0 && o.PID != 0:
		return errors.New("both --pid and a command were given: it is one or the other")
	case o.PID < 0:
		return fmt.Errorf("--pid %d: not a process id", o.PID)
	case o.Interval < MinInterval:
		return fmt.Errorf("--interval %v: the shortest is %v", o.Interval, MinInterval)
	case o.Duration < 0:
		return fmt.Errorf("--duration %v is negative", o.Duration)
	}
	return nil
}

// Error is a run that could not be done, with the status jiffy exits with.
type Error struct {
	Status int
	Err    error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// message prints one line for the user, also where an error is several.
func (o *Options) message(format string, args ...any) {
	text := strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "; ")
	fmt.Fprintln(o.Messages, "jiffy: "+text)
}
