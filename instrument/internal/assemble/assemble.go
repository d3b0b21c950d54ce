// Package assemble makes class files from text, for tests. Nothing is computed but offsets, so that wrong tables and frames
// can be written as easily as right ones.
package assemble

import (
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"
	"testing"
)

// assembler assembles the body of one method.
type assembler struct {
	t       testing.TB
	pool    *constants
	code    []byte
	labels  map[string]int
	fixes   []fix
	handler []byte
	frames  []byte // without their count
	lastPC  int    // of the last frame; -1 before the first
	nFrames int
	tables  map[string][]byte // debug tables without their counts
	rows    map[string]int
	attrs   []rawAttribute
	later   []string // directives, read when all labels are known
}

type rawAttribute struct {
	name string
	info []byte
}

// fix is an offset of a branch or switch at pc, to be filled in.
type fix struct {
	pc, at, width int
	label         string
}

// Class is a class file: T extends java.lang.Object, of version 61 (Java 17), where nothing else is said.
type Class struct {
	Name, Super string
	Major       int
	Access      uint16
	Methods     []Method
}

// Method is a method of a class. Its text is its code, one instruction or directive a line:
//
//	label: iload_0           instructions by their names, constants by what they are (#n: by index), branches by label or pc
//	tableswitch 5 a b : c    the first value, its targets, the default
//	lookupswitch 1 a 9 b : c
//	.catch a b handler any
//	.frame a append int long | chop 1 | same | same1 int | full int long / Foo | raw 80  (same-ext, same1-ext: extended)
//	.line a 12   .var a b 1 name I   .vartype a b 1 name I   .attr Name 00 01   .byte 255
//
// The label end is there in every method. A method without text has no code.
type Method struct {
	Name, Desc    string
	Access        uint16
	Stack, Locals int
	Text          string
	Padding       byte // of switches
}

// Bytes assembles the class file, and says where the labels of each method are.
func (c Class) Bytes(t testing.TB) (data []byte, labels []map[string]int) {
	t.Helper()
	or := func(s, otherwise string) string {
		if s == "" {
			return otherwise
		}
		return s
	}
	pool := &constants{index: map[string]int{}, count: 1}
	this, super := pool.class(or(c.Name, "T")), 0
	if c.Name != "java/lang/Object" {
		super = pool.class(or(c.Super, "java/lang/Object"))
	}
	var methods []byte
	for _, m := range c.Methods {
		a := &assembler{t: t, pool: pool, labels: map[string]int{}, lastPC: -1, tables: map[string][]byte{}, rows: map[string]int{}}
		methods = u2(u2(u2(methods, int(m.Access)), pool.utf8(m.Name)), pool.utf8(m.Desc))
		if m.Text == "" {
			methods = u2(methods, 0)
		} else {
			body := a.assemble(m)
			methods = u4(u2(u2(methods, 1), pool.utf8("Code")), len(body))
			methods = append(methods, body...)
		}
		labels = append(labels, a.labels)
	}
	if c.Major == 0 {
		c.Major = 61
	}
	data = u2(u2([]byte{0xCA, 0xFE, 0xBA, 0xBE}, 0), c.Major)
	data = append(u2(data, pool.count), pool.data...)
	data = u2(u2(u2(u2(data, int(c.Access)), this), super), 0)
	data = append(u2(u2(data, 0), len(c.Methods)), methods...)
	return u2(data, 0), labels
}

