package android

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jiffyperf/jiffy/instrument/classfile"
)

// eachClass parses the runtime's classes.
func eachClass(t *testing.T, check func(c *classfile.Class)) {
	t.Helper()
	dir, err := runtimeClasses()
	if err != nil {
		t.Skip(err)
	}
	var n int
	err = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".class") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var c classfile.Class
		if err := c.Parse(data); err != nil {
			return err
		}
		n++
		check(&c)
		return nil
	})
	if err != nil || n < 20 {
		t.Fatalf("%d classes, error %v", n, err)
	}
}

func TestClassesAreOfJava8(t *testing.T) {
	eachClass(t, func(c *classfile.Class) {
		if c.Major != 52 {
			t.Errorf("%s has version %d, want 52", c.Name(), c.Major)
		}
		for i := range uint16(c.Pool.Count()) {
			switch c.Pool.Tag(i) {
			case classfile.TagInvokeDynamic, classfile.TagMethodHandle, classfile.TagMethodType, classfile.TagDynamic:
				t.Errorf("%s: constant %d has tag %d: there are no lambdas on API 21 without desugaring", c.Name(), i, c.Pool.Tag(i))
			}
		}
	})
}

// What initialises a class of the hot path may run on an app's thread with the stack or the heap nearly used up, and a
// failed initialiser breaks its class for good.
func TestNoClassHasAStaticInitialiser(t *testing.T) {
	var probes bool
	eachClass(t, func(c *classfile.Class) {
		if string(c.Name()) == "io/github/jiffyperf/runtime/Probes" {
			probes = true
			if c.Pool.FindClass("java/lang/StringBuilder") != 0 {
				t.Errorf("%s concatenates strings", c.Name())
			}
		}
		for _, m := range c.Methods {
			if string(c.Pool.Utf8(m.Name)) == "<clinit>" {
				t.Errorf("%s has a static initialiser", c.Name())
			}
		}
	})
	if !probes {
		t.Error("no class Probes")
	}
}

// Packages that Android has from an API level above 21 only, or not at all.
var missingOnDevices = []string{
	"java/lang/invoke/", "java/lang/management/", "java/nio/file/", "java/time/", "java/util/function/", "java/util/stream/", "sun/", "jdk/",
}

func TestOnlyPackagesOfAndroidAreUsed(t *testing.T) {
	eachClass(t, func(c *classfile.Class) {
		for i := range uint16(c.Pool.Count()) {
			if c.Pool.Tag(i) != classfile.TagClass {
				continue
			}
			used := string(c.Pool.ClassName(i))
			if slices.ContainsFunc(missingOnDevices, func(p string) bool { return strings.HasPrefix(used, p) }) {
				t.Errorf("%s uses %s", c.Name(), used)
			}
		}
	})
}

// API 21 has the methods of Java 7, and none of those that Java 8 added.
func TestOnlyMethodsOfJava7AreUsed(t *testing.T) {
	if _, err := runtimeClasses(); err != nil {
		t.Skip(err)
	}
	i := slices.IndexFunc(installed(), func(j jdk) bool { return j.release >= 9 && j.release < 20 })
	if i < 0 {
		t.Skip("no JDK that still knows Java 7")
	}
	err := javac(installed()[i], t.TempDir(), "src/main/java", "--release", "7", "-Xlint:-options",
		"-sourcepath", "src/main/java"+string(os.PathListSeparator)+"src/compileonly/java", "-implicit:none")
	if err != nil {
		t.Error(err)
	}
}

func TestCompileOnlySignaturesStayOut(t *testing.T) {
	eachClass(t, func(c *classfile.Class) {
		if !strings.HasPrefix(string(c.Name()), "io/github/jiffyperf/") {
			t.Errorf("%s is among the runtime's classes", c.Name())
		}
	})
}

func splitLines(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == '\n' })
}
