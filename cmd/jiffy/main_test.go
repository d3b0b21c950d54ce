package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/pflag"

	"github.com/jiffyperf/jiffy/instrument/rules"
	"github.com/jiffyperf/jiffy/runtime-collector/android"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"jiffy": main})
}

// TestScript runs the scripts in testdata/script. They may use jiffy, java, javac and jar, and ask for
//
//	[jdk]      there is a JDK
//	[runtime]  the runtime was compiled, so that --runtime works
//	[root]     permissions of files don't matter
func TestScript(t *testing.T) {
	jdk := jdkBin()
	_, err := android.Classes()
	conditions := map[string]bool{"jdk": jdk != "", "runtime": err == nil, "root": os.Getuid() == 0}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", env.Getenv("PATH")+string(os.PathListSeparator)+jdk)
			return nil
		},
		Condition: func(name string) (bool, error) {
			holds, ok := conditions[name]
			if !ok {
				return false, exec.ErrNotFound
			}
			return holds, nil
		},
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exitcode": exitCode},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// exitCode is the command `exitcode N PROGRAM ARG…`: the program must end with the code, say something in one line on
// stderr, and nothing on stdout.
func exitCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exitcode N PROGRAM ARG...")
	}
	err := ts.Exec(args[1], args[2:]...)
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		ts.Fatalf("%v did not fail: %v", args[1:], err)
	}
	if got := strconv.Itoa(exit.ExitCode()); got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
	if out := ts.ReadFile("stdout"); out != "" {
		ts.Fatalf("stdout: %s", out)
	}
	if text := ts.ReadFile("stderr"); strings.Count(text, "\n") != 1 {
		ts.Fatalf("not one line on stderr: %q", text)
	}
}

// jdkBin returns the directory of the JDK's programs, "" if there is none.
func jdkBin() string {
	if home := os.Getenv("JAVA_HOME"); home != "" {
		bin := filepath.Join(home, "bin")
		if _, err := os.Stat(filepath.Join(bin, "javac")); err == nil {
			return bin
		}
	}
	javac, err := exec.LookPath("javac")
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(javac); err == nil {
		javac = real
	}
	return filepath.Dir(javac)
}

// TestInstrumentFlags compares the three places where the flags of `jiffy instrument` are written down.
func TestInstrumentFlags(t *testing.T) {
	docs, err := os.ReadFile(filepath.Join("..", "..", "docs", "instrument.md"))
	if err != nil {
		t.Fatal(err)
	}
	var flags, keys []string
	newInstrumentCommand().Flags().VisitAll(func(f *pflag.Flag) {
		if !bytes.Contains(docs, []byte("`--"+f.Name+"`")) && !bytes.Contains(docs, []byte("`--"+f.Name+" ")) {
			t.Errorf("docs/instrument.md does not have --%s", f.Name)
		}
		if !slices.Contains([]string{"output", "config", "changed", "explain", "quiet"}, f.Name) {
			flags = append(flags, f.Name)
		}
	})
	for f := range reflect.TypeFor[rules.Config]().Fields() {
		keys = append(keys, f.Tag.Get("yaml"))
	}
	slices.Sort(flags)
	slices.Sort(keys)
	if diff := cmp.Diff(flags, keys); diff != "" {
		t.Errorf("keys of the configuration file (-flags +keys):\n%s", diff)
	}
}
