package classfile_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jiffyperf/jiffy/fixtures"
	"github.com/jiffyperf/jiffy/instrument/classfile"
)

func TestUntouchedClassesAreWrittenBackByteForByte(t *testing.T) {
	var c classfile.Class // reused: nothing of one class may be left in the next
	for name, data := range fixtures.Classes(t) {
		if err := c.Parse(data); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !bytes.Equal(c.Append(nil, nil), data) {
			t.Errorf("%s: not written back as it was", name)
		}
		if got := c.Append([]byte("head"), nil); !bytes.Equal(got[4:], data) || string(got[:4]) != "head" {
			t.Errorf("%s: not appended to what was there", name)
		}
	}
}

func TestEveryTruncationIsAnError(t *testing.T) {
	var c classfile.Class
	for name, data := range fixtures.Classes(t) {
		for n := range data {
			err := c.Parse(data[:n])
			if !errors.Is(err, classfile.ErrTruncated) {
				t.Fatalf("%s: %d of %d bytes: %v", name, n, len(data), err)
			}
			var at *classfile.SyntaxError
			if !errors.As(err, &at) || at.Offset > n || !strings.Contains(err.Error(), fmt.Sprintf("at byte %d: ", at.Offset)) {
				t.Fatalf("%s: %d bytes: %v says nothing of where", name, n, err)
			}
		}
	}
}

// layout is a small class file in pieces: class T extends Object with one method.
type layout struct {
	head       string // magic, minor, major
	pool       string // count and constants
	class      string // access, this, super, interfaces, fields
	methods    string
	attributes string
	tail       string
}

// small has the constants #1 "T", #2 T, #3 "m", #4 "()V", #5 "Code", #6 "SourceFile".
var small = layout{
	head:       "CAFEBABE 0000 003D",
	pool:       "0007 01 0001 54 07 0001 01 0001 6D 01 0003 282956 01 0004 436F6465 01 000A 536F7572636546696C65",
	class:      "0020 0002 0000 0000 0000",
	methods:    "0001 0008 0003 0004 0001 0005 0000000D 0000 0000 00000001 B1 0000 0000",
	attributes: "0001 0006 00000002 0001",
}

func (l layout) bytes(t *testing.T) []byte {
	t.Helper()
	digits := strings.ReplaceAll(l.head+l.pool+l.class+l.methods+l.attributes+l.tail, " ", "")
	var data []byte
	if _, err := fmt.Sscanf(digits, "%x", &data); err != nil {
		t.Fatal(err)
	}
	return data
}

func TestParse(t *testing.T) {
	var c classfile.Class
	if err := c.Parse(small.bytes(t)); err != nil {
		t.Fatal(err)
	}
	m := c.Methods[0]
	code := c.Bytes(m.Code)
	switch {
	case c.Major != 61 || c.Minor != 0 || c.Access != 0x20:
		t.Errorf("version %d.%d, access %#x", c.Major, c.Minor, c.Access)
	case string(c.Name()) != "T" || c.SuperName() != nil:
		t.Errorf("class %s extends %s", c.Name(), c.SuperName())
	case string(c.Pool.Utf8(c.SourceFile)) != "T":
		t.Errorf("source file #%d", c.SourceFile)
	case len(c.Methods) != 1 || string(c.Pool.Utf8(m.Name)) != "m" || m.Access != classfile.AccStatic:
		t.Errorf("methods %+v", c.Methods)
	case len(code) != 19 || binary.BigEndian.Uint32(code[2:]) != 13:
		t.Errorf("code % X", code)
	}
}

