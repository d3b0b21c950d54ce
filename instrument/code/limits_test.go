package code_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jiffyperf/jiffy/instrument/classfile"
	"github.com/jiffyperf/jiffy/instrument/code"
)

func nopLines(n int) string { return strings.Repeat("nop\n", n) }

// far is a method with one branch over a stretch of nops. The lines wanted are those of the dump without the nops.
type far struct {
	name string
	text string
	edit edit
	want string
	err  error
}

// A branch offset has 16 bits: -32768 to 32767 (JVMS §6.5).
func TestFarBranches(t *testing.T) {
	forward := func(jump string, nops int) string {
		return "iload_0\njump: " + jump + " target\n" + nopLines(nops) + "target: return\n.frame target same-ext"
	}
	tests := []far{{
		name: "a goto of 32,767 bytes keeps its form", text: "goto target\n" + nopLines(32763) + "m: nop\ntarget: return\n.frame target same-ext",
		edit: edit{at: "target", place: code.Before, code: "nop"},
		want: `0 goto -> 32767
			32768 return
			frame 32767 same extended`,
	}, {
		name: "a goto of 32,768 bytes becomes a goto_w", text: "goto target\n" + nopLines(32763) + "m: nop\ntarget: return\n.frame target same-ext",
		edit: edit{at: "m", place: code.Before, code: "nop"},
		want: `0 goto_w -> 32770
			32770 return
			frame 32770 same extended`,
	}, {
		name: "a goto back by 32,768 bytes keeps its form", text: "m: nop\ntarget: nop\n" + nopLines(32767) + "goto target\n.frame target same",
		edit: edit{at: "m", place: code.After, code: "nop"},
		want: `32770 goto -> 2
			frame 2 same`,
	}, {
		name: "a goto back by 32,769 bytes becomes a goto_w", text: "target: nop\nm: nop\n" + nopLines(32766) + "goto target\n.frame target same",
		edit: edit{at: "m", place: code.Before, code: "nop"},
		want: `32769 goto_w -> 0
			frame 0 same`,
	}, {
		name: "a condition of 32,767 bytes keeps its form",
		text: forward("ifne", 32763), edit: edit{at: "jump", place: code.After, code: "nop"},
		want: `0 iload_0
			1 ifne -> 32768
			32768 return
			frame 32768 same extended`,
	}, {
		name: "a condition that gets too far goes through a detour behind a return, with its target's frame",
		text: "iload_0\njump: ifne target\nreturn\nm: nop\n" + nopLines(32762) + "target: return\n.frame m same\n.frame target append top",
		edit: edit{at: "m", place: code.Before, code: "nop nop"},
		want: `0 iload_0
			1 ifne -> 5
			4 return
			5 goto_w -> 32775
			32775 return
			frame 5 append [top]
			frame 10 chop 1
			frame 32775 append [top]`,
	}, {
		name: "no detour stands inside a protected range",
		text: "iload_0\nfrom: ifne target\nreturn\nto: nop\ngoto target\nm: nop\n" + nopLines(32758) + "target: return\n" +
			"handler: athrow\n.catch 0 m handler any\n.frame to same\n.frame m same\n.frame target same-ext\n" +
			".frame handler same1 java/lang/Throwable",
		edit: edit{at: "m", place: code.After, code: "nop nop"},
		want: `0 iload_0
			1 ifne -> 11
			4 return
			6 goto_w -> 32777
			11 goto_w -> 32777
			32777 return
			32778 athrow
			catch 0..11 -> 32778 any
			frame 5 same
			frame 11 same
			frame 16 same
			frame 32777 same extended
			frame 32778 same stack [java/lang/Throwable]`,
	}, {
		name: "two conditions share a detour",
		text: "iload_0\nifne target\niload_0\nifeq target\nreturn\nm: nop\n" + nopLines(32758) + "target: return\n.frame m same\n.frame target same-ext",
		edit: edit{at: "m", place: code.Before, code: "nop nop nop nop nop"},
		want: `0 iload_0
			1 ifne -> 9
			4 iload_0
			5 ifeq -> 9
			8 return
			9 goto_w -> 32778
			32778 return
			frame 9 same
			frame 14 same
			frame 32778 same extended`,
	}, {
		name: "a condition without a place for a detour in reach",
		text: forward("ifne", 32764), edit: edit{at: "jump", place: code.After, code: "nop"},
		err: code.ErrBranch,
	}}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := rewriting{edits: []edit{test.edit}, method: method{desc: "(I)V", access: static, major: java17, stack: 1, locals: 2, text: test.text}}
			out, _, err := r.rewrite(t)
			if !errors.Is(err, test.err) {
				t.Fatalf("error %v, not %v", err, test.err)
			}
			if err != nil {
				return
			}
			if got, want := withoutNops(bodyText(t, out)), strings.Join(tidy(test.want), "\n"); got != want {
				t.Errorf("%s\nnot\n%s", got, want)
			}
		})
	}
}

