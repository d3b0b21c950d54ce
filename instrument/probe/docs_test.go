package probe_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestAddingAProbeNamesWhatExists keeps docs/adding-a-probe.md true: its paths exist, its identifiers are declared.
func TestAddingAProbeNamesWhatExists(t *testing.T) {
	page := string(read(t, "../../docs/adding-a-probe.md"))
	source := sources(t, "../classfile", "../code", ".")
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(page, -1) {
		name := m[1]
		switch {
		case strings.HasPrefix(name, "go test"), strings.HasPrefix(name, "make "):
		case strings.Contains(name, "/"):
			if _, err := os.Stat("../../" + name); err != nil {
				t.Errorf("the page names %s: %v", name, err)
			}
		default:
			word := name[strings.LastIndexAny(name, ". ")+1:]
			if !strings.Contains(source, word) {
				if _, err := os.Stat(name); err != nil {
					t.Errorf("the page names %s, which is neither declared nor a file", name)
				}
			}
		}
	}
}

func sources(t *testing.T, dirs ...string) string {
	t.Helper()
	var all strings.Builder
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			all.Write(read(t, f))
		}
	}
	return all.String()
}
