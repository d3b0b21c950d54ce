package proof

import (
	"archive/zip"
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jiffyperf/jiffy/proof/jdk"
)

// modules are the ones whose every class is instrumented and linked.
var modules = []string{"java.base", "java.desktop", "java.xml", "jdk.compiler"}

// verifyAll makes HotSpot verify every class, those of the boot loader too: what -Xverify:all did before it was deprecated.
var verifyAll = []string{"-XX:+UnlockDiagnosticVMOptions", "-XX:+BytecodeVerificationLocal", "-XX:+BytecodeVerificationRemote", "-Xshare:off"}

// moduleJar writes a module's classes as they are into dir and returns the jar's path.
func moduleJar(t *testing.T, j jdk.JDK, module, dir string) string {
	t.Helper()
	path := filepath.Join(dir, module+".jar")
	_, err := j.Run("java", "-cp", helpers, "ModuleJar", module, path)
	check(t, err)
	return path
}

// instrumentModule instruments a module's jar, and returns the new jar's path and how many methods have probes.
func instrumentModule(t *testing.T, j jdk.JDK, jar string) (path string, methods int) {
	t.Helper()
	base := strings.TrimSuffix(jar, ".jar")
	path, report := base+"-jiffy.jar", base+"-report.csv"
	jiffy(t, "instrument", "--report", report, "-o", path, jar)
	reasons := map[string]int{}
	for _, r := range readCSV(t, report) {
		switch r["action"] {
		case "instrumented":
			if r["method"] != "" { // else the row is about the class
				methods++
			}
		case "skipped":
			reasons[r["reason"]]++
		default:
			t.Errorf("%s %s%s: %s: %s", r["class"], r["method"], r["descriptor"], r["action"], r["reason"])
		}
	}
	t.Logf("JDK %d, %s: %d methods instrumented; not: %v", j.Release, filepath.Base(base), methods, reasons)
	return path, methods
}

// patch returns the options that make the VM load modules from jars, by module name, with the in-app runtime in reach.
func patch(t *testing.T, jars map[string]string) []string {
	t.Helper()
	classes, err := filepath.Abs(runtimeClasses)
	check(t, err)
	options := []string{"-Xbootclasspath/a:" + classes}
	for module, jar := range jars {
		options = append(options, "--patch-module", module+"="+jar, "--add-reads", module+"=ALL-UNNAMED")
	}
	return options
}

// link links every class of some modules in a VM with options. Returns "ok" or the error, by class name.
func link(t *testing.T, j jdk.JDK, options []string, modules ...string) map[string]string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "linked.txt")
	args := slices.Concat(verifyAll, options, []string{"-cp", helpers, "Link", out}, modules)
	_, err := j.Run("java", args...)
	check(t, err)
	return readResults(t, out)
}

// readResults reads lines of a name and a result.
func readResults(t *testing.T, path string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(path)
	check(t, err)
	results := map[string]string{}
	for line := range strings.Lines(string(data)) {
		name, result, _ := strings.Cut(strings.TrimSpace(line), " ")
		results[name] = result
	}
	return results
}

// broken returns, in order, the classes that linked before and don't after, with the error.
func broken(before, after map[string]string) []string {
	var names []string
	for name, result := range before {
		if result == "ok" && after[name] != "ok" {
			names = append(names, name+": "+after[name])
		}
	}
	slices.Sort(names)
	return names
}

// bootClasses returns the names of the classes that the VM, given options, loads before the first one of a program.
func bootClasses(t *testing.T, j jdk.JDK, options []string) map[string]bool {
	t.Helper()
	log := filepath.Join(t.TempDir(), "loaded.txt")
	args := slices.Concat(verifyAll, options, []string{"-Xlog:class+load:file=" + log, "-cp", helpers, "Link", os.DevNull})
	_, err := j.Run("java", args...)
	check(t, err)
	file, err := os.Open(log)
	check(t, err)
	defer file.Close()
	loaded := regexp.MustCompile(`\] (\S+) source: (\S+)`)
	classes := map[string]bool{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		found := loaded.FindStringSubmatch(lines.Text())
		if found == nil {
			continue
		}
		if found[1] == "Link" {
			return classes
		}
		classes[found[1]] = true
	}
	t.Fatalf("%s does not say when the program was loaded", log)
	return nil
}

// split copies a jar into two: one of some classes, by name, and one of the others.
func split(t *testing.T, jar string, classes map[string]bool) (those, others string) {
	t.Helper()
	in, err := zip.OpenReader(jar)
	check(t, err)
	defer in.Close()
	those, others = strings.TrimSuffix(jar, ".jar")+"-boot.jar", strings.TrimSuffix(jar, ".jar")+"-patch.jar"
	var out [2]*zip.Writer
	for i, path := range []string{those, others} {
		file, err := os.Create(path)
		check(t, err)
		defer file.Close()
		out[i] = zip.NewWriter(file)
	}
	for _, entry := range in.File {
		to := out[1]
		if classes[className(entry)] {
			to = out[0]
		}
		check(t, to.Copy(entry))
	}
	check(t, out[0].Close())
	check(t, out[1].Close())
	return those, others
}