// assemble returns the info of the Code attribute.
func (a *assembler) assemble(m Method) []byte {
	for line := range strings.Lines(m.Text) {
		line = strings.TrimSpace(line)
		if label, rest, ok := strings.Cut(line, ":"); ok && !strings.ContainsAny(label, " /") {
			a.labels[label] = len(a.code)
			line = strings.TrimSpace(rest)
		}
		switch {
		case strings.HasPrefix(line, ".byte "):
			a.code = append(a.code, byte(a.number(line[6:])))
		case strings.HasPrefix(line, "."):
			a.later = append(a.later, line)
		case line != "":
			a.instruction(strings.Fields(line), m.Padding)
		}
	}
	a.labels["end"] = len(a.code)
	for _, f := range a.fixes {
		offset := a.label(f.label) - f.pc
		if f.width == 2 {
			binary.BigEndian.PutUint16(a.code[f.at:], uint16(offset))
		} else {
			binary.BigEndian.PutUint32(a.code[f.at:], uint32(offset))
		}
	}
	for _, line := range a.later {
		a.directive(strings.Fields(line))
	}
	body := u2(u2(nil, m.Stack), m.Locals)
	body = append(u4(body, len(a.code)), a.code...)
	body = append(u2(body, len(a.handler)/8), a.handler...)
	return a.appendAttributes(body)
}

func (a *assembler) appendAttributes(body []byte) []byte {
	for _, name := range []string{"LineNumberTable", "LocalVariableTable", "LocalVariableTypeTable"} {
		if a.rows[name] > 0 {
			a.attrs = append(a.attrs, rawAttribute{name, append(u2(nil, a.rows[name]), a.tables[name]...)})
		}
	}
	if a.nFrames > 0 {
		a.attrs = append(a.attrs, rawAttribute{"StackMapTable", append(u2(nil, a.nFrames), a.frames...)})
	}
	body = u2(body, len(a.attrs))
	for _, attr := range a.attrs {
		body = u4(u2(body, a.pool.utf8(attr.name)), len(attr.info))
		body = append(body, attr.info...)
	}
	return body
}

func (a *assembler) label(name string) int {
	pc, ok := a.labels[name]
	if !ok {
		pc = a.number(name)
	}
	return pc
}

func (a *assembler) number(word string) int {
	n, err := strconv.Atoi(word)
	if err != nil {
		a.t.Fatal(err)
	}
	return n
}

func (a *assembler) hex(digits string) []byte {
	b, err := hex.DecodeString(digits)
	if err != nil {
		a.t.Fatal(err)
	}
	return b
}

func u2(b []byte, v int) []byte { return binary.BigEndian.AppendUint16(b, uint16(v)) }
func u4(b []byte, v int) []byte { return binary.BigEndian.AppendUint32(b, uint32(v)) }

// instruction assembles one instruction (JVMS §6.5).
func (a *assembler) instruction(words []string, padding byte) {
	pc := len(a.code)
	op, ok := Opcodes[words[0]]
	if !ok {
		a.t.Fatalf("unknown instruction %q", words[0])
	}
	a.code = append(a.code, op)
	args := words[1:]
	switch {
	case op == 16: // bipush
		a.code = append(a.code, byte(a.number(args[0])))
	case op == 18: // ldc
		a.code = append(a.code, byte(a.pool.of(args[0])))
	case op == 17: // sipush
		a.code = u2(a.code, a.number(args[0]))
	case op == 19, op == 20, op >= 178 && op <= 184, op == 187, op == 189, op == 192, op == 193:
		a.code = u2(a.code, a.pool.of(args[0]))
	case op >= 21 && op <= 25, op >= 54 && op <= 58, op == 169, op == 188:
		a.code = append(a.code, byte(a.number(args[0])))
	case op == 132: // iinc
		a.code = append(a.code, byte(a.number(args[0])), byte(a.number(args[1])))
	case op >= 153 && op <= 168, op == 198, op == 199:
		a.offset(pc, 2, args[0])
	case op == 200, op == 201:
		a.offset(pc, 4, args[0])
	case op == 170, op == 171:
		for len(a.code)%4 != 0 {
			a.code = append(a.code, padding)
		}
		a.switchOperands(pc, op, args)
	case op == 196:
		a.wide(args)
	}
}

func (a *assembler) offset(pc, width int, label string) {
	a.fixes = append(a.fixes, fix{pc, len(a.code), width, label})
	a.code = append(a.code, make([]byte, width)...)
}

