package collect

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// resolveCommand finds the program as execvp(3) does. The error carries the
// status env(1) exits with.
func resolveCommand(name string) (path string, err error) {
	path, err = exec.LookPath(name)
	switch {
	case err == nil || errors.Is(err, exec.ErrDot):
		return path, nil
	case errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EISDIR) || inPath(name):
		return "", &Error{StatusNotExecutable, fmt.Errorf("%s: not executable", name)}
	}
	return "", &Error{StatusNotFound, fmt.Errorf("%s: command not found", name)}
}

// inPath reports whether PATH has a file of that name, which LookPath passed
// over because it can't be executed.
func inPath(name string) bool {
	if strings.Contains(name, "/") {
		return false
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && !info.IsDir() {
			return true
		}
	}
	return false
}

// program is a process that jiffy started.
type program struct {
	pid   int
	ended chan struct{} // closed when it has ended; it is a zombie then
}

// startProgram starts the command with this process's standard streams and
// with the event log's directory in its environment.
func startProgram(path string, command []string, logs string) (*program, error) {
	proc, err := os.StartProcess(path, command, &os.ProcAttr{
		Env:   withVariable(os.Environ(), "JIFFY_LOG", logs),
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
	})
	if err != nil {
		return nil, &Error{startStatus(err), fmt.Errorf("%s: %w", command[0], errors.Unwrap(err))}
	}
	p := &program{pid: proc.Pid, ended: make(chan struct{})}
	if err := proc.Release(); err != nil {
		return nil, &Error{StatusFailed, err}
	}
	go p.wait()
	return p, nil
}

// withVariable sets a variable in an environment. A name must be there once:
// which of two counts is different from program to program.
func withVariable(env []string, name, value string) []string {
	env = slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, name+"=") })
	return append(env, name+"="+value)
}

func startStatus(err error) int {
	if errors.Is(err, fs.ErrNotExist) {
		return StatusNotFound
	}
	return StatusNotExecutable
}

// wait waits for the end without reaping (WNOWAIT), so that the zombie's
// counters can still be read.
func (p *program) wait() {
	defer close(p.ended)
	for {
		err := unix.Waitid(unix.P_PID, p.pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return
		}
	}
}

// reap waits for the program's end and takes its exit status.
func (p *program) reap() (*exit, error) {
	var ws unix.WaitStatus
	var usage unix.Rusage
	for {
		_, err := unix.Wait4(p.pid, &ws, 0, &usage)
		if err == nil {
			break
		}
		if err != unix.EINTR {
			return nil, fmt.Errorf("waiting for pid %d: %w", p.pid, err)
		}
	}
	e := &exit{code: ws.ExitStatus(), cpu: time.Duration(usage.Utime.Nano() + usage.Stime.Nano())}
	if ws.Signaled() {
		e.number = int(ws.Signal())
		if e.signal = unix.SignalName(ws.Signal()); e.signal == "" {
			e.signal = fmt.Sprintf("signal %d", e.number)
		}
	}
	return e, nil
}

func (p *program) signal(sig os.Signal) {
	// It may have ended; then there is nobody to tell.
	_ = unix.Kill(p.pid, sig.(syscall.Signal))
}
