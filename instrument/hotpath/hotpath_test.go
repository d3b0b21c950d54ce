package hotpath

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/jiffyperf/jiffy/proof/jdk"
)

const entry = "io/github/jiffyperf/runtime/Probes"

// compiled returns a Find over sources of a tiny runtime and the real classes of the JDK that it names.
func compiled(t *testing.T) Find {
	t.Helper()
	all, err := jdk.Find()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	classes, library := filepath.Join(dir, "classes"), filepath.Join(dir, "library")
	if err := all[0].Compile(classes, []string{"--release", "8", "-Xlint:-options"}, "testdata"); err != nil {
		t.Fatal(err)
	}
	if _, err := all[0].Run("jimage", "extract", "--dir", library, "--include", "regex:/java.base/java/.*",
		filepath.Join(all[0].Home, "lib", "modules")); err != nil {
		t.Fatal(err)
	}
	return func(name string) []byte {
		for _, root := range []string{classes, filepath.Join(library, "java.base")} {
			if data, err := os.ReadFile(filepath.Join(root, name+".class")); err == nil {
				return data
			}
		}
		return nil
	}
}

func TestClassesOfARuntime(t *testing.T) {
	found := Classes(entry, compiled(t))
	t.Logf("%d classes: %v", len(found), found)
	for name, want := range map[string]bool{
		"java/lang/ThreadLocal":                     true,
		"java/lang/ThreadLocal$ThreadLocalMap":      true,  // only called by ThreadLocal
		"java/lang/ref/Reference":                   true,  // a superclass's method
		"java/util/concurrent/atomic/AtomicInteger": true,  // through a subclass of the runtime's own
		"java/lang/StringBuilder":                   false, // only on the slow path
		"java/lang/IllegalStateException":           false, // only made to be thrown
		"java/util/HashMap":                         false, // not called at all
		"io/github/jiffyperf/runtime/Probes":        false, // no library class
	} {
		if got := slices.Contains(found, name); got != want {
			t.Errorf("%s: found %v, want %v", name, got, want)
		}
	}
}

func TestNothingToFollow(t *testing.T) {
	if found := Classes(entry, func(string) []byte { return nil }); len(found) != 0 {
		t.Errorf("found %v without any class", found)
	}
	if found := Classes(entry, func(string) []byte { return []byte("no class") }); len(found) != 0 {
		t.Errorf("found %v in broken classes", found)
	}
}
