// Package classfile reads the class-file format of JVMS chapter 4 and writes it back with replaced method bodies and a
// constant pool that only grows at its end.
//
// A parsed class is a set of offsets into the bytes it was parsed from: nothing is copied, and what nobody asked about
// keeps its bytes. Every constant-pool index of the original stays valid, so that attributes which are not understood
// can be carried over raw.
package classfile

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The class-file versions that jiffy knows (JVMS §4.1, table 4.1-A). Version 45 below minor 3 has a Code attribute of
// its own shape; versions above MaxMajor may have anything.
const (
	minMajor = 45
	minMinor = 3 // of major 45
	// MaxMajor is the newest major version that is rewritten: Java 26.
	MaxMajor = 70
)

// Access flags that decide what happens to a method (JVMS tables 4.1-B, 4.6-A).
const (
	AccPublic       = 0x0001
	AccStatic       = 0x0008
	AccSynchronized = 0x0020
	AccBridge       = 0x0040
	AccNative       = 0x0100
	AccInterface    = 0x0200
	AccAbstract     = 0x0400
	AccSynthetic    = 0x1000
	AccEnum         = 0x4000
	AccModule       = 0x8000
)

// Errors that say why bytes are not a class file that can be rewritten. A *SyntaxError wraps one of them.
var (
	ErrMagic     = errors.New("not a class file")
	ErrTruncated = errors.New("class file is truncated")
	ErrVersion   = errors.New("unknown class-file version")
	ErrFormat    = errors.New("class file is malformed")
)

// SyntaxError is an error at a byte offset of the class file.
type SyntaxError struct {
	Offset int
	What   string
	Err    error
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%v at byte %d: %s", e.Err, e.Offset, e.What)
}

func (e *SyntaxError) Unwrap() error { return e.Err }

// Span is a range of bytes in the class file, Start inclusive, End exclusive.
type Span struct{ Start, End int }

// Empty reports whether the span holds no bytes.
func (s Span) Empty() bool { return s.Start >= s.End }

// Member is a field_info or method_info (JVMS §4.5, §4.6).
type Member struct {
	Access     uint16
	Name, Desc uint16 // CONSTANT_Utf8 indices
	Span       Span   // the whole structure
	// Code is the method's Code attribute, header included; empty where it has none.
	Code Span
}

// Class is a parsed class file. The zero value is ready for Parse, which may be called again and again and then reuses
// the memory of the class before.
type Class struct {
	Data         []byte
	Minor, Major uint16
	Pool         Pool
	Access       uint16
	This, Super  uint16 // CONSTANT_Class indices; Super is 0 for java.lang.Object and module-info
	Interfaces   Span   // u2 indices
	Methods      []Member
	Attributes   Span // attributes_count and the attributes
	SourceFile   uint16
	Bootstraps   Span // the info of BootstrapMethods (JVMS §4.7.23); empty where there is none
	members      Span // fields_count to the last method, inclusive
}

// Parse reads the structure of a class file. The class keeps a reference to data. The contents of attributes other than
// their lengths are not looked at, except that Code and SourceFile are found.
func (c *Class) Parse(data []byte) error {
	*c = Class{Data: data, Methods: c.Methods[:0], Pool: c.Pool.reset(data)}
	r := reader{data: data}
	if r.u4("magic") != 0xCAFEBABE {
		if r.err != nil {
			return r.err
		}
		return &SyntaxError{0, "no 0xCAFEBABE", ErrMagic}
	}
	c.Minor, c.Major = r.u2("minor_version"), r.u2("major_version")
	if r.err == nil && !knownVersion(c.Major, c.Minor) {
		return &SyntaxError{4, fmt.Sprintf("version %d.%d", c.Major, c.Minor), ErrVersion}
	}
	c.Pool.parse(&r)
	c.Access, c.This, c.Super = r.u2("access_flags"), r.u2("this_class"), r.u2("super_class")
	c.Interfaces = r.span(2*int(r.u2("interfaces_count")), "interfaces")
	c.members.Start = r.pos
	c.parseMembers(&r, false)
	c.parseMembers(&r, true)
	c.members.End = r.pos
	c.Attributes.Start = r.pos
	c.parseAttributes(&r)
	c.Attributes.End = r.pos
	if r.err != nil {
		return r.err
	}
	if r.pos != len(data) {
		return &SyntaxError{r.pos, fmt.Sprintf("%d bytes behind the end of the class", len(data)-r.pos), ErrFormat}
	}
	return c.checkNames()
}

func knownVersion(major, minor uint16) bool {
	return major <= MaxMajor && (major > minMajor || major == minMajor && minor >= minMinor)
}

