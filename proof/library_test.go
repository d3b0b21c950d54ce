package proof

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jiffyperf/jiffy/proof/jdk"
)

// libraryTests chooses some of commons-lang3's own tests: quick ones, which pass on the JDKs of today.
const libraryTests = `.*(Builder|StringUtils|ArrayUtils|reflect|mutable|tuple|math|event|function).*Test`

// opened are the packages of java.base that those tests look into.
var opened = []string{"java.lang", "java.lang.reflect", "java.net", "java.math", "java.text", "java.time", "java.util", "java.util.concurrent", "java.util.stream"}

// A library's own tests have the same results with a probe in every method of the library.
func TestCorporaLibraryPassesItsTests(t *testing.T) {
	paths := needCached(t, "commons-lang3.jar", "commons-lang3-tests.jar", "junit.jar", "easymock.jar", "commons-text.jar", "hamcrest.jar")
	timed := filepath.Join(t.TempDir(), "timed.jar")
	jiffy(t, "instrument", "-q", "--huge", "--runtime", "-o", timed, paths[0])
	for _, j := range jdks[:1] {
		t.Run("JDK "+strconv.Itoa(j.Release), func(t *testing.T) {
			before, _ := ownTests(t, j, paths)
			after, log := ownTests(t, j, slices.Concat([]string{timed}, paths[1:]))
			if !maps.Equal(before, after) {
				t.Errorf("results are %v, without probes %v", after, before)
			}
			if n, _ := strconv.Atoi(after["successful"]); n < 2000 {
				t.Errorf("only %d tests passed", n)
			}
			if logs, _ := filepath.Glob(filepath.Join(log, "events-*.jiffy")); len(logs) != 1 {
				t.Errorf("%d event logs, want 1", len(logs))
			}
			t.Logf("tests: %v", after)
		})
	}
}

var testCount = regexp.MustCompile(`(?m)^\[ +(\d+) tests (\w+) +\]$`)

// ownTests runs the tests on a class path. Returns the numbers of those that were found, started, successful and so on, and the folder of the event log.
func ownTests(t *testing.T, j jdk.JDK, path []string) (counts map[string]string, log string) {
	t.Helper()
	log = t.TempDir()
	var args []string
	for _, p := range opened {
		args = append(args, "--add-opens", "java.base/"+p+"=ALL-UNNAMED")
	}
	args = append(args, "-cp", strings.Join(path, string(filepath.ListSeparator)), "org.junit.platform.console.ConsoleLauncher", "execute",
		"--exclude-engine", "junit-vintage", "--scan-classpath="+path[1], "--include-classname", libraryTests, "--details=summary", "--disable-banner")
	cmd := exec.Command(j.Tool("java"), args...)
	cmd.Env = append(os.Environ(), "JIFFY_LOG="+log, "JIFFY_QUOTA=16m")
	out, err := cmd.CombinedOutput() // a failed test is an exit code, too
	counts = map[string]string{}
	for _, found := range testCount.FindAllStringSubmatch(string(out), -1) {
		counts[found[2]] = found[1]
	}
	if len(counts) == 0 {
		t.Fatalf("no results: %v\n%s", err, out)
	}
	return counts, log
}
