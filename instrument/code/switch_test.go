package code_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/jiffyperf/jiffy/instrument/classfile"
	"github.com/jiffyperf/jiffy/instrument/code"
)

// Switches at every alignment, moved by every number of bytes, with padding that isn't zero in the original.
func TestSwitchPadding(t *testing.T) {
	switches := []struct{ operands, want string }{
		{"tableswitch 7 a b : a", "tableswitch 7 -> %[2]d, 8 -> %[3]d, default -> %[2]d"},
		{"lookupswitch -5 a 300 b : b", "lookupswitch -5 -> %[2]d, 300 -> %[3]d, default -> %[3]d"},
	}
	for _, s := range switches {
		for before := range 4 {
			for inserted := range 5 {
				m := method{desc: "(I)V", access: static, major: java17, stack: 1, locals: 1, padding: 0xAB,
					text: strings.Repeat("nop\n", before) + "iload_0\nswitch: " + s.operands + `
						a: return
						b: return
						.frame a same
						.frame b same`}
				at := before + 1 + inserted
				a := (at+4)&^3 + 20
				if strings.HasPrefix(s.operands, "lookup") {
					a = (at+4)&^3 + 24
				}
				want := fmt.Sprintf("stack=1 locals=1 bytes=%d\n", a+2)
				for pc := range before {
					want += fmt.Sprintf("%d nop\n", pc)
				}
				want += fmt.Sprintf("%d iload_0\n", before)
				for pc := range inserted {
					want += fmt.Sprintf("%d nop\n", before+1+pc)
				}
				want += fmt.Sprintf("%d "+s.want+"\n", at, a, a+1)
				want += fmt.Sprintf("%d return\n%d return\nframe %d same\nframe %d same\n", a, a+1, a, a+1)
				want += "attribute StackMapTable 4 bytes"
				test := rewriting{
					name:   fmt.Sprintf("%s behind %d, moved by %d", strings.Fields(s.operands)[0], before+1, inserted),
					method: m, want: want,
					edits: []edit{{at: "switch", place: code.Before, code: strings.Repeat("nop ", inserted)}},
				}
				// jiffy dump mentions padding that isn't zero, so equal text says that it is zero.
				t.Run(test.name, func(t *testing.T) { test.run(t) })
			}
		}
	}
}

func TestSwitchesThatAreRefused(t *testing.T) {
	// A switch at pc 1, so its operands start at pc 4; its only target is the return behind them.
	body := func(op byte, operands ...int) method {
		code := []byte{26, op, 0, 0}
		for _, v := range operands {
			code = u4(code, v)
		}
		return rawBody(append(code, 177))
	}
	runRewritings(t, []rewriting{
		{name: "tableswitch with low above high", method: body(170, 19, 1, 0), err: code.ErrMalformed},
		{name: "tableswitch over the whole range of int", method: body(170, 15, -1<<31, 1<<31-1), err: code.ErrMalformed},
		{name: "tableswitch that is cut off", method: body(170, 15, 0, 2, 15), err: code.ErrMalformed},
		{name: "lookupswitch with a negative count", method: body(171, 11, -1), err: code.ErrMalformed},
		{name: "lookupswitch that is cut off", method: body(171, 11, 1), err: code.ErrMalformed},
		{name: "a target between instructions", method: body(171, 3, 0), err: code.ErrMalformed},
		{name: "a target before the code", method: body(171, -8, 0), err: code.ErrMalformed},
	})
}

// rawBody is a method whose code is given as bytes.
func rawBody(code []byte) method {
	text := "\n" // else the method would have no code attribute
	for _, c := range code {
		text += fmt.Sprintf(".byte %d\n", c)
	}
	return method{desc: "(I)V", access: static, major: 49, stack: 1, locals: 1, text: text}
}

func TestMalformedInstructions(t *testing.T) {
	runRewritings(t, []rewriting{
		{name: "an opcode that doesn't exist", method: rawBody([]byte{203}), err: code.ErrMalformed},
		{name: "no code", method: rawBody(nil), err: code.ErrMalformed},
		{name: "the last instruction cut off", method: rawBody([]byte{0, 17, 1}), err: code.ErrMalformed},
		{name: "wide cut off", method: rawBody([]byte{0, 196}), err: code.ErrMalformed},
		{name: "wide iinc cut off", method: rawBody([]byte{196, 132, 1, 1, 0}), err: code.ErrMalformed},
		{name: "wide before what can't be wide", method: rawBody([]byte{196, 0, 0, 0}), err: code.ErrMalformed},
		{name: "a branch between instructions", method: rawBody([]byte{167, 0, 1, 177}), err: code.ErrMalformed},
		{name: "a branch behind the code", method: rawBody([]byte{167, 0, 4, 177}), err: code.ErrMalformed},
		{name: "a goto_w before the code", method: rawBody([]byte{200, 0xFF, 0xFF, 0xFF, 0xFF}), err: code.ErrMalformed},
	})
}

func TestTruncatedCodeAttribute(t *testing.T) {
	data, _ := method{desc: "()V", access: static, major: java17, stack: 1, locals: 1, text: `
		from: nop
		to: return
		handler: athrow
		.catch from to handler any
		.frame handler same1 java/lang/Throwable
		.line from 1`}.class(t)
	var c classfile.Class
	if err := c.Parse(data); err != nil {
		t.Fatal(err)
	}
	attribute := bytes.Clone(c.Bytes(c.Methods[0].Code))
	var b code.Body
	for n := range attribute {
		if err := b.Parse(attribute[:n], &c.Pool); err == nil {
			t.Errorf("%d of %d bytes are accepted", n, len(attribute))
		}
	}
	if err := b.Parse(append(attribute, 0), &c.Pool); err == nil {
		t.Error("a byte behind the last attribute is accepted")
	}
}
