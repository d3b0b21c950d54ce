package collect

import (
	"errors"
	"os"
	"time"

	"github.com/jiffyperf/jiffy/instrument/mapping"
	"github.com/jiffyperf/jiffy/runtime-collector/procfs"
)

// job is one run being collected.
type job struct {
	opts    *Options
	dir     *runDir
	facts   facts
	sampler *sampler
	maps    []mapping.Source // given with --mapping
	java    javaCommand
	workDir string // the program's working directory at its start
}

// Run collects a run and returns the exit status to pass on: the command's own,
// 128+n if signal n killed it, 0 for a process that was attached to. A run that
// could not be done is an error, always an *Error, and leaves no directory. The
// options must be valid.
func Run(opts Options) (status int, err error) {
	j := &job{opts: &opts}
	if len(opts.Command) > 0 {
		return j.runCommand()
	}
	return 0, j.attach()
}

// prepare does what can fail before the program is touched.
func (j *job) prepare() error {
	var err error
	if j.maps, err = givenMaps(j.opts.Mappings); err != nil {
		return err
	}
	host, err := procfs.ReadHost()
	if err != nil {
		return err
	}
	if j.dir, err = createRunDir(j.opts.Dir, j.opts.Force); err != nil {
		return err
	}
	j.facts = facts{
		version: j.opts.Version, interval: j.opts.Interval, host: host.Name, kernel: host.Kernel,
		hz: host.Hz, cpus: host.CPUs, cpusPossible: host.CPUsPossible,
	}
	return nil
}

// runCommand starts the command and samples it to its end.
func (j *job) runCommand() (status int, err error) {
	path, err := resolveCommand(j.opts.Command[0])
	if err != nil {
		return 0, err
	}
	if err := j.prepare(); err != nil {
		return 0, &Error{StatusFailed, err}
	}
	if j.workDir, err = os.Getwd(); err == nil {
		j.java = parseJavaCommand(j.opts.Command, j.workDir, os.Getenv)
	}
	j.copyMapsAtStart()

	signals, stop := catch(forwarded)
	defer stop()
	j.facts.command = j.opts.Command
	j.begin()
	program, err := startProgram(path, j.opts.Command, j.dir.file(logDir))
	if err != nil {
		j.dir.discard()
		return 0, err
	}
	j.facts.pid = program.pid
	if j.sampler, err = newSampler(j.opts, j.dir, program.pid); err != nil {
		// Not sampled, but started: it is ours to see through.
		j.opts.message("not sampled: %v", err)
	}
	j.watch(program.ended, signals, func(sig os.Signal) (stop bool) {
		if !fromTerminal(sig) {
			program.signal(sig)
		}
		return false
	})
	j.outlast(program, signals)
	j.facts.exit, err = program.reap()
	j.finish()
	if err != nil {
		return 0, &Error{StatusFailed, err}
	}
	return j.facts.exit.status(), nil
}

// outlast waits for a program that runs on after sampling has stopped.
func (j *job) outlast(p *program, signals <-chan os.Signal) {
	for {
		select {
		case <-p.ended:
			return
		case sig := <-signals:
			if !fromTerminal(sig) {
				p.signal(sig)
			}
		}
	}
}

// begin stamps the start.
func (j *job) begin() {
	j.facts.start = time.Now()
	j.facts.startMono = procfs.Monotonic()
}

func (j *job) elapsed() time.Duration {
	return time.Duration(procfs.Monotonic() - j.facts.startMono)
}

// watch samples the process from its start, or from now, to the final sample.
func (j *job) watch(ended <-chan struct{}, signals <-chan os.Signal, onSignal func(os.Signal) (stop bool)) {
	there := j.sample(false)
	j.writeStartFiles()
	if there {
		j.follow(ended, signals, onSignal)
	}
	j.sample(true)
	j.facts.duration = j.elapsed()
}

// follow samples on the schedule until the process has ended, the duration is
// over, or a signal says so. A signal is worth a sample of its own, taken
// before the program gets it: it may be the last there is.
func (j *job) follow(ended <-chan struct{}, signals <-chan os.Signal, onSignal func(os.Signal) (stop bool)) {
	var over <-chan time.Time
	if j.opts.Duration > 0 {
		over = time.After(j.opts.Duration - j.elapsed())
	}
	grid := newSchedule(j.opts.Interval)
	grid.next(0, 0) // the first sample is taken
	next := func(cost time.Duration) time.Duration {
		deadline, missed := grid.next(j.elapsed(), cost)
		j.facts.missed += missed
		return deadline - j.elapsed()
	}
	timer := time.NewTimer(next(0))
	defer timer.Stop()
	for {
		select {
		case <-ended:
			return
		case <-over:
			return
		case sig := <-signals:
			j.sample(false)
			if onSignal(sig) {
				return
			}
		case <-timer.C:
			began := j.elapsed()
			if !j.sample(false) {
				return
			}
			timer.Reset(next(j.elapsed() - began))
		}
	}
}

// sample reports whether the process is still there.
func (j *job) sample(final bool) bool {
	if j.sampler == nil {
		return true
	}
	return j.sampler.sample(final)
}

// writeStartFiles writes what is known once the program runs. It comes after
// the first sample, which should be close to the program's start.
func (j *job) writeStartFiles() {
	err := errors.Join(
		writeCSV(j.dir.file(factsFile), j.facts.rows()),
		writeCSV(j.dir.file(capabilitiesFile), probeCapabilities(j.facts.pid)),
	)
	if err != nil {
		j.opts.message("%v", err)
	}
}

// finish completes the run directory and says what is in it.
func (j *job) finish() {
	broken := j.sampler == nil
	if j.sampler != nil {
		j.facts.samples = j.sampler.samples
		j.copyForeignLogs()
		j.sampler.close()
		broken = j.sampler.broken
	}
	j.copyMapsAtEnd()
	if err := j.dir.close(); err != nil && !broken {
		j.opts.message("%v", err)
		broken = true
	}
	j.facts.complete = !broken
	j.facts.collectorCPU = procfs.OwnCPU()
	if err := writeCSV(j.dir.file(factsFile), j.facts.rows()); err != nil {
		j.opts.message("the run lacks how it ended: %v", err)
		j.facts.complete = false
	}
	j.summary()
}

func (j *job) summary() {
	missed := ""
	if j.facts.missed > 0 {
		missed = ", " + plural(j.facts.missed, "missed sample", "missed samples")
	}
	processes := 0
	if j.sampler != nil {
		processes = len(j.sampler.seen)
	}
	j.opts.message("%s of %s in %.1f s%s; run in %s; next: jiffy report %s",
		plural(j.facts.samples, "sample", "samples"), plural(processes, "process", "processes"), j.facts.duration.Seconds(), missed,
		j.opts.Dir, quoteWord(j.opts.Dir))
}
