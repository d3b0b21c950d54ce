package code_test

import (
	"testing"

	"github.com/jiffyperf/jiffy/instrument/code"
)

func TestEditsThatAreRefused(t *testing.T) {
	m := method{desc: "(I)V", access: static, major: java17, stack: 1, locals: 1, text: `
		first: iload_0
		jump: goto next
		next: pop
		last: return
		.frame next same1 int`}
	for name, e := range map[string]edit{
		"between instructions":                          {at: "inside", place: code.Before, code: "nop"},
		"behind the code":                               {at: "end", place: code.Before, code: "nop"},
		"after a return":                                {at: "last", place: code.After, code: "nop"},
		"after a goto":                                  {at: "jump", place: code.After, code: "nop"},
		"entry code inside the method":                  {at: "next", place: code.Entry, code: "nop"},
		"nothing instead of an instruction":             {at: "next", place: code.Instead},
		"a second edit instead of the same instruction": {at: "first", place: code.Instead, code: "iconst_1"},
	} {
		test := rewriting{name: name, method: m, err: code.ErrMalformed, edits: []edit{e, {at: "first", place: code.Instead, code: "iconst_0"}}}
		test.inside = map[string]int{"inside": 2}
		t.Run(name, func(t *testing.T) { test.run(t) })
	}
}

// Classes up to version 50 may have subroutines (JVMS §4.9.1). What returns normally can be timed, but a handler can't.
func TestSubroutines(t *testing.T) {
	subroutine := `
		a: jsr sub
		out: return
		sub: astore_0
		ret 0`
	wide := `
		a: jsr_w sub
		out: return
		sub: astore_0
		wide ret 0`
	runRewritings(t, []rewriting{{
		name:   "without a handler",
		method: method{desc: "()V", access: static, major: 48, stack: 1, locals: 1, text: subroutine},
		edits:  []edit{{at: "out", place: code.Before, code: "nop nop", bare: 1}},
		longs:  1,
		want: `stack=3 locals=3 bytes=11
			0 lconst_0
			1 lstore_1
			2 jsr -> 8
			5 nop
			6 nop
			7 return
			8 astore_0
			9 ret 0`,
	}, {
		name:   "wide forms",
		method: method{desc: "()V", access: static, major: 48, stack: 1, locals: 1, text: wide},
		edits:  []edit{{at: "out", place: code.Before, code: "nop"}},
		want: `stack=1 locals=1 bytes=12
			0 jsr_w -> 7
			5 nop
			6 return
			7 astore_0
			8 wide ret 0`,
	}, {
		name:   "with a handler",
		method: method{desc: "()V", access: static, major: 48, stack: 1, locals: 1, text: subroutine},
		longs:  1, handler: "a",
		err: code.ErrSubroutine,
	}, {
		name:   "in a class that must not have them",
		method: method{desc: "()V", access: static, major: 51, stack: 1, locals: 1, text: subroutine},
		err:    code.ErrSubroutine,
	}})
}

func TestWideInstructionsAreKept(t *testing.T) {
	runRewritings(t, []rewriting{{
		name: "wide iinc and loads",
		method: method{desc: "()V", access: static, major: java17, stack: 1, locals: 301, text: `
			a: iconst_0
			wide istore 300
			wide iinc 300 -1000
			wide iload 300
			pop
			ldc 100000
			pop
			ldc_w 100000
			pop
			ldc2_w 7L
			pop2
			return`},
		edits: []edit{{at: "a", place: code.After, code: "nop"}},
		want: `stack=1 locals=301 bytes=29
			0 iconst_0
			1 nop
			2 wide istore 300
			6 wide iinc 300 by -1000
			12 wide iload 300
			16 pop
			17 ldc 100000
			19 pop
			20 ldc_w 100000
			23 pop
			24 ldc2_w 7L
			27 pop2
			28 return`,
	}})
}
