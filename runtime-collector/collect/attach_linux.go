package collect

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/jiffyperf/jiffy/runtime-collector/procfs"
)

// detaching are the signals that end the sampling of a process that jiffy did
// not start.
var detaching = []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM}

// attach samples a running process until it ends, the duration is over, or
// jiffy is told to stop.
func (j *job) attach() error {
	pid := j.opts.PID
	if err := checkTarget(pid); err != nil {
		return &Error{1, err}
	}
	if err := j.prepare(); err != nil {
		return &Error{1, err}
	}
	signals, stop := catch(detaching)
	defer stop()
	j.facts.attached = true
	j.facts.pid = pid
	j.begin()
	var err error
	if j.sampler, err = newSampler(j.opts, j.dir, pid); err != nil {
		j.dir.discard()
		return &Error{1, targetError(pid, err)}
	}
	j.describeTarget()
	j.copyMapsAtStart()
	j.watch(watchExit(pid), signals, func(os.Signal) bool { return true })
	j.finish()
	if !j.facts.complete {
		return &Error{1, fmt.Errorf("the run in %s is not complete", j.opts.Dir)}
	}
	return nil
}

// checkTarget gives a clear reason where a pid can't be attached to.
func checkTarget(pid int) error {
	var info unix.Stat_t
	if err := unix.Stat(procPath(pid, ""), &info); err != nil {
		return targetError(pid, err)
	}
	group, state, err := readStatus(pid)
	switch {
	case err != nil:
		return targetError(pid, err)
	case group != pid:
		return fmt.Errorf("pid %d is a thread of process %d: give --pid %d", pid, group, group)
	case state == 'Z' || state == 'X':
		return fmt.Errorf("pid %d has already ended (its parent has not waited for it yet)", pid)
	}
	return checkOwner(pid, int(info.Uid), os.Geteuid())
}

// checkOwner refuses another user's process: its counters can mostly be read,
// but not its event log, its environment and its jars.
func checkOwner(pid, owner, self int) error {
	if self == 0 || self == owner {
		return nil
	}
	return fmt.Errorf("pid %d belongs to user %d, and jiffy runs as user %d: run it as that user or as root", pid, owner, self)
}

func targetError(pid int, err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, procfs.ErrExited) || errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("pid %d: no such process", pid)
	}
	return fmt.Errorf("pid %d: %w", pid, err)
}

// readStatus reads the thread group and the state from /proc/<pid>/status
// (proc_pid_status(5)). /proc/<tid> is there too, though no listing shows it,
// and looks like a process.
func readStatus(pid int) (group int, state byte, err error) {
	b, err := os.ReadFile(procPath(pid, "status"))
	if err != nil {
		return 0, 0, err
	}
	for line := range bytes.Lines(b) {
		if rest, ok := bytes.CutPrefix(line, []byte("State:\t")); ok && len(rest) > 0 {
			state = rest[0]
		}
		if rest, ok := bytes.CutPrefix(line, []byte("Tgid:\t")); ok {
			group, err = strconv.Atoi(string(bytes.TrimSpace(rest)))
		}
	}
	if group == 0 || state == 0 || err != nil {
		return 0, 0, fmt.Errorf("%s: %w", procPath(pid, "status"), procfs.ErrFormat)
	}
	return group, state, nil
}

// watchExit returns a channel that is closed when the process ends. Before
// Linux 5.3 there is no telling; the next sample notices then.
func watchExit(pid int) <-chan struct{} {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer unix.Close(fd)
		for {
			n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
			if n > 0 || err != nil && err != unix.EINTR {
				return
			}
		}
	}()
	return ended
}

// describeTarget finds out what the process was started as, and where it puts
// its event log.
func (j *job) describeTarget() {
	pid := j.opts.PID
	j.facts.command = zeroSeparated(procPath(pid, "cmdline"))
	j.workDir, _ = os.Readlink(procPath(pid, "cwd"))
	env := zeroSeparated(procPath(pid, "environ"))
	j.java = parseJavaCommand(j.facts.command, j.workDir, func(name string) string { return variable(env, name) })
	if j.java.logDir == "" {
		j.java.logDir = variable(env, "JIFFY_LOG")
	}
	if j.java.logDir == "" {
		j.opts.message("pid %d has neither -Djiffy.log nor JIFFY_LOG: its event log, if it writes one, is not copied", pid)
		return
	}
	if !filepath.IsAbs(j.java.logDir) {
		j.java.logDir = filepath.Join(j.workDir, j.java.logDir)
	}
	j.opts.message("pid %d writes its event log to %s; it is copied when sampling ends", pid, j.java.logDir)
}

// zeroSeparated reads a file of zero-terminated strings, as /proc/<pid>/cmdline
// and environ are; one that can't be read has none.
func zeroSeparated(path string) []string {
	b, err := os.ReadFile(path)
	if err != nil || len(b) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
}

func variable(env []string, name string) string {
	for _, v := range env {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

func procPath(pid int, name string) string {
	return filepath.Join("/proc", strconv.Itoa(pid), name)
}
