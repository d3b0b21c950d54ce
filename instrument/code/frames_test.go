package code_test

import (
	"testing"

	"github.com/jiffyperf/jiffy/instrument/code"
)

func TestFramesGetTheLong(t *testing.T) {
	runRewritings(t, []rewriting{{
		name: "append and chop count a long once, and the new long stands at the old max_locals",
		method: method{desc: "(I)V", access: static, major: java17, stack: 2, locals: 5, text: `
			lconst_0
			lstore_1
			a: nop
			dconst_0
			dstore_3
			b: nop
			c: nop
			d: iload_0
			ifne a
			return
			.frame a append long
			.frame b append double
			.frame c chop 1
			.frame d chop 1`},
		longs: 1,
		want: `stack=4 locals=7 bytes=15
			0 lconst_0
			1 lstore 5
			3 lconst_0
			4 lstore_1
			5 nop
			6 dconst_0
			7 dstore_3
			8 nop
			9 nop
			10 iload_0
			11 ifne -> 5
			14 return
			frame 5 full locals [int, long, top, top, long] stack []
			frame 8 full locals [int, long, double, long] stack []
			frame 9 full locals [int, long, top, top, long] stack []
			frame 10 full locals [int, top, top, top, top, long] stack []
			attribute StackMapTable 50 bytes`,
	}, {
		name: "same frames stay same behind the first",
		method: method{desc: "()V", access: static, major: java17, stack: 1, locals: 0, text: `
			a: nop
			b: iconst_0
			ifne b
			c: iconst_1
			d: ifne a
			return
			.frame a same
			.frame b same-ext
			.frame c same
			.frame d same1 int`},
		longs: 1,
		want: `stack=3 locals=2 bytes=12
			0 lconst_0
			1 lstore_0
			2 nop
			3 iconst_0
			4 ifne -> 3
			7 iconst_1
			8 ifne -> 2
			11 return
			frame 2 append [long]
			frame 3 same
			frame 7 same
			frame 8 same stack [int]
			attribute StackMapTable 10 bytes`,
	}, {
		name: "a full frame of the same locals becomes a same frame",
		method: method{desc: "(IJ)V", access: static, major: java17, stack: 1, locals: 3, text: `
			a: nop
			b: iload_0
			ifne a
			return
			.frame a full int long /
			.frame b full int long / `},
		longs: 1,
		want: `stack=3 locals=5 bytes=8
			0 lconst_0
			1 lstore_3
			2 nop
			3 iload_0
			4 ifne -> 2
			7 return
			frame 2 append [long]
			frame 3 same
			attribute StackMapTable 7 bytes`,
	}, {
		name: "parameters may be retyped, chopped and half overwritten",
		method: method{desc: "(JLjava/lang/String;)V", access: static, major: java17, stack: 1, locals: 3, text: `
			a: nop
			b: nop
			c: nop
			iconst_0
			ifne a
			return
			.frame a full top int java/lang/Object / int
			.frame b chop 1
			.frame c full / `},
		longs: 1,
		want: `stack=3 locals=5 bytes=10
			0 lconst_0
			1 lstore_3
			2 nop
			3 nop
			4 nop
			5 iconst_0
			6 ifne -> 2
			9 return
			frame 2 full locals [top, int, java/lang/Object, long] stack [int]
			frame 3 full locals [top, int, top, long] stack []
			frame 4 full locals [top, top, top, long] stack []
			attribute StackMapTable 38 bytes`,
	}, {
		name: "two longs stand one behind the other",
		method: method{desc: "(I)V", access: static, major: java17, stack: 1, locals: 1, text: `
			a: iload_0
			ifne a
			return
			.frame a same`},
		longs: 2, // each is set by an edit of its own, which add up
		want: `stack=5 locals=5 bytes=9
			0 lconst_0
			1 lstore_1
			2 lconst_0
			3 lstore_3
			4 iload_0
			5 ifne -> 4
			8 return
			frame 4 append [long, long]
			attribute StackMapTable 7 bytes`,
	}, {
		name: "uninitialized offsets go to the new instruction itself, not to what is inserted before it",
		method: method{desc: "(I)V", access: static, major: java17, stack: 3, locals: 1, text: `
			creation: new java/lang/Object
			dup
			iload_0
			ifne over
			nop
			over: invokespecial java/lang/Object.<init>()V
			pop
			return
			.frame over full int / new:creation new:creation`},
		edits: []edit{{at: "creation", place: code.Entry, code: "nop nop"}, {at: "creation", place: code.Before, code: "nop"}},
		want: `stack=3 locals=1 bytes=17
			0 nop
			1 nop
			2 nop
			3 new java/lang/Object
			6 dup
			7 iload_0
			8 ifne -> 12
			11 nop
			12 invokespecial java/lang/Object.<init>()V
			15 pop
			16 return
			frame 12 full locals [int] stack [uninitialized@3, uninitialized@3]
			attribute StackMapTable 16 bytes`,
	}, {
		name: "distances over 63 take the extended forms",
		method: method{desc: "(I)V", access: static, major: java17, stack: 2, locals: 1, text: `
			a: iload_0
			b: ifne a
			lookupswitch 1 c 2 c 3 c 4 c 5 c 6 c 7 c 8 c : c
			c: iload_0
			d: ifne c
			return
			.frame a same
			.frame b same1 int
			.frame c same-ext
			.frame d same1-ext int`},
		want: `stack=2 locals=1 bytes=85
			0 iload_0
			1 ifne -> 0
			4 lookupswitch 1 -> 80, 2 -> 80, 3 -> 80, 4 -> 80, 5 -> 80, 6 -> 80, 7 -> 80, 8 -> 80, default -> 80
			80 iload_0
			81 ifne -> 80
			84 return
			frame 0 same
			frame 1 same stack [int]
			frame 80 same extended
			frame 81 same stack [int]
			attribute StackMapTable 10 bytes`,
	}, {
		name: "a method of its own kind starts with this",
		method: method{desc: "(D)V", major: java17, stack: 1, locals: 3, text: `
			a: iconst_0
			ifne a
			return
			.frame a same`},
		longs:   1,
		handler: "a",
		want: `stack=3 locals=5 bytes=8
			0 lconst_0
			1 lstore_3
			2 iconst_0
			3 ifne -> 2
			6 return
			7 athrow
			catch 2..7 -> 7 any
			frame 2 append [long]
			frame 7 full locals [top, top, top, long] stack [java/lang/Throwable]
			attribute StackMapTable 20 bytes`,
	}})
}

