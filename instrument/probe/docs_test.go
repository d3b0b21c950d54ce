package probe_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	quoted     = regexp.MustCompile("`([^`]+)`")
	identifier = regexp.MustCompile(`\b[A-Z][A-Za-z]+\b`)
	linked     = regexp.MustCompile(`\]\(([^)]+)\)`)
)

// TestAddingAProbeNamesWhatExists keeps docs/adding-a-probe.md true: its paths and links lead somewhere, and the Go names in it
// are declared.
func TestAddingAProbeNamesWhatExists(t *testing.T) {
	page := string(read(t, "../../docs/adding-a-probe.md"))
	declared := sources(t, "../classfile", "../code", "../mapping", ".")
	paths, names := 0, 0
	for _, m := range quoted.FindAllStringSubmatch(page, -1) {
		switch text := m[1]; {
		case strings.HasPrefix(text, "go test"):
		case strings.Contains(text, "/"):
			paths++
			if _, err := os.Stat("../../" + text); err != nil {
				t.Errorf("the page names %s: %v", text, err)
			}
		case !strings.Contains(text, "serialVersionUID") && !strings.Contains(text, "jiffyperf"):
			for _, name := range identifier.FindAllString(text, -1) {
				names++
				if !regexp.MustCompile(`\b` + name + `\b`).MatchString(declared) {
					t.Errorf("the page names %s, which is not declared", name)
				}
			}
		}
	}
	for _, m := range linked.FindAllStringSubmatch(page, -1) {
		paths++
		if _, err := os.Stat("../../docs/" + m[1]); err != nil {
			t.Errorf("the page links to %s: %v", m[1], err)
		}
	}
	if paths < 5 || names < 10 {
		t.Errorf("found only %d paths and %d names to check", paths, names)
	}
}

// sources is the text of the Go files in some folders, without tests.
func sources(t *testing.T, dirs ...string) string {
	t.Helper()
	var all strings.Builder
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if !strings.HasSuffix(f, "_test.go") {
				all.Write(read(t, f))
			}
		}
	}
	return all.String()
}