// className returns the binary name of the class in an entry of a jar.
func className(entry *zip.File) string {
	return strings.ReplaceAll(strings.TrimSuffix(entry.Name, ".class"), "/", ".")
}

func TestInstrumentedModulesLink(t *testing.T) {
	for _, j := range newestAndOldest() {
		t.Run("JDK "+strconv.Itoa(j.Release), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			plain, timed := map[string]string{}, map[string]string{}
			for _, module := range modules {
				plain[module] = moduleJar(t, j, module, dir)
				jar, methods := instrumentModule(t, j, plain[module])
				if methods < 5000 {
					t.Errorf("%s: only %d methods instrumented", module, methods)
				}
				timed[module] = jar
			}
			boot := bootClasses(t, j, patch(t, plain)) // patched already, since that makes the VM load more
			boots, others := split(t, timed["java.base"], boot)
			timed["java.base"] = others

			before := link(t, j, nil, modules...)
			after := link(t, j, patch(t, timed), modules...)
			if bad := broken(before, after); len(bad) > 0 {
				t.Errorf("%d of %d classes linked before and don't after:\n%s", len(bad), len(before), strings.Join(bad[:min(20, len(bad))], "\n"))
			}
			bootClassesVerify(t, j, boots)
		})
	}
}

// bootClassesVerify holds the classes that a VM can't be patched with, since it needs them before it can find the runtime, against the verifier all the same:
// an agent puts them in the place of those that are there, with a stand-in for the runtime.
func bootClassesVerify(t *testing.T, j jdk.JDK, jar string) {
	t.Helper()
	dir := t.TempDir()
	manifest, agent, stub, out := filepath.Join(dir, "manifest"), filepath.Join(dir, "agent.jar"), filepath.Join(dir, "stub"), filepath.Join(dir, "redefined.txt")
	check(t, os.WriteFile(manifest, []byte("Premain-Class: Redefine\nCan-Redefine-Classes: true\n"), 0o644))
	_, err := j.Run("jar", "--create", "--file", agent, "--manifest", manifest, "-C", helpers, "Redefine.class")
	check(t, err)
	check(t, j.Compile(stub, nil, "testdata/stub"))
	_, err = j.Run("java", slices.Concat(verifyAll, []string{"-Xbootclasspath/a:" + stub, "--add-reads", "java.base=ALL-UNNAMED",
		"-javaagent:" + agent + "=" + out + "," + jar, "-cp", helpers, "Redefine"})...)
	check(t, err)
	results := readResults(t, out)
	in, err := zip.OpenReader(jar)
	check(t, err)
	defer in.Close()
	for _, entry := range in.File {
		switch name := className(entry); results[name] {
		case "ok":
		case "unmodifiable":
			t.Logf("%s: the VM lets nobody redefine it", name)
		default:
			t.Errorf("%s, which the VM boots with: %s", name, results[name])
		}
	}
	t.Logf("%d classes that the VM boots with were redefined", len(results))
}

// A jar of classes that can't be verified must be noticed, else the tests above prove nothing.
func TestBrokenFramesAreNoticed(t *testing.T) {
	j := jdks[len(jdks)-1]
	jar := moduleJar(t, j, "java.xml", t.TempDir())
	broke := 0
	spoiled := rewrite(t, jar, func(class []byte) []byte {
		if bytes.Contains(class, []byte("StackMapTable")) {
			broke++
		}
		return bytes.ReplaceAll(class, []byte("StackMapTable"), []byte("StackMopTable"))
	})
	before := link(t, j, nil, "java.xml")
	after := link(t, j, patch(t, map[string]string{"java.xml": spoiled}), "java.xml")
	if bad := broken(before, after); len(bad) < broke {
		t.Errorf("%d classes have lost their frames, only %d don't link", broke, len(bad))
	}
}

// rewrite copies a jar with each class changed by f. Returns the copy's path.
func rewrite(t *testing.T, jar string, f func([]byte) []byte) string {
	t.Helper()
	in, err := zip.OpenReader(jar)
	check(t, err)
	defer in.Close()
	path := strings.TrimSuffix(jar, ".jar") + "-rewritten.jar"
	file, err := os.Create(path)
	check(t, err)
	defer file.Close()
	out := zip.NewWriter(file)
	for _, entry := range in.File {
		data := readEntry(t, entry)
		to, err := out.Create(entry.Name)
		check(t, err)
		_, err = to.Write(f(data))
		check(t, err)
	}
	check(t, out.Close())
	return path
}

func readEntry(t *testing.T, entry *zip.File) []byte {
	t.Helper()
	from, err := entry.Open()
	check(t, err)
	defer from.Close()
	data, err := io.ReadAll(from)
	check(t, err)
	return data
}
