package proof

import (
	"archive/zip"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jiffyperf/jiffy/instrument/classfile"
	"github.com/jiffyperf/jiffy/instrument/code"
)

// ECJ made subroutines (jsr, ret) of finally blocks for these targets, and still does.
func TestCorporaSubroutinesRunAsBefore(t *testing.T) {
	ecj := needCached(t, "ecj.jar")[0]
	j := jdks[0]
	for _, target := range []string{"1.1", "1.2", "1.3", "1.4"} {
		t.Run("target "+target, func(t *testing.T) {
			dir := t.TempDir()
			classes, plain, timed := filepath.Join(dir, "classes"), filepath.Join(dir, "plain.jar"), filepath.Join(dir, "timed.jar")
			_, err := j.Run("java", "-jar", ecj, "-source", "1.3", "-target", target, "-nowarn", "-d", classes, "testdata/subroutines/Subroutines.java")
			check(t, err)
			_, err = j.Run("jar", "--create", "--file", plain, "-C", classes, ".")
			check(t, err)
			want, err := j.Run("java", slices.Concat(verifyAll, []string{"-cp", plain, "Subroutines"})...)
			check(t, err)

			actions := filepath.Join(dir, "actions.csv")
			jiffy(t, "instrument", "--runtime", "--report", actions, "-o", timed, plain)
			run, report := filepath.Join(dir, "run"), filepath.Join(dir, "report")
			got := jiffy(t, slices.Concat([]string{"collect", "-o", run, "--", j.Tool("java")}, verifyAll, []string{"-cp", timed, "Subroutines"})...)
			if got != want {
				t.Errorf("with probes the program printed\n%s\nwithout\n%s", got, want)
			}
			jiffy(t, "report", "-o", report, run)
			checkSubroutines(t, plain, readCSV(t, actions))
			checkCounts(t, got, readCSV(t, filepath.Join(report, "methods.csv")))
		})
	}
}

// checkSubroutines fails the test unless the program is made of subroutines, and all of them are instrumented.
func checkSubroutines(t *testing.T, jar string, actions []row) {
	t.Helper()
	for _, r := range actions {
		if r["action"] != "instrumented" {
			t.Errorf("%s%s is not instrumented: %s", r["method"], r["descriptor"], r["reason"])
		}
	}
	var body code.Body
	subroutines := 0
	eachClass(t, jar, func(_ *zip.File, _ []byte, class *classfile.Class) {
		for _, m := range class.Methods {
			check(t, body.Parse(class.Bytes(m.Code), &class.Pool))
			if body.Subroutines {
				subroutines++
			}
		}
	})
	if subroutines < 9 {
		t.Errorf("only %d methods have subroutines", subroutines)
	}
}

// checkCounts holds what the program counted of itself against what was reported.
func checkCounts(t *testing.T, output string, reported []row) {
	t.Helper()
	counted := map[string]string{}
	for _, r := range reported {
		counted[r["class"]+"#"+r["method"]+r["descriptor"]] = "calls=" + r["calls"] + " thrown=" + r["thrown"]
	}
	lines := 0
	for line := range strings.Lines(output) {
		expected, ok := strings.CutPrefix(strings.TrimSpace(line), "expect ")
		if !ok {
			continue
		}
		lines++
		method, want, _ := strings.Cut(expected, " ")
		if got := counted[method]; got != want {
			t.Errorf("%s: %s reported, want %s", method, got, want)
		}
	}
	if lines != 9 {
		t.Errorf("the program counted %d methods, want 9", lines)
	}
}