func (a *assembler) switchOperands(pc int, op byte, args []string) {
	cases, otherwise := args[:len(args)-2], args[len(args)-1]
	a.offset(pc, 4, otherwise)
	if op == 170 {
		low := a.number(cases[0])
		a.code = u4(u4(a.code, low), low+len(cases)-2)
		for _, label := range cases[1:] {
			a.offset(pc, 4, label)
		}
		return
	}
	a.code = u4(a.code, len(cases)/2)
	for ; len(cases) > 0; cases = cases[2:] {
		a.code = u4(a.code, a.number(cases[0]))
		a.offset(pc, 4, cases[1])
	}
}

func (a *assembler) wide(args []string) {
	a.code = u2(append(a.code, Opcodes[args[0]]), a.number(args[1]))
	if args[0] == "iinc" {
		a.code = u2(a.code, a.number(args[2]))
	}
}

// directive assembles one row of a table.
func (a *assembler) directive(words []string) {
	args := words[1:]
	row := func(table string, row []byte) {
		a.tables[table] = append(a.tables[table], row...)
		a.rows[table]++
	}
	switch words[0] {
	case ".catch":
		class := 0
		if args[3] != "any" {
			class = a.pool.class(args[3])
		}
		a.handler = u2(u2(u2(u2(a.handler, a.label(args[0])), a.label(args[1])), a.label(args[2])), class)
	case ".frame":
		a.frame(a.label(args[0]), args[1], strings.Join(args[2:], " "))
	case ".line":
		row("LineNumberTable", u2(u2(nil, a.label(args[0])), a.number(args[1])))
	case ".var", ".vartype":
		start, end := a.label(args[0]), a.label(args[1])
		r := u2(u2(u2(u2(nil, start), end-start), a.pool.utf8(args[3])), a.pool.utf8(args[4]))
		row(map[string]string{".var": "LocalVariableTable", ".vartype": "LocalVariableTypeTable"}[words[0]],
			u2(r, a.number(args[2])))
	case ".attr":
		a.attrs = append(a.attrs, rawAttribute{args[0], a.hex(strings.Join(args[1:], ""))})
	default:
		a.t.Fatalf("unknown directive %q", words[0])
	}
}

// frame encodes a StackMapTable frame in the form that is asked for (JVMS §4.7.4).
func (a *assembler) frame(pc int, form, types string) {
	delta := pc - a.lastPC - 1
	a.lastPC = pc
	a.nFrames++
	head := func(tag int) { a.frames = u2(append(a.frames, byte(tag)), delta) }
	switch form {
	case "same":
		a.frames = append(a.frames, byte(delta))
	case "same-ext":
		head(251)
	case "same1":
		a.frames = append(a.frames, byte(64+delta))
		a.types(types)
	case "same1-ext":
		head(247)
		a.types(types)
	case "chop":
		head(251 - a.number(types))
	case "append":
		head(251 + len(strings.Fields(types)))
		a.types(types)
	case "full":
		locals, stack, _ := strings.Cut(" "+types+" ", " / ")
		head(255)
		for _, list := range []string{locals, stack} {
			a.frames = u2(a.frames, len(strings.Fields(list)))
			a.types(list)
		}
	case "raw":
		head(a.number(types))
	default:
		a.t.Fatalf("unknown frame %q", form)
	}
}

func (a *assembler) types(list string) {
	simple := map[string]byte{"top": 0, "int": 1, "float": 2, "double": 3, "long": 4, "null": 5, "uninitializedThis": 6}
	for _, word := range strings.Fields(list) {
		tag, ok := simple[word]
		label, isNew := strings.CutPrefix(word, "new:")
		switch {
		case ok:
			a.frames = append(a.frames, tag)
		case isNew:
			a.frames = u2(append(a.frames, 8), a.label(label))
		default:
			a.frames = u2(append(a.frames, 7), a.pool.class(word))
		}
	}
}
