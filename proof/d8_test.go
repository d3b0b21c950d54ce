package proof

import (
	"archive/zip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jiffyperf/jiffy/instrument/classfile"
)

// A dexer is a D8 that `make corpora` fetched.
type dexer struct {
	name, jar string
	newest    uint16 // class-file version that it takes
}

var dexers = []dexer{
	{"D8 3.3.28", "bundletool.jar", 61},
	{"D8 8.5.35", "r8.jar", 65},
}

// dexable copies the classes of a jar that a dexer takes, those for Java releases in META-INF/versions left out, and returns how many there are.
func dexable(t *testing.T, jar, to string, newest uint16, unwanted map[string]bool) (classes int) {
	t.Helper()
	in, err := zip.OpenReader(jar)
	check(t, err)
	defer in.Close()
	file, err := os.Create(to)
	check(t, err)
	defer file.Close()
	out := zip.NewWriter(file)
	seen := map[string]bool{}
	var class classfile.Class
	for _, entry := range in.File {
		if !strings.HasSuffix(entry.Name, ".class") || strings.HasPrefix(entry.Name, "META-INF/") || strings.HasSuffix(entry.Name, "module-info.class") || seen[entry.Name] || unwanted[entry.Name] {
			continue
		}
		seen[entry.Name] = true
		if check(t, class.Parse(readEntry(t, entry))); class.Major > newest {
			continue
		}
		classes++
		check(t, out.Copy(entry))
	}
	check(t, out.Close())
	return classes
}

// dex runs D8 and returns its messages, with what differs by design taken out: jars, offsets, and the names that D8 makes up.
func dex(t *testing.T, d dexer, jar string, libraries []string) (messages []string, err error) {
	t.Helper()
	dir := t.TempDir()
	runtime, err := filepath.Abs(runtimeClasses)
	check(t, err)
	stub := filepath.Join(dir, "runtime.jar")
	_, err = jdks[0].Run("jar", "--create", "--file", stub, "-C", runtime, ".")
	check(t, err)
	args := []string{"-Xss8m", "-cp", needCached(t, d.jar)[0], "com.android.tools.r8.D8", "--min-api", "26", "--lib", jdks[0].Home, "--output", dir, "--classpath", stub}
	for _, library := range libraries {
		args = append(args, "--classpath", library)
	}
	out, err := exec.Command(jdks[0].Tool("java"), append(args, jar)...).CombinedOutput()
	for line := range strings.Lines(string(out)) {
		line = strings.ReplaceAll(strings.TrimSpace(line), jar, "JAR")
		messages = append(messages, offsets.ReplaceAllString(line, "$1?"))
	}
	dexes, _ := filepath.Glob(filepath.Join(dir, "*.dex"))
	if err == nil && len(dexes) == 0 {
		err = fmt.Errorf("D8 wrote nothing")
	}
	return messages, err
}

// offsets also finds the numbers that D8 gives to values, as in "for value: v225(name)".
var offsets = regexp.MustCompile(`((?:offset|pc|line) |:|value: v)\d+`)

// newMessages returns the messages that are in after more often than in before.
func newMessages(before, after []string) []string {
	count := map[string]int{}
	for _, message := range before {
		count[message]++
	}
	return slices.DeleteFunc(slices.Clone(after), func(message string) bool {
		count[message]--
		return count[message] >= 0
	})
}

// D8 takes the instrumented corpora as it took the originals: with no warning and no error that it did not have before.
func TestCorporaDexAsBefore(t *testing.T) {
	if os.Getenv("JIFFY_CORPORA_LIMIT") == "" {
		t.Skip("takes minutes; run `make test-corpora`")
	}
	for _, d := range dexers {
		t.Run(d.name, func(t *testing.T) {
			needCached(t, d.jar)
			eachCorpus(t, func(t *testing.T, c *corpus, made timedCorpus) {
				if c.modules != nil {
					t.Skip("no app brings a JDK's own classes")
				}
				libraries := c.jars(t)
				dir := t.TempDir()
				plain, timed := filepath.Join(dir, "plain.jar"), filepath.Join(dir, "timed.jar")
				unwanted := map[string]bool{}
				var before []string
				for {
					dexable(t, made.plain, plain, d.newest, unwanted)
					var err error
					if before, err = dex(t, d, plain, libraries); err == nil {
						break
					}
					if !refused(before, unwanted) {
						t.Fatalf("D8 does not take the original: %v\n%s", err, strings.Join(before, "\n"))
					}
				}
				classes := dexable(t, made.timed, timed, d.newest, unwanted)
				after, err := dex(t, d, timed, libraries)
				if err != nil {
					t.Errorf("D8 takes the original, not the instrumented classes: %v", err)
				}
				added := newMessages(before, after)
				for _, message := range added[:min(20, len(added))] {
					t.Errorf("new: %s", message)
				}
				t.Logf("%d classes, %d lines of messages before, %d after; left out, because D8 refuses the original: %d", classes, len(before), len(after), len(unwanted))
			})
		})
	}
}

var refusedClass = regexp.MustCompile(`^Error in JAR:(\S+\.class)`)

// refused adds the classes that D8 named in its errors. It tells whether there are new ones.
func refused(messages []string, unwanted map[string]bool) bool {
	before := len(unwanted)
	for _, message := range messages {
		if found := refusedClass.FindStringSubmatch(message); found != nil {
			unwanted[found[1]] = true
		}
	}
	return len(unwanted) > before
}