// checkNames makes sure that the names every user of the class needs are there, so that nobody has to ask again.
func (c *Class) checkNames() error {
	if c.Pool.ClassName(c.This) == nil {
		return &SyntaxError{c.Pool.end, fmt.Sprintf("this_class #%d is no class", c.This), ErrFormat}
	}
	if c.Super != 0 && c.Pool.ClassName(c.Super) == nil {
		return &SyntaxError{c.Pool.end, fmt.Sprintf("super_class #%d is no class", c.Super), ErrFormat}
	}
	for i := range c.Methods {
		m := &c.Methods[i]
		if c.Pool.Utf8(m.Name) == nil || c.Pool.Utf8(m.Desc) == nil {
			return &SyntaxError{m.Span.Start, "a method without a name or descriptor", ErrFormat}
		}
	}
	return nil
}

func (c *Class) parseMembers(r *reader, methods bool) {
	n := int(r.u2("fields_count or methods_count"))
	for i := 0; i < n && r.err == nil; i++ {
		m := Member{Span: Span{Start: r.pos}}
		m.Access, m.Name, m.Desc = r.u2("access_flags"), r.u2("name_index"), r.u2("descriptor_index")
		for k := int(r.u2("attributes_count")); k > 0 && r.err == nil; k-- {
			start := r.pos
			name := r.u2("attribute_name_index")
			r.span(int(r.u4("attribute_length")), "attribute")
			if methods && c.Pool.Attribute(name) == AttrCode {
				if !m.Code.Empty() && r.err == nil {
					r.err = &SyntaxError{start, "a method with two Code attributes", ErrFormat}
				}
				m.Code = Span{start, r.pos}
			}
		}
		m.Span.End = r.pos
		if methods && r.err == nil {
			c.Methods = append(c.Methods, m)
		}
	}
}

func (c *Class) parseAttributes(r *reader) {
	for k := int(r.u2("attributes_count")); k > 0 && r.err == nil; k-- {
		name := r.u2("attribute_name_index")
		body := r.span(int(r.u4("attribute_length")), "attribute")
		if r.err != nil {
			return
		}
		switch c.Pool.Attribute(name) {
		case AttrSourceFile:
			if body.End-body.Start == 2 {
				c.SourceFile = binary.BigEndian.Uint16(c.Data[body.Start:])
			}
		case AttrBootstrapMethods:
			c.Bootstraps = body
		}
	}
}

// Name is the class's internal name, such as java/util/Map$Entry (JVMS §4.2.1).
func (c *Class) Name() []byte { return c.Pool.ClassName(c.This) }

// SuperName is the direct superclass's internal name; nil for java.lang.Object.
func (c *Class) SuperName() []byte { return c.Pool.ClassName(c.Super) }

// Bytes returns the bytes of a span.
func (c *Class) Bytes(s Span) []byte { return c.Data[s.Start:s.End] }

// Replacement puts bytes in the place of a span of the class file.
type Replacement struct {
	Old Span
	New []byte
}

// Append appends the class file to dst: the original with what was added to its constant pool, and with the
// replacements, which must lie behind the pool, in ascending order and apart. Without additions and replacements the
// result is byte-identical to what was parsed.
func (c *Class) Append(dst []byte, replacements []Replacement) []byte {
	dst = append(dst, c.Data[:8]...)
	dst = binary.BigEndian.AppendUint16(dst, uint16(c.Pool.Count()))
	dst = append(dst, c.Data[10:c.Pool.end]...)
	dst = append(dst, c.Pool.added...)
	pos := c.Pool.end
	for _, r := range replacements {
		dst = append(dst, c.Data[pos:r.Old.Start]...)
		dst = append(dst, r.New...)
		pos = r.Old.End
	}
	return append(dst, c.Data[pos:]...)
}

// reader walks big-endian data and keeps its first error.
type reader struct {
	data []byte
	pos  int
	err  error
}

func (r *reader) fail(what string) {
	if r.err == nil {
		r.err = &SyntaxError{r.pos, what, ErrTruncated}
	}
}

func (r *reader) u2(what string) uint16 {
	if r.err != nil || len(r.data)-r.pos < 2 {
		r.fail(what)
		return 0
	}
	r.pos += 2
	return binary.BigEndian.Uint16(r.data[r.pos-2:])
}

func (r *reader) u4(what string) uint32 {
	if r.err != nil || len(r.data)-r.pos < 4 {
		r.fail(what)
		return 0
	}
	r.pos += 4
	return binary.BigEndian.Uint32(r.data[r.pos-4:])
}

func (r *reader) span(n int, what string) Span {
	if r.err != nil || n > len(r.data)-r.pos {
		r.fail(what)
		return Span{r.pos, r.pos}
	}
	r.pos += n
	return Span{r.pos - n, r.pos}
}
