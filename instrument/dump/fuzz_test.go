package dump_test

import (
	"io"
	"testing"

	"github.com/jiffyperf/jiffy/fixtures"
	"github.com/jiffyperf/jiffy/instrument/classfile"
	"github.com/jiffyperf/jiffy/instrument/dump"
)

// FuzzWrite prints anything: it must print every class file that can be parsed, and refuse every other.
func FuzzWrite(f *testing.F) {
	for _, data := range fixtures.Classes(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var c classfile.Class
		want, got := c.Parse(data), dump.Write(io.Discard, data)
		if (want == nil) != (got == nil) {
			t.Fatalf("parse: %v, dump: %v", want, got)
		}
	})
}