func TestMalformedClasses(t *testing.T) {
	tests := []struct {
		name   string
		change func(*layout)
		want   error
		says   string
	}{
		{"no magic", func(l *layout) { l.head = "CAFED00D 0000 003D" }, classfile.ErrMagic, "0xCAFEBABE"},
		{"a newer version than is known", func(l *layout) { l.head = "CAFEBABE 0000 0047" }, classfile.ErrVersion, "version 71.0"},
		{"a preview version", func(l *layout) { l.head = "CAFEBABE FFFF 0046" }, nil, ""},
		{"Java 1.0.2", func(l *layout) { l.head = "CAFEBABE 0002 002D" }, classfile.ErrVersion, "version 45.2"},
		{"Java 1.1", func(l *layout) { l.head = "CAFEBABE 0003 002D" }, nil, ""},
		{"version 0", func(l *layout) { l.head = "CAFEBABE 0000 0000" }, classfile.ErrVersion, "version 0.0"},
		{"an empty pool", func(l *layout) { l.pool = "0000" }, classfile.ErrFormat, "constant_pool_count"},
		{"a pool of nothing", func(l *layout) { l.pool = "0001" }, classfile.ErrFormat, "this_class #2"},
		{"constant tag 2", func(l *layout) { l.pool = "0002 02 0000 00" }, classfile.ErrFormat, "constant #1 has the unknown tag 2"},
		{"constant tag 21", func(l *layout) { l.pool = "0002 15 0000 00" }, classfile.ErrFormat, "unknown tag 21"},
		{"a long in the last index", func(l *layout) { l.pool = "0002 05 00000000 00000000" }, classfile.ErrFormat, "no second index"},
		{"this_class is no class", func(l *layout) { l.class = "0020 0001 0000 0000 0000" }, classfile.ErrFormat, "this_class #1"},
		{"this_class behind the pool", func(l *layout) { l.class = "0020 0007 0000 0000 0000" }, classfile.ErrFormat, "this_class #7"},
		{"super_class is no class", func(l *layout) { l.class = "0020 0002 0003 0000 0000" }, classfile.ErrFormat, "super_class #3"},
		{"a method without a name", func(l *layout) { l.methods = "0001 0008 0002 0004 0000" }, classfile.ErrFormat, "without a name"},
		{"a method without a descriptor", func(l *layout) { l.methods = "0001 0008 0003 0000 0000" }, classfile.ErrFormat, "descriptor"},
		{"two Code attributes", func(l *layout) {
			l.methods = "0001 0008 0003 0004 0002 0005 00000000 0005 00000000"
		}, classfile.ErrFormat, "two Code attributes"},
		{"an abstract method", func(l *layout) { l.methods = "0001 0408 0003 0004 0000" }, nil, ""},
		{"an attribute of 4 GB", func(l *layout) { l.attributes = "0001 0003 FFFFFFFF 0001" }, classfile.ErrTruncated, "attribute"},
		{"a byte behind the class", func(l *layout) { l.tail = "00" }, classfile.ErrFormat, "1 bytes behind the end"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l := small
			test.change(&l)
			var c classfile.Class
			err := c.Parse(l.bytes(t))
			if !errors.Is(err, test.want) || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v, not %v: …%s…", err, test.want, test.says)
			}
		})
	}
}

func TestReplacements(t *testing.T) {
	var c classfile.Class
	if err := c.Parse(small.bytes(t)); err != nil {
		t.Fatal(err)
	}
	old := c.Methods[0].Code
	c.Pool.AddUtf8("new")
	longer := append(bytes.Clone(c.Bytes(old)), 0)
	out := c.Append(nil, []classfile.Replacement{{Old: old, New: longer}})
	want := small
	want.pool = "0008" + small.pool[4:] + "01 0003 6E6577"
	want.methods += "00"
	if !bytes.Equal(out, want.bytes(t)) {
		t.Errorf("% X\nnot\n% X", out, want.bytes(t))
	}
}

func TestText(t *testing.T) {
	tests := []struct{ name, modified, want string }{
		{"ASCII", "java/lang/Object", "java/lang/Object"},
		{"nothing", "", ""},
		{"two and three bytes", "Grüße, 日本", "Grüße, 日本"},
		{"zero in two bytes", "a\xC0\x80b", "a\x00b"},
		{"a supplementary character as two surrogates", "\xED\xA0\xBD\xED\xB8\x80", "😀"},
		{"a lone surrogate", "a\xED\xA0\xBDb", "a\uFFFDb"},
		{"four bytes, which modified UTF-8 doesn't have", "\xF0\x9F\x98\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},
		{"cut off in two bytes", "a\xC3", "a\uFFFD"},
		{"cut off in three bytes", "\xE6\x97", "\uFFFD\uFFFD"},
		{"a byte that continues nothing", "\x80a", "\uFFFDa"},
		{"two bytes of which the second doesn't continue", "\xC3A", "\uFFFDA"},
		{"three bytes of which the last doesn't continue", "\xE6\x97A", "\uFFFD\uFFFDA"},
	}
	for _, test := range tests {
		if got := classfile.Text([]byte(test.modified)); got != test.want {
			t.Errorf("%s: %q, not %q", test.name, got, test.want)
		}
	}
}
