package proof

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The compiler, instrumented, compiles the in-app runtime and the sample application to the bytes that it compiled them to before.
func TestInstrumentedJavacCompilesTheSame(t *testing.T) {
	sources := javaSources(t, "../runtime-collector/android/src/main/java", "../runtime-collector/android/src/compileonly/java", "../fixtures/apps/bakery/src")
	for _, j := range newestAndOldest() {
		t.Run("JDK "+strconv.Itoa(j.Release), func(t *testing.T) {
			dir := t.TempDir()
			jar, _ := instrumentModule(t, j, moduleJar(t, j, "jdk.compiler", dir))
			log := filepath.Join(dir, "log")
			check(t, os.Mkdir(log, 0o755))

			compile := func(classes string, options ...string) {
				args := slices.Concat(options, []string{"-m", "jdk.compiler/com.sun.tools.javac.Main", "--release", "17", "-g", "-d", classes}, sources)
				cmd := exec.Command(j.Tool("java"), args...)
				cmd.Env = append(os.Environ(), "JIFFY_LOG="+log)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("javac: %v\n%s", err, out)
				}
			}
			before, after := filepath.Join(dir, "before"), filepath.Join(dir, "after")
			compile(before)
			if files, _ := os.ReadDir(log); len(files) != 0 {
				t.Fatalf("the compiler as it was wrote an event log")
			}
			compile(after, patch(t, map[string]string{"jdk.compiler": jar})...)
			if logs, _ := filepath.Glob(filepath.Join(log, "events-*.jiffy")); len(logs) != 1 {
				t.Errorf("the instrumented compiler wrote %d event logs, want 1", len(logs))
			}
			sameTrees(t, before, after)
		})
	}
}

func javaSources(t *testing.T, folders ...string) []string {
	t.Helper()
	var sources []string
	for _, folder := range folders {
		check(t, filepath.WalkDir(folder, func(path string, _ os.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".java") {
				sources = append(sources, path)
			}
			return err
		}))
	}
	return sources
}

// sameTrees fails the test unless two folders hold the same files with the same bytes, at least one.
func sameTrees(t *testing.T, a, b string) {
	t.Helper()
	left, right := files(t, a), files(t, b)
	if len(left) == 0 {
		t.Fatalf("%s is empty", a)
	}
	for name, data := range left {
		other, ok := right[name]
		if !ok {
			t.Errorf("%s is missing", name)
		} else if !bytes.Equal(data, other) {
			t.Errorf("%s differs", name)
		}
	}
	for name := range right {
		if _, ok := left[name]; !ok {
			t.Errorf("%s was not there before", name)
		}
	}
}

func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	check(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		found[name], err = os.ReadFile(path)
		return err
	}))
	return found
}