func TestFramesThatAreRefused(t *testing.T) {
	body := func(frames string) method {
		return method{desc: "(I)V", access: static, major: java17, stack: 1, locals: 1, text: `
			a: iload_0
			b: ifne a
			return
			` + frames}
	}
	runRewritings(t, []rewriting{
		{name: "reserved tag 128", method: body(".frame a raw 128"), err: code.ErrFrame},
		{name: "reserved tag 246", method: body(".frame a raw 246"), err: code.ErrFrame},
		{name: "a chop of more than there is", method: body(".frame a chop 2"), err: code.ErrMalformed},
		{name: "more locals than max_locals", method: body(".frame a append int"), err: code.ErrMalformed},
		{name: "a long in the last local", method: body(".frame a full long /"), err: code.ErrMalformed},
		{name: "a frame between instructions", method: body(".frame 2 same"), err: code.ErrMalformed},
		{name: "a frame behind the code", method: body(".frame end same"), err: code.ErrMalformed},
		{name: "cut off", method: body(".attr StackMapTable 00 02 00"), err: code.ErrMalformed},
		{name: "no count", method: body(".attr StackMapTable 00"), err: code.ErrMalformed},
		{name: "bytes behind the last frame", method: body(".attr StackMapTable 00 01 00 00"), err: code.ErrMalformed},
		{name: "an unknown verification type", method: body(".attr StackMapTable 00 01 40 09"), err: code.ErrMalformed},
		{name: "uninitialized at no instruction", method: body(".attr StackMapTable 00 01 40 08 00 02"), err: code.ErrMalformed},
		{name: "no frames, but branches", method: body(""), err: code.ErrNoFrames},
	})
}

func TestVersionsWithoutFrames(t *testing.T) {
	text := `
		a: iload_0
		ifne a
		return`
	moved := `stack=3 locals=3 bytes=8
		0 lconst_0
		1 lstore_1
		2 iload_0
		3 ifne -> 2
		6 return
		7 athrow
		catch 2..7 -> 7 any`
	runRewritings(t, []rewriting{{
		name:   "Java 5 has no frames, with a handler neither",
		method: method{desc: "(I)V", access: static, major: 49, stack: 1, locals: 1, text: text},
		longs:  1, handler: "a",
		want: moved,
	}, {
		name:   "a StackMapTable in Java 5 means nothing and is dropped",
		method: method{desc: "(I)V", access: static, major: 49, stack: 1, locals: 1, text: text + "\n.frame a same"},
		longs:  1, handler: "a",
		want: moved,
	}, {
		name:   "CLDC's StackMap is dropped",
		method: method{desc: "(I)V", access: static, major: 48, stack: 1, locals: 1, text: text + "\n.attr StackMap 00 00"},
		longs:  1, handler: "a",
		want: moved,
	}})
}
