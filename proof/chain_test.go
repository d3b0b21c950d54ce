package proof

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jiffyperf/jiffy/proof/jdk"
)

// What TestMain makes, for all tests to use.
var (
	jiffyBinary string    // jiffy, built from this tree
	helpers     string    // classes of testdata/*.java
	jdks        []jdk.JDK // oldest first
)

// runtimeClasses holds the compiled in-app runtime, as `make build` puts it there.
const runtimeClasses = "../runtime-collector/android/classes"

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "jiffy-proof")
	if err == nil {
		err = setUp(dir)
	}
	code := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, "proof:", err)
	} else {
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

func setUp(dir string) (err error) {
	if jdks, err = jdk.Find(); err != nil {
		return err
	}
	addModules()
	if _, err := os.Stat(filepath.Join(runtimeClasses, "io")); err != nil {
		return fmt.Errorf("the in-app runtime is not compiled; run `make build` first: %w", err)
	}
	jiffyBinary = filepath.Join(dir, "jiffy")
	build := exec.Command("go", "build", "-o", jiffyBinary, "../cmd/jiffy")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", build.Args, err, out)
	}
	helpers = filepath.Join(dir, "helpers")
	return jdks[0].Compile(helpers, []string{"--release", strconv.Itoa(jdk.Oldest)}, "testdata/Link.java", "testdata/LinkJar.java", "testdata/ModuleJar.java", "testdata/Redefine.java")
}

// newestAndOldest returns the first and the last of jdks: one if there is only one.
func newestAndOldest() []jdk.JDK {
	if len(jdks) == 1 {
		return jdks
	}
	return []jdk.JDK{jdks[0], jdks[len(jdks)-1]}
}

// runJiffy runs the binary and returns its standard output. The error holds all that it wrote.
func runJiffy(args ...string) (string, error) {
	cmd := exec.Command(jiffyBinary, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("jiffy %s: %w\n%s%s", strings.Join(args, " "), err, stdout.Bytes(), stderr.Bytes())
	}
	return stdout.String(), nil
}

// jiffy runs the binary and returns its standard output. The test fails if the command does.
func jiffy(t *testing.T, args ...string) string {
	t.Helper()
	stdout, err := runJiffy(args...)
	check(t, err)
	return stdout
}

// check ends the test if err is set.
func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A row is one line of a CSV file, by column name.
type row map[string]string

// parseCSV returns the rows of a CSV file with a header. Reads with nothing of jiffy's own, as other people's tools would.
func parseCSV(path string) ([]row, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(lines) == 0 {
		return nil, fmt.Errorf("%s is empty, not even a header", path)
	}
	rows := make([]row, 0, len(lines)-1)
	for _, line := range lines[1:] {
		r := row{}
		for i, name := range lines[0] {
			r[name] = line[i]
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// readCSV is parseCSV; the test fails if the file can't be read.
func readCSV(t *testing.T, path string) []row {
	t.Helper()
	rows, err := parseCSV(path)
	check(t, err)
	return rows
}

// int64 returns a column as a number. The test fails if there is none.
func (r row) int64(t *testing.T, column string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(r[column], 10, 64)
	if err != nil {
		t.Fatalf("column %s of %v: %v", column, r, err)
	}
	return n
}

// keyValues returns a CSV file of the columns key and value as a map.
func keyValues(t *testing.T, path string) map[string]string {
	t.Helper()
	values := map[string]string{}
	for _, r := range readCSV(t, path) {
		values[r["key"]] = r["value"]
	}
	return values
}
