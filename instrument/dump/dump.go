// Package dump prints a class file as text: stable, one fact a line, with constants by what they are instead of by index,
// so that two classes can be compared with diff. It shares no decoding of method bodies with package code, so that golden
// tests check one against the other.
package dump

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/jiffyperf/jiffy/instrument/classfile"
)

// Write prints a class file.
func Write(w io.Writer, data []byte) error {
	var c classfile.Class
	if err := c.Parse(data); err != nil {
		return err
	}
	p := &printer{w: bufio.NewWriter(w), class: &c, pool: &c.Pool}
	p.head()
	p.members()
	p.attributes("", p.reader(c.Attributes))
	return p.w.Flush()
}

// Method returns what Write prints of a method; "" if the class has no such method.
func Method(data []byte, name, desc string) (string, error) {
	var c classfile.Class
	if err := c.Parse(data); err != nil {
		return "", err
	}
	var b strings.Builder
	p := &printer{w: bufio.NewWriter(&b), class: &c, pool: &c.Pool}
	p.only = func(kind, n, d string) bool { return kind == "method" && n == name && d == desc }
	p.members()
	err := p.w.Flush()
	return b.String(), err
}

type printer struct {
	w     *bufio.Writer
	class *classfile.Class
	pool  *classfile.Pool
	only  func(kind, name, desc string) bool // members to print; nil for all
	mute  bool
}

func (p *printer) line(format string, args ...any) {
	if p.mute {
		return
	}
	fmt.Fprintf(p.w, format, args...)
	p.w.WriteByte('\n')
}

func (p *printer) head() {
	c := p.class
	p.line("class %s%s", flags(c.Access, classFlags), text(c.Name()))
	p.line("  version %d.%d", c.Major, c.Minor)
	if c.Super != 0 {
		p.line("  extends %s", text(c.SuperName()))
	}
	for r := p.reader(c.Interfaces); r.left() > 0; {
		p.line("  implements %s", text(p.pool.ClassName(r.u2())))
	}
}

// members prints fields and methods from the bytes behind the interfaces.
func (p *printer) members() {
	r := p.reader(classfile.Span{Start: p.class.Interfaces.End, End: p.class.Attributes.Start})
	for _, kind := range []string{"field", "method"} {
		names := fieldFlags
		if kind == "method" {
			names = methodFlags
		}
		for n := r.u2(); n > 0 && !r.bad; n-- {
			access, name, desc := r.u2(), text(p.pool.Utf8(r.u2())), text(p.pool.Utf8(r.u2()))
			sep := " "
			if kind == "method" {
				sep = ""
			}
			p.mute = p.only != nil && !p.only(kind, name, desc)
			p.line("%s %s%s%s%s", kind, flags(access, names), name, sep, desc)
			p.attributes("  ", r)
		}
	}
}

// attributes prints an attribute table: those that hold code offsets in full, the rest by name and size.
func (p *printer) attributes(indent string, r *reader) {
	for n := r.u2(); n > 0 && !r.bad; n-- {
		name := text(p.pool.Utf8(r.u2()))
		info := r.sub(int(r.u4()))
		switch name {
		case "Code":
			p.code(info)
		case "SourceFile":
			p.line("%ssource %s", indent, text(p.pool.Utf8(info.u2())))
		case "LineNumberTable":
			for k := info.u2(); k > 0 && !info.bad; k-- {
				p.line("%sline %d %d", indent, info.u2(), info.u2())
			}
		case "LocalVariableTable", "LocalVariableTypeTable":
			p.variables(indent, strings.TrimSuffix(strings.TrimPrefix(name, "Local"), "Table"), info)
		case "Exceptions":
			for k := info.u2(); k > 0 && !info.bad; k-- {
				p.line("%sthrows %s", indent, text(p.pool.ClassName(info.u2())))
			}
		default:
			p.line("%sattribute %s %d bytes", indent, name, info.left())
		}
	}
}

func (p *printer) variables(indent, kind string, r *reader) {
	for k := r.u2(); k > 0 && !r.bad; k-- {
		start, length := r.u2(), r.u2()
		name, desc := text(p.pool.Utf8(r.u2())), text(p.pool.Utf8(r.u2()))
		p.line("%s%s %d..%d slot %d %s %s", indent, strings.ToLower(kind), start, int(start)+int(length), r.u2(), name, desc)
	}
}

func text(b []byte) string {
	if b == nil {
		return "?"
	}
	return classfile.Text(b)
}

// flagName is an access flag's keyword, or its name in JVMS where there is none.
type flagName struct {
	bit  uint16
	name string
}

var common = []flagName{{0x0001, "public"}, {0x0002, "private"}, {0x0004, "protected"}, {0x0008, "static"}, {0x0010, "final"}}

// The flags of JVMS tables 4.1-B, 4.5-A and 4.6-A.
var (
	classFlags = append(common[:len(common):len(common)], flagName{0x0020, "super"}, flagName{0x0200, "interface"},
		flagName{0x0400, "abstract"}, flagName{0x1000, "synthetic"}, flagName{0x2000, "annotation"},
		flagName{0x4000, "enum"}, flagName{0x8000, "module"})
	fieldFlags = append(common[:len(common):len(common)], flagName{0x0040, "volatile"}, flagName{0x0080, "transient"},
		flagName{0x1000, "synthetic"}, flagName{0x4000, "enum"})
	methodFlags = append(common[:len(common):len(common)], flagName{0x0020, "synchronized"}, flagName{0x0040, "bridge"},
		flagName{0x0080, "varargs"}, flagName{0x0100, "native"}, flagName{0x0400, "abstract"}, flagName{0x0800, "strict"},
		flagName{0x1000, "synthetic"})
)

func flags(access uint16, names []flagName) string {
	var s strings.Builder
	for _, f := range names {
		if access&f.bit != 0 {
			s.WriteString(f.name + " ")
		}
	}
	return s.String()
}
