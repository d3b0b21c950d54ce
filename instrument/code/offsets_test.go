package code_test

import (
	"testing"

	"github.com/jiffyperf/jiffy/instrument/code"
)

// A jump, a protected range and an object's creation see inserted code differently.
func TestJumpsAndInsertedCode(t *testing.T) {
	runRewritings(t, []rewriting{{
		name: "a jump to the first instruction doesn't run entry code",
		method: method{desc: "(I)V", access: static, major: java17, stack: 1, locals: 1, text: `
			top: iinc 0 -1
			iload_0
			ifne top
			return
			.frame top same`},
		edits: []edit{{at: "top", place: code.Entry, code: "nop nop"}},
		want: `stack=1 locals=1 bytes=10
			0 nop
			1 nop
			2 iinc 0 by -1
			5 iload_0
			6 ifne -> 2
			9 return
			frame 2 same
			attribute StackMapTable 3 bytes`,
	}, {
		name: "a jump to a return runs what is inserted before it",
		method: method{desc: "(I)V", access: static, major: java17, stack: 1, locals: 1, text: `
			iload_0
			ifne out
			nop
			out: return
			.frame out same`},
		edits: []edit{{at: "out", place: code.Before, code: "iconst_1 pop"}},
		want: `stack=1 locals=1 bytes=8
			0 iload_0
			1 ifne -> 5
			4 nop
			5 iconst_1
			6 pop
			7 return
			frame 5 same
			attribute StackMapTable 3 bytes`,
	}, {
		name: "a jump to the next instruction doesn't run what is inserted after one",
		method: method{desc: "(I)V", access: static, major: java17, stack: 1, locals: 1, text: `
			iload_0
			ifne out
			last: nop
			out: return
			.frame out same`},
		edits: []edit{{at: "last", place: code.After, code: "iconst_1 pop"}, {at: "out", place: code.Before, code: "nop"}},
		want: `stack=1 locals=1 bytes=9
			0 iload_0
			1 ifne -> 7
			4 nop
			5 iconst_1
			6 pop
			7 nop
			8 return
			frame 7 same
			attribute StackMapTable 3 bytes`,
	}, {
		name: "a conditional jump to the next instruction passes by what is inserted after the jump itself",
		method: method{desc: "(I)V", access: static, major: java17, stack: 1, locals: 1, text: `
			iload_0
			jump: ifne out
			out: return
			.frame out same`},
		edits: []edit{{at: "jump", place: code.After, code: "nop"}},
		want: `stack=1 locals=1 bytes=6
			0 iload_0
			1 ifne -> 5
			4 nop
			5 return
			frame 5 same
			attribute StackMapTable 3 bytes`,
	}, {
		name: "edits at one place keep their order, After before Before before Instead",
		method: method{desc: "()V", access: static, major: java17, stack: 0, locals: 0, text: `
			first: nop
			second: nop
			return`},
		edits: []edit{
			{at: "second", place: code.Instead, code: "iconst_0 pop"},
			{at: "second", place: code.Before, code: "iconst_1 pop"},
			{at: "second", place: code.Before, code: "iconst_2 pop"},
			{at: "first", place: code.After, code: "iconst_3 pop"},
			{at: "first", place: code.After, code: "iconst_4 pop"},
		},
		want: `stack=0 locals=0 bytes=12
			0 nop
			1 iconst_3
			2 pop
			3 iconst_4
			4 pop
			5 iconst_1
			6 pop
			7 iconst_2
			8 pop
			9 iconst_0
			10 pop
			11 return`,
	}, {
		name: "a branch that is replaced needs no target, and goto_w is moved like goto",
		method: method{desc: "(I)V", access: static, major: java17, stack: 1, locals: 1, text: `
			iload_0
			jump: ifne out
			goto_w out
			out: return
			.frame out same`},
		edits: []edit{{at: "jump", place: code.Instead, code: "pop nop nop nop nop nop"}},
		want: `stack=1 locals=1 bytes=13
			0 iload_0
			1 pop
			2 nop
			3 nop
			4 nop
			5 nop
			6 nop
			7 goto_w -> 12
			12 return
			frame 12 same
			attribute StackMapTable 3 bytes`,
	}, {
		name: "a branch keeps its target behind what is inserted before the branch itself",
		method: method{desc: "(I)V", access: static, major: java17, stack: 1, locals: 1, text: `
			top: iload_0
			jump: ifne top
			again: goto_w top
			.frame top same`},
		edits: []edit{{at: "jump", place: code.Before, code: "nop"}, {at: "again", place: code.Before, code: "nop nop"}},
		want: `stack=1 locals=1 bytes=12
			0 iload_0
			1 nop
			2 ifne -> 0
			5 nop
			6 nop
			7 goto_w -> 0
			frame 0 same
			attribute StackMapTable 3 bytes`,
	}, {
		name: "a jump to the end of a backward loop keeps its sign",
		method: method{desc: "(I)V", access: static, major: java17, stack: 1, locals: 1, text: `
			goto test
			body: iinc 0 -1
			test: iload_0
			ifne body
			return
			.frame body same
			.frame test same`},
		edits: []edit{{at: "body", place: code.Before, code: "nop"}, {at: "test", place: code.Before, code: "nop nop"}},
		want: `stack=1 locals=1 bytes=14
			0 goto -> 7
			3 nop
			4 iinc 0 by -1
			7 nop
			8 nop
			9 iload_0
			10 ifne -> 3
			13 return
			frame 3 same
			frame 7 same
			attribute StackMapTable 4 bytes`,
	}})
}

