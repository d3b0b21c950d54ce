package code_test

import (
	"io/fs"
	"os"
	"path/filepath"
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
