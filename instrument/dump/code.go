package dump

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"encoding/binary"

	"github.com/jiffyperf/jiffy/instrument/classfile"
)

// code prints a Code attribute (JVMS §4.7.3).
func (p *printer) code(r *reader) {
	stack, locals := r.u2(), r.u2()
	code := r.sub(int(r.u4()))
	p.line("  code stack=%d locals=%d bytes=%d", stack, locals, len(code.data))
	for code.left() > 0 && !code.bad {
		p.instruction(code)
	}
	for n := r.u2(); n > 0 && !r.bad; n-- {
		start, end, handler, class := r.u2(), r.u2(), r.u2(), r.u2()
		what := "any"
		if class != 0 {
			what = text(p.pool.ClassName(class))
		}
		p.line("    catch %d..%d -> %d %s", start, end, handler, what)
	}
	p.codeAttributes(r)
}

// codeAttributes prints the StackMapTable here, and leaves the rest to attributes.
func (p *printer) codeAttributes(r *reader) {
	rest := reader{data: r.data, pos: r.pos}
	for n := r.u2(); n > 0 && !r.bad; n-- {
		name := text(p.pool.Utf8(r.u2()))
		if info := r.sub(int(r.u4())); name == "StackMapTable" {
			p.frames(info)
		}
	}
	p.attributes("    ", &rest)
}

func (p *printer) instruction(r *reader) {
	pc := r.pos
	op := r.u1()
	name := "?"
	if op < len(mnemonics) {
		name = mnemonics[op]
	}
	if args := p.operands(r, pc, op); args != "" {
		name += " " + args
	}
	p.line("    %5d  %s", pc, name)
}

// operands reads and prints what follows an opcode (JVMS §6.5).
func (p *printer) operands(r *reader, pc, op int) string {
	branch := func(offset int) string { return "-> " + strconv.Itoa(pc+offset) }
	switch {
	case op == 16: // bipush
		return strconv.Itoa(int(int8(r.u1())))
	case op == 17: // sipush
		return strconv.Itoa(int(int16(r.u2())))
	case op == 18: // ldc
		return p.constant(uint16(r.u1()), 0)
	case op == 19 || op == 20 || op >= 178 && op <= 184 || op == 187 || op == 189 || op == 192 || op == 193:
		return p.constant(r.u2(), 0)
	case op >= 21 && op <= 25 || op >= 54 && op <= 58 || op == 169:
		return strconv.Itoa(r.u1())
	case op == 132: // iinc
		return fmt.Sprintf("%d by %d", r.u1(), int8(r.u1()))
	case op >= 153 && op <= 168 || op == 198 || op == 199:
		return branch(int(int16(r.u2())))
	case op == 200 || op == 201:
		return branch(r.s4())
	case op == 170:
		return p.tableswitch(r, branch)
	case op == 171:
		return p.lookupswitch(r, branch)
	case op == 185 || op == 186:
		s := p.constant(r.u2(), 0)
		r.u2()
		return s
	case op == 188: // newarray
		return arrayType(r.u1())
	case op == 196:
		return p.wide(r)
	case op == 197:
		return fmt.Sprintf("%s %d", p.constant(r.u2(), 0), r.u1())
	}
	return ""
}

func (p *printer) wide(r *reader) string {
	op := r.u1()
	name := "?"
	if op < len(mnemonics) {
		name = mnemonics[op]
	}
	if op == 132 {
		return fmt.Sprintf("%s %d by %d", name, r.u2(), int16(r.u2()))
	}
	return fmt.Sprintf("%s %d", name, r.u2())
}

func (p *printer) tableswitch(r *reader, branch func(int) string) string {
	pad := p.padding(r)
	otherwise, low, high := branch(r.s4()), r.s4(), r.s4()
	var s strings.Builder
	for v := low; v <= high && !r.bad; v++ {
		fmt.Fprintf(&s, "%d %s, ", v, branch(r.s4()))
	}
	return s.String() + "default " + otherwise + pad
}

func (p *printer) lookupswitch(r *reader, branch func(int) string) string {
	pad := p.padding(r)
	otherwise := branch(r.s4())
	var s strings.Builder
	for n := r.s4(); n > 0 && !r.bad; n-- {
		fmt.Fprintf(&s, "%d %s, ", r.s4(), branch(r.s4()))
	}
	return s.String() + "default " + otherwise + pad
}

// padding skips the bytes up to the next multiple of four, and mentions them where they aren't zero.
func (p *printer) padding(r *reader) string {
	for _, b := range r.take((4 - r.pos%4) % 4) {
		if b != 0 {
			return " (padding is not zero)"
		}
	}
	return ""
}

func arrayType(atype int) string {
	names := []string{4: "boolean", "char", "float", "double", "byte", "short", "int", "long"}
	if atype >= 4 && atype < len(names) {
		return names[atype]
	}
	return "?"
}

// constant prints what a constant stands for.
func (p *printer) constant(i uint16, depth int) string {
	c := p.pool.Constant(i)
	if c == nil || depth > 4 {
		return "?"
	}
	switch p.pool.Tag(i) {
	case classfile.TagUtf8:
		return text(p.pool.Utf8(i))
	case classfile.TagInteger:
		return strconv.Itoa(int(int32(binary.BigEndian.Uint32(c[1:]))))
	case classfile.TagFloat:
		return fmt.Sprintf("%vf", math.Float32frombits(binary.BigEndian.Uint32(c[1:])))
	case classfile.TagLong:
		return fmt.Sprintf("%dL", int64(binary.BigEndian.Uint64(c[1:])))
	case classfile.TagDouble:
		return fmt.Sprintf("%vd", math.Float64frombits(binary.BigEndian.Uint64(c[1:])))
	case classfile.TagString:
		return strconv.Quote(p.constant(binary.BigEndian.Uint16(c[1:]), depth+1))
	case classfile.TagClass, classfile.TagMethodType, classfile.TagModule, classfile.TagPackage:
		return p.constant(binary.BigEndian.Uint16(c[1:]), depth+1)
	case classfile.TagNameAndType:
		a, b, _ := p.pool.Pair(i)
		return p.nameAndType(text(p.pool.Utf8(a)), text(p.pool.Utf8(b)))
	case classfile.TagFieldref, classfile.TagMethodref, classfile.TagInterfaceMethodref:
		a, b, _ := p.pool.Pair(i)
		return p.constant(a, depth+1) + "." + p.constant(b, depth+1)
	case classfile.TagDynamic, classfile.TagInvokeDynamic:
		a, b, _ := p.pool.Pair(i)
		return fmt.Sprintf("bootstrap %d %s", a, p.constant(b, depth+1))
	case classfile.TagMethodHandle:
		return fmt.Sprintf("handle %d %s", c[1], p.constant(binary.BigEndian.Uint16(c[2:]), depth+1))
	}
	return "?"
}

func (p *printer) nameAndType(name, desc string) string {
	if strings.HasPrefix(desc, "(") {
		return name + desc
	}
	return name + " " + desc
}
