package verify

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/jiffyperf/jiffy/instrument/classfile"
)

// assembler makes a class from the lines of a case in testdata/handmade, whose README.md describes them.
type assembler struct {
	pool   []byte
	count  int
	shared map[string]int

	version, access         int
	super                   string
	interfaces, fields      []byte
	name, desc              string
	static                  bool
	maxStack, maxLocals     int
	code                    []byte
	labels                  map[string]int
	fixups                  []fixup
	rows, frames, variables []string // lines, with the labels still in them
	table                   []byte   // a whole StackMapTable, instead of frames
	framePCs                []int
}

// fixup is a place in the code that waits for the pc of a label.
type fixup struct {
	at, from, size int
	label          string
}

func newAssembler() *assembler {
	return &assembler{count: 1, shared: map[string]int{}, labels: map[string]int{}, version: 61, access: 0x21, super: "java/lang/Object"}
}

func assemble(lines []string) (data []byte, err error) {
	a := newAssembler()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	for _, line := range lines {
		a.line(strings.Fields(line))
	}
	return a.class(), nil
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

func w2(b []byte, n int) []byte { return binary.BigEndian.AppendUint16(b, uint16(n)) }
func w4(b []byte, n int) []byte { return binary.BigEndian.AppendUint32(b, uint32(n)) }

func (a *assembler) constant(tag classfile.Tag, bytes []byte) int {
	key := string(rune(tag)) + string(bytes)
	if i, ok := a.shared[key]; ok {
		return i
	}
	a.pool = append(append(a.pool, byte(tag)), bytes...)
	i := a.count
	a.shared[key] = i
	if a.count++; tag == classfile.TagLong || tag == classfile.TagDouble {
		a.count++
	}
	return i
}

func (a *assembler) utf8(s string) int {
	return a.constant(classfile.TagUtf8, append(w2(nil, len(s)), s...))
}

func (a *assembler) classRef(name string) int {
	if name == "0" {
		return 0
	}
	return a.constant(classfile.TagClass, w2(nil, a.utf8(name)))
}

func (a *assembler) ref(tag classfile.Tag, f []string) int {
	nt := a.constant(classfile.TagNameAndType, w2(w2(nil, a.utf8(f[1])), a.utf8(f[2])))
	return a.constant(tag, w2(w2(nil, a.classRef(f[0])), nt))
}

// line takes one line: a label, a directive or an instruction.
func (a *assembler) line(f []string) {
	if label, ok := strings.CutSuffix(f[0], ":"); ok {
		a.labels[label] = len(a.code)
		return
	}
	switch f[0] {
	case "version":
		a.version = number(f[1])
	case "interface":
		a.access = 0x601
	case "super":
		a.super = f[1]
	case "implements":
		a.interfaces = w2(a.interfaces, a.classRef(f[1]))
	case "field":
		a.fields = w2(w2(w2(w2(a.fields, 0), a.utf8(f[1])), a.utf8(f[2])), 0)
	case "method":
		a.static = f[1] == "static"
		if a.static {
			f = f[1:]
		}
		a.name, a.desc, a.maxStack, a.maxLocals = f[1], f[2], number(f[3]), number(f[4])
	case "catch":
		a.rows = append(a.rows, strings.Join(f[1:], " "))
	case "frame":
		a.frames, a.framePCs = append(a.frames, strings.Join(f[1:], " ")), append(a.framePCs, len(a.code))
	case "variable":
		a.variables = append(a.variables, strings.Join(f[1:], " "))
	case "raw":
		a.code = appendHex(a.code, f[1:])
	case "table":
		a.table = appendHex(a.table, f[1:])
	default:
		a.instruction(f)
	}
}

func appendHex(to []byte, hex []string) []byte {
	for _, h := range hex {
		b, err := strconv.ParseUint(h, 16, 8)
		if err != nil {
			panic(err)
		}
		to = append(to, byte(b))
	}
	return to
}

func (a *assembler) instruction(f []string) {
	op := -1
	for i := range instructions {
		if instructions[i].name == f[0] && f[0] != "" {
			op = i
		}
	}
	if op < 0 {
		panic("unknown instruction " + f[0])
	}
	pc := len(a.code)
	a.code = append(a.code, byte(op))
	label := func(at, size int, name string) {
		a.fixups = append(a.fixups, fixup{at, pc, size, name})
		a.code = append(a.code, make([]byte, size)...)
	}
	in := &instructions[op]
	switch in.shape {
	case branch, branchRef, jump, jsr:
		label(pc+1, int(in.length)-1, f[1])
	case field:
		a.code = w2(a.code, a.ref(classfile.TagFieldref, f[1:]))
	case invoke:
		a.invoke(op, f[1:])
	case object, cast:
		a.code = w2(a.code, a.classRef(f[1]))
	case constant:
		a.load(in, f[1])
	case table, lookup:
		a.code = append(a.code, make([]byte, 3-pc&3)...)
		label(len(a.code), 4, f[1])
		if a.code = w4(a.code, number(f[2])); in.shape == table {
			a.code = w4(a.code, number(f[2])+len(f)-4)
		}
		for _, c := range f[3:] {
			if key, target, ok := strings.Cut(c, ":"); ok {
				a.code, c = w4(a.code, number(key)), target
			}
			label(len(a.code), 4, c)
		}
	case array:
		if op != opNewarray {
			a.code = w2(a.code, a.classRef(f[1]))
		} else {
			a.code = append(a.code, byte(number(f[1])))
		}
		if op == opMultianewarray {
			a.code = append(a.code, byte(number(f[2])))
		}
	default:
		for _, operand := range f[1:] {
			a.code = append(a.code, byte(number(operand)))
		}
		if len(f) == 2 && in.length == 3 { // sipush
			a.code = append(a.code[:pc+1], byte(number(f[1])>>8), byte(number(f[1])))
		}
	}
}

// invoke assembles OWNER NAME DESC, with InterfaceMethodref behind it where the instruction alone doesn't say so.
func (a *assembler) invoke(op int, f []string) {
	tag := classfile.TagMethodref
	if op == opInvokeinterface || len(f) > 3 && f[3] == "InterfaceMethodref" {
		tag = classfile.TagInterfaceMethodref
	}
	a.code = w2(a.code, a.ref(tag, f))
	if op == opInvokeinterface {
		a.code = append(a.code, byte(number(f[3])), 0)
	}
}

// load assembles the operand of ldc: a descriptor's letter and a value, or a class.
func (a *assembler) load(in *instruction, value string) {
	index := 0
	switch value[0] {
	case 'I':
		index = a.constant(classfile.TagInteger, w4(nil, number(value[1:])))
	case 'J':
		index = a.constant(classfile.TagLong, w4(w4(nil, 0), number(value[1:])))
	case '"':
		index = a.constant(classfile.TagString, w2(nil, a.utf8(value)))
	case '#':
		index = number(value[1:])
	default:
		index = a.classRef(value)
	}
	if in.length == 2 {
		a.code = append(a.code, byte(index))
		return
	}
	a.code = w2(a.code, index)
}

func (a *assembler) pc(label string) int {
	if label == "end" {
		return len(a.code)
	}
	pc, ok := a.labels[label]
	if !ok {
		return number(label)
	}
	return pc
}

// stackMap encodes the frames, each as a full_frame: "locals | stack".
func (a *assembler) stackMap() []byte {
	info, last := w2(nil, len(a.frames)), -1
	for i, frame := range a.frames {
		info = w2(append(info, 255), a.framePCs[i]-last-1)
		last = a.framePCs[i]
		locals, stack, _ := strings.Cut(frame, "|")
		for _, types := range []string{locals, stack} {
			info = w2(info, len(strings.Fields(types)))
			for _, t := range strings.Fields(types) {
				info = a.frameType(info, t)
			}
		}
	}
	return info
}

func (a *assembler) frameType(to []byte, t string) []byte {
	for tag, name := range []string{"top", "int", "float", "double", "long", "null", "this"} {
		if t == name {
			return append(to, byte(tag))
		}
	}
	if label, ok := strings.CutPrefix(t, "new:"); ok {
		return w2(append(to, 8), a.pc(label))
	}
	return w2(append(to, 7), a.classRef(t))
}

// class puts everything together. The class is called T.
func (a *assembler) class() []byte {
	for _, f := range a.fixups {
		offset := a.pc(f.label) - f.from
		if f.size == 2 {
			binary.BigEndian.PutUint16(a.code[f.at:], uint16(offset))
		} else {
			binary.BigEndian.PutUint32(a.code[f.at:], uint32(offset))
		}
	}
	body := w4(w2(w2(nil, a.maxStack), a.maxLocals), len(a.code))
	body = w2(append(body, a.code...), len(a.rows))
	for _, row := range a.rows {
		f := strings.Fields(row)
		catch := 0
		if f[3] != "any" {
			catch = a.classRef(f[3])
		}
		body = w2(w2(w2(w2(body, a.pc(f[0])), a.pc(f[1])), a.pc(f[2])), catch)
	}
	attributes := 0
	var info []byte
	attribute := func(name string, content []byte) {
		attributes++
		info = append(w4(w2(info, a.utf8(name)), len(content)), content...)
	}
	if len(a.frames) > 0 {
		a.table = a.stackMap()
	}
	if len(a.table) > 0 {
		attribute("StackMapTable", a.table)
	}
	if len(a.variables) > 0 {
		rows := w2(nil, len(a.variables))
		for _, line := range a.variables {
			f := strings.Fields(line)
			rows = w2(w2(w2(w2(w2(rows, a.pc(f[0])), number(f[1])), a.utf8(f[2])), a.utf8(f[3])), number(f[4]))
		}
		attribute("LocalVariableTable", rows)
	}
	body = append(w2(body, attributes), info...)
	access := 1
	if a.static {
		access = 9
	}
	this, super := a.classRef("T"), a.classRef(a.super)
	method := w2(w2(w2(w2(nil, access), a.utf8(a.name)), a.utf8(a.desc)), 1)
	method = append(w4(w2(method, a.utf8("Code")), len(body)), body...)

	out := w2(w4(nil, 0xCAFEBABE), 0)
	out = append(w2(w2(out, a.version), a.count), a.pool...)
	out = w2(w2(w2(out, a.access), this), super)
	out = append(w2(out, len(a.interfaces)/2), a.interfaces...)
	out = append(w2(out, len(a.fields)/8), a.fields...)
	return w2(append(w2(out, 1), method...), 0)
}