func TestExceptionRanges(t *testing.T) {
	protected := method{desc: "()V", access: static, major: java17, stack: 1, locals: 1, text: `
		nop
		from: nop
		to: return
		handler: pop
		return
		.catch from to handler java/lang/Exception
		.frame handler same1 java/lang/Exception`}
	runRewritings(t, []rewriting{{
		name:   "what is inserted before the first instruction is protected, what is inserted before the end is not",
		method: protected,
		edits:  []edit{{at: "from", place: code.Before, code: "iconst_1 pop"}, {at: "to", place: code.Before, code: "iconst_2 pop"}},
		want: `stack=1 locals=1 bytes=9
			0 nop
			1 iconst_1
			2 pop
			3 nop
			4 iconst_2
			5 pop
			6 return
			7 pop
			8 return
			catch 1..4 -> 7 java/lang/Exception
			frame 7 same stack [java/lang/Exception]
			attribute StackMapTable 6 bytes`,
	}, {
		name: "a range that starts at 0 starts behind the entry code",
		method: method{desc: "()V", access: static, major: java17, stack: 1, locals: 0, text: `
			from: nop
			to: return
			handler: pop
			return
			.catch from to handler java/lang/Exception
			.frame handler same1 java/lang/Exception`},
		edits: []edit{{at: "from", place: code.Entry, code: "nop nop nop"}},
		want: `stack=1 locals=0 bytes=7
			0 nop
			1 nop
			2 nop
			3 nop
			4 return
			5 pop
			6 return
			catch 3..4 -> 5 java/lang/Exception
			frame 5 same stack [java/lang/Exception]
			attribute StackMapTable 6 bytes`,
	}, {
		name: "a handler lands before what is inserted before its first instruction",
		method: method{desc: "()V", access: static, major: java17, stack: 1, locals: 0, text: `
			from: nop
			to: return
			handler: athrow
			.catch from to handler any
			.frame handler same1 java/lang/Throwable`},
		edits: []edit{{at: "handler", place: code.Before, code: "nop"}},
		want: `stack=1 locals=0 bytes=4
			0 nop
			1 return
			2 nop
			3 athrow
			catch 0..1 -> 2 any
			frame 2 same stack [java/lang/Throwable]
			attribute StackMapTable 6 bytes`,
	}, {
		name: "the plan's handler is last, leaves out bare exits with their returns, and empty ranges",
		method: method{desc: "(I)V", access: static, major: java17, stack: 1, locals: 1, text: `
			iload_0
			ifne b
			nop
			a: return
			b: return
			c: return
			d: nop
			e: athrow
			.catch d e a any
			.frame b same
			.frame c same
			.frame d same`},
		longs: 1,
		edits: []edit{{at: "a", place: code.Before, code: "nop", bare: 1}, {at: "b", place: code.Before, code: "nop", bare: 1},
			{at: "c", place: code.Before, code: "nop", bare: 1}},
		handler: "a",
		want: `stack=3 locals=3 bytes=16
			0 lconst_0
			1 lstore_1
			2 iload_0
			3 ifne -> 9
			6 nop
			7 nop
			8 return
			9 nop
			10 return
			11 nop
			12 return
			13 nop
			14 athrow
			15 athrow
			catch 13..14 -> 7 any
			catch 13..15 -> 15 any
			frame 9 append [long]
			frame 11 same
			frame 13 same
			frame 15 full locals [top, long] stack [java/lang/Throwable]
			attribute StackMapTable 20 bytes`,
	}, {
		name: "a handler that would cover nothing is left out",
		method: method{desc: "()V", access: static, major: java17, stack: 1, locals: 0, text: `
			a: return`},
		edits:   []edit{{at: "a", place: code.Before, code: "nop", bare: 1}},
		handler: "a",
		want: `stack=1 locals=0 bytes=2
			0 nop
			1 return`,
	}, {
		name: "a row that covers nothing already is refused",
		method: method{desc: "()V", access: static, major: java17, text: `
			a: return
			b: athrow
			.catch a a b any
			.frame b same1 java/lang/Throwable`},
		err: code.ErrMalformed,
	}, {
		name: "a row that ends between instructions is refused",
		method: method{desc: "()V", access: static, major: java17, text: `
			sipush 1
			return
			handler: athrow
			.catch 0 2 handler any
			.frame handler same1 java/lang/Throwable`},
		err: code.ErrMalformed,
	}})
}
