package code_test

import (
	"bytes"
	"encoding/binary"
	encodinghex "encoding/hex"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jiffyperf/jiffy/instrument/classfile"
	"github.com/jiffyperf/jiffy/instrument/code"
	"github.com/jiffyperf/jiffy/instrument/dump"
	"github.com/jiffyperf/jiffy/instrument/internal/assemble"
)

const (
	static = classfile.AccStatic
	java17 = 61
)

// method is a static or other method m, the only one of class T.
type method struct {
	major         int
	access        uint16
	desc          string
	stack, locals int
	text          string
	padding       byte // of switches
}

// class assembles a class file, and says where its labels are.
func (m method) class(t testing.TB) (data []byte, labels map[string]int) {
	t.Helper()
	data, all := assemble.Class{Major: m.major, Access: 0x20, Methods: []assemble.Method{{Name: "m", Desc: m.desc, Access: m.access,
		Stack: m.stack, Locals: m.locals, Text: m.text, Padding: m.padding}}}.Bytes(t)
	return data, all[0]
}

func u2(b []byte, v int) []byte { return binary.BigEndian.AppendUint16(b, uint16(v)) }
func u4(b []byte, v int) []byte { return binary.BigEndian.AppendUint32(b, uint32(v)) }

// edit is a code.Edit at a label; its code is instructions without operands.
type edit struct {
	at    string
	place code.Place
	code  string
	bare  code.HandlerSet
	stack int
}

// rewriting is a method, what is done to it, and what jiffy dump has to print of the result.
type rewriting struct {
	name    string
	method  method
	edits   []edit
	longs   int    // each is set to 0 at entry
	handler string // the label from which on a handler that only rethrows covers the method; "" none
	nested  []guard
	want    string
	err     error
	dropped int            // attributes
	inside  map[string]int // names of pcs that no instruction starts at
}

// guard is a handler between two labels, to the end of the code where the second is "". Its code is instructions without operands.
type guard struct{ from, to, code string }

func runRewritings(t *testing.T, cases []rewriting) {
	t.Helper()
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) { test.run(t) })
	}
}

func (test *rewriting) run(t *testing.T) {
	t.Helper()
	out, dropped, err := test.rewrite(t)
	if !errors.Is(err, test.err) {
		t.Fatalf("error %v, not %v", err, test.err)
	}
	if err != nil {
		return
	}
	if dropped != test.dropped {
		t.Errorf("%d attributes dropped, not %d", dropped, test.dropped)
	}
	if diff := cmp.Diff(tidy(test.want), tidy(bodyText(t, out))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// rewrite returns the class with the method rewritten.
func (test *rewriting) rewrite(t *testing.T) (out []byte, dropped int, err error) {
	t.Helper()
	data, labels := test.method.class(t)
	var c classfile.Class
	if err := c.Parse(data); err != nil {
		t.Fatal(err)
	}
	var b code.Body
	if err := b.Parse(c.Bytes(c.Methods[0].Code), &c.Pool); err != nil {
		return nil, 0, err
	}
	plan := test.plan(&b, labels)
	var r code.Rewriter
	attribute, err := r.Rewrite(nil, &b, &plan, target(&c))
	if err != nil {
		return nil, 0, err
	}
	return c.Append(nil, []classfile.Replacement{{Old: c.Methods[0].Code, New: attribute}}), r.Dropped, nil
}

func target(c *classfile.Class) code.Target {
	m := &c.Methods[0]
	return code.Target{Pool: &c.Pool, Major: c.Major, Method: code.Method{This: c.This,
		Static: m.Access&static != 0, Constructor: string(c.Pool.Utf8(m.Name)) == "<init>", Desc: c.Pool.Utf8(m.Desc)}}
}

func (test *rewriting) plan(b *code.Body, labels map[string]int) code.Plan {
	plan := code.Plan{Longs: test.longs}
	for i := range test.longs {
		local := b.MaxLocals + 2*i
		set := []byte{assemble.Opcodes["lconst_0"], code.OpLstore, byte(local)}
		if local < 4 {
			set = []byte{assemble.Opcodes["lconst_0"], code.OpLstore0 + byte(local)}
		}
		plan.Edits = append(plan.Edits, code.Edit{Place: code.Entry, Code: set, Stack: 2})
	}
	maps.Copy(labels, test.inside)
	for _, e := range test.edits {
		plan.Edits = append(plan.Edits, code.Edit{PC: labels[e.at], Place: e.place, Code: operations(e.code), Bare: e.bare,
			Stack: e.stack})
	}
	if test.handler != "" {
		plan.Handlers = []code.Handler{{Ranges: []code.Range{{Start: labels[test.handler], End: len(b.Code)}},
			Code: operations("athrow"), Stack: 1}}
	}
	for _, g := range test.nested {
		h := code.Handler{Ranges: []code.Range{{Start: labels[g.from], End: len(b.Code)}}, Code: operations(g.code), Stack: 1}
		if g.to != "" {
			h.Ranges[0].End = labels[g.to]
		}
		plan.Handlers = append(plan.Handlers, h)
	}
	return plan
}

// operations assembles instructions without operands.
func operations(names string) (code []byte) {
	for _, name := range strings.Fields(names) {
		code = append(code, assemble.Opcodes[name])
	}
	return code
}

// bodyText is what jiffy dump prints of the code of a class's only method.
func bodyText(t *testing.T, class []byte) string {
	t.Helper()
	var text bytes.Buffer
	if err := dump.Write(&text, class); err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(text.String(), "  code ")
	return body
}

// codeAttribute is the info of an attribute of the code of a class's only method.
func codeAttribute(t *testing.T, class []byte, name string) (info []byte, found bool) {
	t.Helper()
	var c classfile.Class
	if err := c.Parse(class); err != nil {
		t.Fatal(err)
	}
	body := c.Bytes(c.Methods[0].Code)
	length := binary.BigEndian.Uint32(body[10:])
	rest := body[14+length:]
	rest = rest[2+8*binary.BigEndian.Uint16(rest)+2:]
	for len(rest) > 0 {
		size := binary.BigEndian.Uint32(rest[2:])
		if string(c.Pool.Utf8(binary.BigEndian.Uint16(rest))) == name {
			return rest[6 : 6+size], true
		}
		rest = rest[6+size:]
	}
	return nil, false
}

// hex reads bytes such as "CA FE".
func hex(t testing.TB, digits string) []byte {
	t.Helper()
	b, err := encodinghex.DecodeString(strings.ReplaceAll(digits, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// nested is an element value: so many arrays in each other, around an int.
func nested(depth int) string { return strings.Repeat("5B 00 01 ", depth) + "49 00 01" }

// tidy makes one space of every run of spaces, and drops empty lines.
func tidy(text string) (lines []string) {
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 0 {
			lines = append(lines, strings.Join(words, " "))
		}
	}
	return lines
}
