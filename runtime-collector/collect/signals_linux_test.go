package collect

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// openTerminal opens a pseudoterminal (pts(4)): our end, and the program's.
func openTerminal(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudoterminals here: %v", err)
	}
	t.Cleanup(func() { ours.Close() })
	if err := unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { theirs.Close() })
	return ours, theirs
}

func TestInterruptKeyReachesTheProgramOnce(t *testing.T) {
	ours, theirs := openTerminal(t)
	cmd := exec.Command("/proc/self/exe", sh(`
		n=0; trap 'n=$((n+1))' INT; echo ready
		i=0; while [ $n -eq 0 ] && [ $i -lt 100 ]; do sleep 0.1; i=$((i+1)); done
		sleep 0.3; exit $((40 + n))`)...)
	cmd.Env = append(os.Environ(), collectDir+"="+filepath.Join(t.TempDir(), "run"))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	lines := bufio.NewReader(ours)
	if line, err := lines.ReadString('\n'); err != nil || strings.TrimSpace(line) != "ready" {
		t.Fatalf("read %q, %v", line, err)
	}
	if _, err := ours.Write([]byte{3}); err != nil { // Ctrl-C
		t.Fatal(err)
	}
	go io.Copy(io.Discard, lines) // ends with EIO when the terminal is gone
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 41 {
		t.Errorf("exit code %d, want 41: 40 and one interrupt", code)
	}
}
