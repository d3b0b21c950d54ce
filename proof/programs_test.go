package proof

import (
	"archive/zip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jiffyperf/jiffy/proof/jdk"
)

// A program is a compiler of the corpora.
type program struct {
	jar       string
	libraries []string // of the cache; behind the jar on its class path
	from, to  int      // the JDKs that it runs on, as feature releases
	// command is the main class and its arguments. It writes to the folder out; in is one it may unpack things into.
	command func(t *testing.T, in, out string) []string
}

var programs = map[string]program{
	"Kotlin compiler": {"kotlin-compiler.jar",
		[]string{"kotlin-stdlib.jar", "kotlin-script-runtime.jar", "kotlin-reflect.jar", "kotlin-daemon-client.jar", "annotations.jar", "kotlinx-coroutines-core-jvm.jar"}, 17, 25,
		func(t *testing.T, _, out string) []string {
			libraries := needCached(t, "kotlin-stdlib.jar", "kotlinx-coroutines-core-jvm.jar")
			return []string{"org.jetbrains.kotlin.cli.jvm.K2JVMCompiler", "-no-stdlib", "-no-reflect",
				"-cp", strings.Join(libraries, string(filepath.ListSeparator)), "-d", out, "testdata/kotlin"}
		}},
	"Groovy compiler": {"groovy.jar", nil, 17, 25, func(t *testing.T, _, out string) []string {
		return []string{"org.codehaus.groovy.tools.FileSystemCompiler", "-d", out, "testdata/groovy/Orders.groovy"}
	}},
	"Eclipse compiler": {"ecj.jar", nil, 17, 17, func(t *testing.T, _, out string) []string {
		return append([]string{"org.eclipse.jdt.internal.compiler.batch.Main", "-8", "-nowarn", "-d", out},
			javaSources(t, "../runtime-collector/android/src/main/java", "../runtime-collector/android/src/compileonly/java")...)
	}},
	"Closure compiler": {"closure-compiler.jar", nil, 21, 99, func(t *testing.T, in, out string) []string {
		return []string{"com.google.javascript.jscomp.CommandLineRunner", "--compilation_level", "ADVANCED", "--warning_level", "QUIET",
			"--js", unpacked(t, "selenium-server.jar", "org/openqa/selenium/remote/server/client.js", in), "--js_output_file", filepath.Join(out, "client.js")}
	}},
	"D8": {"r8.jar", nil, 17, 21, func(t *testing.T, _, out string) []string {
		return []string{"com.android.tools.r8.D8", "--min-api", "26", "--lib", jdks[0].Home, "--output", out, needCached(t, "kotlinx-coroutines-core-jvm.jar")[0]}
	}},
}

// unpacked returns the path of a file of a jar in the cache, unpacked into dir.
func unpacked(t *testing.T, jar, name, dir string) string {
	t.Helper()
	in, err := zip.OpenReader(needCached(t, jar)[0])
	check(t, err)
	defer in.Close()
	path := filepath.Join(dir, filepath.Base(name))
	for _, entry := range in.File {
		if entry.Name == name {
			check(t, os.WriteFile(path, readEntry(t, entry), 0o644))
			return path
		}
	}
	t.Fatalf("%s has no %s", jar, name)
	return ""
}

// Compilers with a probe in every method write the same bytes and messages as without.
func TestCorporaProgramsWriteTheSame(t *testing.T) {
	for name, p := range programs {
		t.Run(name, func(t *testing.T) {
			paths := needCached(t, append([]string{p.jar}, p.libraries...)...)
			timed := filepath.Join(t.TempDir(), "timed.jar")
			jiffy(t, "instrument", "-q", "--huge", "--runtime", "--compression", "store", "-o", timed, paths[0])
			ran := false
			for _, j := range newestAndOldest() {
				if j.Release < p.from || j.Release > p.to {
					continue
				}
				ran = true
				before, said, _ := p.run(t, j, paths)
				after, saysNow, log := p.run(t, j, slices.Concat([]string{timed}, paths[1:]))
				sameTrees(t, before, after)
				if said != saysNow {
					t.Errorf("JDK %d: with probes it says\n%s\nwithout\n%s", j.Release, saysNow, said)
				}
				if logs, _ := filepath.Glob(filepath.Join(log, "events-*.jiffy")); len(logs) != 1 {
					t.Errorf("JDK %d: it wrote %d event logs, want 1", j.Release, len(logs))
				}
				t.Logf("JDK %d: the same %d files", j.Release, len(files(t, after)))
			}
			if !ran {
				t.Skipf("needs a JDK from %d to %d", p.from, p.to)
			}
		})
	}
}

// run runs the program from a class path. Returns where it wrote to, what it said, and where its event log would be.
func (p *program) run(t *testing.T, j jdk.JDK, path []string) (out, said, log string) {
	t.Helper()
	out, log = t.TempDir(), t.TempDir()
	args := slices.Concat([]string{"-Xss8m", "-cp", strings.Join(path, string(filepath.ListSeparator))}, p.command(t, t.TempDir(), out))
	cmd := exec.Command(j.Tool("java"), args...)
	cmd.Env = append(os.Environ(), "JIFFY_LOG="+log, "JIFFY_QUOTA=16m")
	text, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("JDK %d: %v\n%s", j.Release, err, text)
	}
	lines := strings.NewReplacer(out, "OUT", path[0], "JAR").Replace(string(text))
	return out, strings.Join(slices.DeleteFunc(strings.SplitAfter(lines, "\n"), aboutTheLog), ""), log
}

// aboutTheLog tells whether the runtime said a line: that the quota is used up, and it folds calls.
func aboutTheLog(line string) bool { return strings.HasPrefix(line, "jiffy: ") }
