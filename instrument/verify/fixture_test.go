package verify

import (
	"archive/zip"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fixtures is where the fixture classes lie, one case per folder.
const fixtures = "../../fixtures/classes"

// fixtureClasses returns the fixture classes' bytes by their paths.
func fixtureClasses(t testing.TB) map[string][]byte {
	t.Helper()
	classes := map[string][]byte{}
	err := filepath.WalkDir(fixtures, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".class" {
			return err
		}
		name, _ := filepath.Rel(fixtures, path)
		classes[filepath.ToSlash(name)], err = os.ReadFile(path)
		return err
	})
	if err != nil || len(classes) == 0 {
		t.Fatalf("%d fixture classes, %v", len(classes), err)
	}
	return classes
}

// eachClass visits the classes of a jar.
func eachClass(t testing.TB, jar string, visit func(name string, data []byte)) {
	t.Helper()
	z, err := zip.OpenReader(jar)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, f := range z.File {
		if !strings.HasSuffix(f.Name, ".class") {
			continue
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		r.Close()
		visit(f.Name, data)
	}
}
