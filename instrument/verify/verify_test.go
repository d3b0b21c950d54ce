package verify

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jiffyperf/jiffy/fixtures"
	"github.com/jiffyperf/jiffy/instrument/classfile"
)

// FuzzClass feeds anything to the verifier: it must not panic, and what it finds must be in the class.
func FuzzClass(f *testing.F) {
	for _, data := range fixtures.Classes(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		findings, err := Class(data)
		if err != nil {
			return
		}
		var c classfile.Class
		if err := c.Parse(data); err != nil {
			t.Fatalf("%v, but it was checked", err)
		}
		var v Verifier
		for i := range c.Methods {
			m := &c.Methods[i]
			if m.Code.Empty() {
				continue
			}
			name, refusedBy := methodName(&c, m), v.Method(&c, m, c.Bytes(m.Code))
			if e := new(Error); errors.As(refusedBy, &e) && e.Kind == Refused && !mentions(findings, name) {
				t.Fatalf("%s is refused, %v, but Class does not say so", name, e)
			}
		}
		for _, f := range findings {
			if f.PC >= len(data) || f.What == "" {
				t.Fatalf("the finding %v is about nothing", f)
			}
		}
	})
}

// FuzzCode changes bytes of method bodies, of which the most random ones would be no class at all, and looks for panics.
func FuzzCode(f *testing.F) {
	classes := slices.Sorted(maps.Keys(fixtures.Classes(f)))
	for i := range classes {
		f.Add(uint64(i), uint8(1))
	}
	all := fixtures.Classes(f)
	f.Fuzz(func(t *testing.T, seed uint64, changes uint8) {
		r := rand.New(rand.NewPCG(seed, 1))
		var c classfile.Class
		if err := c.Parse(slices.Clone(all[classes[r.IntN(len(classes))]])); err != nil {
			t.Fatal(err)
		}
		var v Verifier
		for i := range c.Methods {
			code := c.Bytes(c.Methods[i].Code)
			for range min(changes, uint8(len(code))) {
				code[r.IntN(len(code))] = byte(r.Uint32())
			}
		}
		for _, f := range v.Class(nil, &c) {
			if f.What == "" || f.PC >= len(c.Data) {
				t.Fatalf("the finding %v is about nothing", f)
			}
		}
	})
}

func mentions(findings []Finding, method string) bool {
	for _, f := range findings {
		if f.Method == method && f.Kind == Refused {
			return true
		}
	}
	return false
}

// A method is checked with the constants that were added to its class's pool since.
func TestConstantsThatWereAddedAreSeen(t *testing.T) {
	data, err := assemble(strings.Split("method static f ()V 2 0\nldc2_w J7\npop2\nreturn", "\n"))
	if err != nil {
		t.Fatal(err)
	}
	var c classfile.Class
	if err := c.Parse(data); err != nil {
		t.Fatal(err)
	}
	m := &c.Methods[0]
	code := append([]byte(nil), c.Bytes(m.Code)...)
	var v Verifier
	use := func(index uint16) error {
		code[15], code[16] = byte(index>>8), byte(index)
		return v.Method(&c, m, code)
	}
	if err := use(c.Pool.AddLong(1 << 40)); err != nil {
		t.Errorf("an added long: %v", err)
	}
	var e *Error
	if err := use(c.Pool.AddUtf8("added")); !errors.As(err, &e) || e.PC != 0 || e.Kind != Refused {
		t.Errorf("an added name, loaded as a long: %v", err)
	}
	if err := use(uint16(c.Pool.Count())); err == nil {
		t.Error("a constant behind the end of the pool is accepted")
	}
}

// A method has code exactly if it is neither abstract nor native, and a constructor has an object.
func TestFlagsAndCodeMustFit(t *testing.T) {
	data, err := assemble([]string{"method static <init> ()V 0 1", "return"})
	if err != nil {
		t.Fatal(err)
	}
	for flags, want := range map[byte]string{
		classfile.AccStatic:        "a constructor is static",
		classfile.AccAbstract >> 8: "an abstract or native method has code",
		classfile.AccNative >> 8:   "an abstract or native method has code",
	} {
		var c classfile.Class
		if err := c.Parse(slices.Clone(data)); err != nil {
			t.Fatal(err)
		}
		access := c.Data[c.Methods[0].Span.Start:]
		access[0], access[1] = flags&^classfile.AccStatic, flags&classfile.AccStatic
		findings, err := Class(c.Data)
		if err != nil || len(findings) != 1 || findings[0].Kind != Refused || findings[0].What != want || findings[0].PC != -1 {
			t.Errorf("flags %#x: %v, %v; want %q", access[:2], findings, err, want)
		}
	}
}

// Frames of version 50 that don't hold are an error of their own kind: the class still links.
func TestMethodTellsWhereFramesAreNotBinding(t *testing.T) {
	for version, want := range map[string]Kind{"50": Unchecked, "51": Refused} {
		data, err := assemble([]string{
			"version " + version, "method static f (I)V 1 2", "iload_0", "ifeq L", "L:", "frame int int", "return",
		})
		if err != nil {
			t.Fatal(err)
		}
		var c classfile.Class
		if err := c.Parse(data); err != nil {
			t.Fatal(err)
		}
		var v Verifier
		var e *Error
		if err := v.Method(&c, &c.Methods[0], c.Bytes(c.Methods[0].Code)); !errors.As(err, &e) || e.Kind != want || e.PC != 1 {
			t.Errorf("version %s: %v, want an error of the kind %v at pc 1", version, err, want)
		}
	}
}

// Frames of which each takes one of 60,000 locals away, or adds one, would take gigabytes.
func TestLargeFramesAreBounded(t *testing.T) {
	const locals, pairs = 60000, 10000
	a := newAssembler()
	a.line([]string{"method", "static", "f", "()V", "0", "65535"})
	a.code = append(make([]byte, 2*pairs), 177) // nops and a return
	a.table = append(w2(nil, 1+2*pairs), 255, 0, 0)
	a.table = w2(append(w2(a.table, locals), make([]byte, locals)...), 0)
	for range pairs {
		a.table = append(a.table, 250, 0, 0, 252, 0, 0, 1)
	}
	data := a.class()
	findings, err := Class(data)
	if err != nil || len(findings) != 1 || findings[0].Kind != Unchecked || !strings.Contains(findings[0].What, "too large") {
		t.Fatalf("%v, %v", findings, err)
	}
}

// What is checked again and again allocates nothing.
func TestMethodDoesNotAllocate(t *testing.T) {
	var v Verifier
	var c classfile.Class
	for name, data := range fixtures.Classes(t) {
		if err := c.Parse(data); err != nil {
			t.Fatal(err)
		}
		all := func() {
			for i := range c.Methods {
				if m := &c.Methods[i]; !m.Code.Empty() {
					if err := v.Method(&c, m, c.Bytes(m.Code)); err != nil {
						t.Errorf("%s: %v", name, err)
					}
				}
			}
		}
		all()
		if n := testing.AllocsPerRun(2, all); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkMethod(b *testing.B) {
	var classes []*classfile.Class
	size := 0
	for _, data := range fixtures.Classes(b) {
		c := new(classfile.Class)
		if err := c.Parse(data); err != nil {
			b.Fatal(err)
		}
		classes = append(classes, c)
		size += len(data)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	var v Verifier
	for b.Loop() {
		for _, c := range classes {
			for i := range c.Methods {
				if m := &c.Methods[i]; !m.Code.Empty() {
					if err := v.Method(c, m, c.Bytes(m.Code)); err != nil {
						b.Fatal(err)
					}
				}
			}
		}
	}
}
