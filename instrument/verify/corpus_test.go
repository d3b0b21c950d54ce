package verify

import (
	"path/filepath"
	"strconv"
	"testing"

	"github.com/jiffyperf/jiffy/fixtures"
	"github.com/jiffyperf/jiffy/instrument/classfile"
)

// The classes of the JDKs on the machine link, so that nothing of them may be refused.
func TestNoClassOfAJDKIsRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 50,000 classes")
	}
	for _, j := range allJDKs(t) {
		t.Run(strconv.Itoa(j.Release), func(t *testing.T) {
			jar := filepath.Join(t.TempDir(), "modules.jar")
			if _, err := j.Run("java", "testdata/Modules.java", jar); err != nil {
				t.Fatal(err)
			}
			var v Verifier
			var c classfile.Class
			classes, methods, count := 0, 0, map[Kind]int{}
			eachClass(t, jar, func(name string, data []byte) {
				if err := c.Parse(data); err != nil {
					t.Errorf("%s: %v", name, err)
					return
				}
				classes++
				methods += len(c.Methods)
				for _, f := range v.Class(nil, &c) {
					count[f.Kind]++
					if f.Kind == Refused || f.Kind == Locking {
						t.Errorf("%s: %v", name, f)
					}
				}
			})
			if classes < 10000 || count[Unchecked] > methods/100 {
				t.Errorf("too little was checked")
			}
			t.Logf("%d classes, %d methods, findings: %v", classes, methods, count)
		})
	}
}

// The fixtures' compilers know what they do; only subroutines go without a check of types.
func TestNoFixtureIsRefused(t *testing.T) {
	for name, data := range fixtures.Classes(t) {
		findings, err := Class(data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var c classfile.Class
		_ = c.Parse(data)
		for _, f := range findings {
			if f.Kind != Unchecked || c.Major >= framesBinding {
				t.Errorf("%s: %v", name, f)
			}
		}
	}
}