// withoutNops keeps the lines of a dump that say something here.
func withoutNops(text string) string {
	var lines []string
	for _, line := range tidy(text)[1:] {
		if !strings.HasSuffix(line, " nop") && !strings.HasPrefix(line, "attribute") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// A method has at most 65,535 bytes of code, locals and stack slots (JVMS §4.7.3, §4.11).
func TestLimits(t *testing.T) {
	nops := func(n int) string { return "a: nop\n" + nopLines(n-2) + "b: return\n" }
	small := method{desc: "()V", access: static, major: java17, stack: 1, locals: 1, text: nops(10)}
	with := func(change func(*method)) method {
		m := small
		change(&m)
		return m
	}
	tests := []struct {
		name    string
		method  method
		edit    edit
		longs   int
		handler string
		err     error
	}{
		{name: "65,535 bytes", method: with(func(m *method) { m.text = nops(65533) }), edit: edit{at: "b", code: "nop nop"}},
		{name: "65,536 bytes", method: with(func(m *method) { m.text = nops(65534) }), edit: edit{at: "b", code: "nop nop"}, err: code.ErrTooLarge},
		{name: "65,535 bytes with the handler", method: with(func(m *method) { m.text = nops(65533) }), edit: edit{at: "b", code: "nop"}, handler: "a"},
		{name: "65,536 bytes with the handler", method: with(func(m *method) { m.text = nops(65534) }), edit: edit{at: "b", code: "nop"}, handler: "a",
			err: code.ErrTooLarge},
		{name: "65,535 locals", method: with(func(m *method) { m.locals = 65533 }), longs: 1, edit: edit{at: "b", code: "nop"}},
		{name: "65,536 locals", method: with(func(m *method) { m.locals = 65534 }), longs: 1, edit: edit{at: "b", code: "nop"}, err: code.ErrTooLarge},
		{name: "65,535 stack slots", method: with(func(m *method) { m.stack = 65533 }), edit: edit{at: "b", code: "nop", stack: 2}},
		{name: "65,536 stack slots", method: with(func(m *method) { m.stack = 65534 }), edit: edit{at: "b", code: "nop", stack: 2}, err: code.ErrTooLarge},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.edit.place = code.Before
			r := rewriting{method: test.method, edits: []edit{test.edit}, longs: test.longs, handler: test.handler}
			if _, _, err := r.rewrite(t); !errors.Is(err, test.err) {
				t.Errorf("error %v, not %v", err, test.err)
			}
		})
	}
}

// A full pool is found out before the constant that doesn't fit is added.
func TestFullPool(t *testing.T) {
	m := method{desc: "(Ljava/lang/Integer;)V", access: static, major: java17, stack: 1, locals: 1, text: "a: nop\nreturn"}
	data, _ := m.class(t)
	for room := range 8 {
		var c classfile.Class
		if err := c.Parse(data); err != nil {
			t.Fatal(err)
		}
		for c.Pool.Room() > room {
			c.Pool.AddLong(int64(c.Pool.Room()))
			if c.Pool.Room() == room+1 {
				c.Pool.AddUtf8("one more")
			}
		}
		var b code.Body
		if err := b.Parse(c.Bytes(c.Methods[0].Code), &c.Pool); err != nil {
			t.Fatal(err)
		}
		mark, before := c.Pool.Mark(), c.Append(nil, nil)
		plan := code.Plan{Handlers: []code.Handler{{Ranges: []code.Range{{Start: 0, End: 2}}, Code: operations("athrow"), Stack: 1}}}
		var r code.Rewriter
		out, err := r.Rewrite(nil, &b, &plan, target(&c))
		// What is needed: Integer and Throwable, each a class with its name, and the name StackMapTable.
		if want := room >= 5; want != (err == nil) || err != nil && !errors.Is(err, code.ErrPoolFull) {
			t.Errorf("room for %d: %v", room, err)
		}
		if c.Pool.Count() > 65535 || c.Pool.Room() < 0 {
			t.Errorf("room for %d: %d constants", room, c.Pool.Count())
		}
		if err == nil {
			if err := b.Parse(out, &c.Pool); err != nil {
				t.Error(err)
			}
			continue
		}
		c.Pool.Rollback(mark)
		if string(c.Append(nil, nil)) != string(before) {
			t.Errorf("room for %d: the pool has changed", room)
		}
	}
}
