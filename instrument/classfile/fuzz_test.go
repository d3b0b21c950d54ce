package classfile_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/jiffyperf/jiffy/fixtures"
	"github.com/jiffyperf/jiffy/instrument/classfile"
)

// sentinels are what every error of Parse wraps one of.
var sentinels = []error{classfile.ErrMagic, classfile.ErrTruncated, classfile.ErrVersion, classfile.ErrFormat}

func isSentinel(err error) bool {
	for _, s := range sentinels {
		if errors.Is(err, s) {
			return true
		}
	}
	return false
}

// FuzzParse feeds anything to Parse. What is refused says why; what is accepted is written back byte for byte, answers
// every question about its pool, and is a class file still when its pool has grown.
func FuzzParse(f *testing.F) {
	for _, data := range fixtures.Classes(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var c classfile.Class
		if err := c.Parse(data); err != nil {
			if !isSentinel(err) {
				t.Fatalf("%v wraps no sentinel", err)
			}
			return
		}
		if !bytes.Equal(c.Append(nil, nil), data) {
			t.Fatal("not written back as it was")
		}
		askPool(&c.Pool)
		if c.Pool.Room() < 12 {
			return
		}
		grown := c.Pool.AddMethodref("Owner", "name", "()V")
		c.Pool.AddLong(1)
		var again classfile.Class
		if err := again.Parse(c.Append(nil, nil)); err != nil {
			t.Fatalf("refused after the pool has grown: %v", err)
		}
		if !bytes.Equal(again.Name(), c.Name()) || len(again.Methods) != len(c.Methods) {
			t.Fatalf("%s became %s", c.Name(), again.Name())
		}
		if ref, _ := again.Pool.Ref(grown); string(ref.Class) != "Owner" || string(ref.Name) != "name" {
			t.Fatalf("the added constant became %s.%s", ref.Class, ref.Name)
		}
	})
}

// askPool asks a pool everything that there is to ask, at every index and behind the last.
func askPool(p *classfile.Pool) {
	for i := range p.Count() + 1 {
		i := uint16(i)
		p.Tag(i)
		p.Constant(i)
		p.Pair(i)
		p.Ref(i)
		p.Attribute(i)
		classfile.Text(p.Utf8(i))
		if name := p.ClassName(i); name != nil {
			p.FindClass(string(name))
		}
	}
}
