package android

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// jdk is an installed JDK.
type jdk struct {
	home    string
	release int // feature release, 8 or newer
}

func (j jdk) tool(name string) string { return filepath.Join(j.home, "bin", name) }

var javacVersion = regexp.MustCompile(`^javac (?:1\.)?(\d+)`)

// installed finds the JDKs of this machine: that of JAVA_HOME, that of the javac on PATH, and those of
// distributions' packages.
var installed = sync.OnceValue(func() []jdk {
	var homes []string
	if home := os.Getenv("JAVA_HOME"); home != "" {
		homes = append(homes, home)
	}
	if javac, err := exec.LookPath("javac"); err == nil {
		if javac, err = filepath.EvalSymlinks(javac); err == nil {
			homes = append(homes, filepath.Dir(filepath.Dir(javac)))
		}
	}
	packaged, _ := filepath.Glob("/usr/lib/jvm/*")
	var found []jdk
	for _, home := range append(homes, packaged...) {
		out, err := exec.Command(filepath.Join(home, "bin", "javac"), "-version").CombinedOutput()
		if m := javacVersion.FindSubmatch(out); err == nil && m != nil {
			release, _ := strconv.Atoi(string(m[1]))
			found = append(found, jdk{home, release})
		}
	}
	return found
})

// anyJDK returns the first JDK that compiles and runs the runtime.
func anyJDK(t testing.TB) jdk { return jdkFrom(t, 9) }

// jdkFrom returns a JDK of at least the release, or skips the test.
func jdkFrom(t testing.TB, release int) jdk {
	t.Helper()
	for _, j := range installed() {
		if j.release >= release {
			return j
		}
	}
	t.Skipf("no JDK %d or newer on this machine", release)
	return jdk{}
}

// eachRelease runs the test on one JDK of each release on this machine.
func eachRelease(t *testing.T, test func(t *testing.T, j jdk)) {
	var seen []int
	for _, j := range installed() {
		if j.release < 9 || slices.Contains(seen, j.release) {
			continue
		}
		seen = append(seen, j.release)
		t.Run(fmt.Sprintf("JDK %d", j.release), func(t *testing.T) { test(t, j) })
	}
	if len(seen) == 0 {
		t.Skip("no JDK on this machine")
	}
}

// scratch is a directory for what all tests share; TestMain removes it.
var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "jiffy-runtime-test"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(scratch)
	os.Exit(code)
}

// runtimeClasses compiles the runtime as the Makefile does, with warnings as errors, and returns its class path.
var runtimeClasses = sync.OnceValues(func() (string, error) {
	i := slices.IndexFunc(installed(), func(j jdk) bool { return j.release >= 9 })
	if i < 0 {
		return "", errors.New("no JDK")
	}
	compileOnly := filepath.Join(scratch, "compileonly")
	classes := filepath.Join(scratch, "runtime")
	lint := []string{"--release", "8", "-Xlint:all,-options", "-Werror", "-g"}
	if err := javac(installed()[i], compileOnly, "src/compileonly/java", lint...); err != nil {
		return "", err
	}
	return classes, javac(installed()[i], classes, "src/main/java", append(lint, "-cp", compileOnly)...)
})

// javac compiles all sources below a directory.
func javac(j jdk, to, sources string, args ...string) error {
	args = append(args, "-d", to)
	err := filepath.WalkDir(sources, func(path string, _ os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".java") {
			args = append(args, path)
		}
		return err
	})
	if err != nil {
		return err
	}
	if out, err := exec.Command(j.tool("javac"), args...).CombinedOutput(); err != nil {
		return fmt.Errorf("javac %s: %w\n%s", sources, err, out)
	}
	return nil
}

// programClasses compiles the test programs of a directory against the runtime, once for each directory.
func programClasses(t testing.TB, j jdk, sources string, args ...string) string {
	t.Helper()
	programs.Lock()
	defer programs.Unlock()
	runtime, err := runtimeClasses()
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(scratch, filepath.Base(sources))
	if !programs.compiled[sources] {
		if err := javac(j, to, sources, append(args, "-cp", runtime)...); err != nil {
			t.Fatal(err)
		}
		programs.compiled[sources] = true
	}
	return runtime + string(os.PathListSeparator) + to
}

var programs = struct {
	sync.Mutex
	compiled map[string]bool
}{compiled: map[string]bool{}}

// run is one run of a test program.
type run struct {
	jdk     jdk
	options []string // of the JVM
	program string
	args    []string
	env     []string
	stdin   string
	noLog   bool // no log directory is given
	kill    func(stdout string) bool
}

// result is what a run left.
type result struct {
	stdout, stderr string
	code           int // -1 if killed
	dir            string
}

// start runs a program of testdata/programs with a log directory of its own.
func (r run) start(t testing.TB) result {
	t.Helper()
	if r.jdk.home == "" {
		r.jdk = anyJDK(t)
	}
	classPath := programClasses(t, anyJDK(t), "testdata/programs", "--release", "8", "-Xlint:-options")
	return r.startWith(t, classPath)
}

func (r run) startWith(t testing.TB, classPath string) result {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "log")
	options := append([]string{"-Xshare:auto", "-cp", classPath}, r.options...)
	if !r.noLog {
		options = append(options, "-Djiffy.log="+dir)
	}
	args := append(append(options, r.program), r.args...)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, r.jdk.tool("java"), args...)
	cmd.Env = append(os.Environ(), r.env...)
	cmd.Stdin = strings.NewReader(r.stdin)
	var stderr bytes.Buffer
	stdout := &watchedOutput{kill: r.kill, cmd: cmd}
	cmd.Stdout, cmd.Stderr = stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, stderr.String())
	}
	return result{stdout.text.String(), stderr.String(), cmd.ProcessState.ExitCode(), dir}
}

// watchedOutput keeps a program's output and kills the program once it has printed what the test waits for.
type watchedOutput struct {
	text bytes.Buffer
	kill func(string) bool
	cmd  *exec.Cmd
}

func (w *watchedOutput) Write(p []byte) (int, error) {
	n, err := w.text.Write(p)
	if w.kill != nil && w.kill(w.text.String()) {
		w.cmd.Process.Kill()
	}
	return n, err
}

// mustSucceed fails the test unless the program ended well and jiffy had nothing to say.
func (r result) mustSucceed(t testing.TB) result {
	t.Helper()
	if r.code != 0 || r.stderr != "" {
		t.Fatalf("exit code %d, stderr:\n%s\nstdout:\n%s", r.code, r.stderr, r.stdout)
	}
	return r
}
