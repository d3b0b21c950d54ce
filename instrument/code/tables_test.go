package code_test

import (
	"testing"

	"github.com/jiffyperf/jiffy/instrument/code"
)

func TestDebugTables(t *testing.T) {
	runRewritings(t, []rewriting{{
		name: "line numbers move, the first stays at 0, rows behind the code are dropped",
		method: method{desc: "()V", access: static, major: java17, stack: 1, locals: 0, text: `
			a: nop
			b: nop
			c: return
			.line a 10
			.line c 12
			.line b 11
			.line end 99`},
		edits: []edit{{at: "a", place: code.Entry, code: "nop nop"}, {at: "b", place: code.Before, code: "iconst_1 pop"},
			{at: "b", place: code.After, code: "iconst_2 pop"}},
		want: `stack=1 locals=0 bytes=9
			0 nop
			1 nop
			2 nop
			3 iconst_1
			4 pop
			5 nop
			6 iconst_2
			7 pop
			8 return
			line 0 10
			line 8 12
			line 3 11`,
	}, {
		name: "variables move, parameters stay at 0, rows behind the code are dropped",
		method: method{desc: "(I)V", access: static, major: java17, stack: 1, locals: 3, text: `
			a: iconst_0
			istore_1
			b: iconst_1
			istore_2
			c: nop
			d: return
			.var a end 0 parameter I
			.var b d 1 first I
			.var c c 2 none I
			.var c end 2 second I
			.var b 7 1 invalid I
			.var end end 1 invalid I
			.vartype a end 0 parameter TT;
			.vartype d 7 1 invalid TT;`},
		edits: []edit{{at: "a", place: code.Entry, code: "nop"}, {at: "b", place: code.Before, code: "nop"},
			{at: "d", place: code.Before, code: "nop nop"}},
		longs:   1,
		handler: "a",
		want: `stack=3 locals=5 bytes=13
			0 lconst_0
			1 lstore_3
			2 nop
			3 iconst_0
			4 istore_1
			5 nop
			6 iconst_1
			7 istore_2
			8 nop
			9 nop
			10 nop
			11 return
			12 athrow
			catch 3..12 -> 12 any
			frame 12 full locals [top, top, top, long] stack [java/lang/Throwable]
			variable 0..12 slot 0 parameter I
			variable 5..9 slot 1 first I
			variable 8..8 slot 2 none I
			variable 8..12 slot 2 second I
			variabletype 0..12 slot 0 parameter TT;
			attribute StackMapTable 16 bytes`,
	}, {
		name: "an empty variable at 0 stays empty",
		method: method{desc: "()V", access: static, major: java17, stack: 1, locals: 1, text: `
			a: return
			.var a a 0 none I`},
		edits: []edit{{at: "a", place: code.Entry, code: "nop"}},
		want: `stack=1 locals=1 bytes=2
			0 nop
			1 return
			variable 0..0 slot 0 none I`,
	}, {
		name: "a table whose length is wrong is dropped",
		method: method{desc: "()V", access: static, major: java17, stack: 1, locals: 1, text: `
			a: return
			.attr LineNumberTable 00 02 00 00 00 01
			.attr LocalVariableTable 00 01`},
		want: `stack=1 locals=1 bytes=1
			0 return`,
	}, {
		name: "attributes that may hold offsets are dropped and counted",
		method: method{desc: "()V", access: static, major: java17, stack: 1, locals: 0, text: `
			a: return
			.attr CharacterRangeTable 00 00
			.attr Unheard 01
			.line a 1`},
		edits:   []edit{{at: "a", place: code.Before, code: "nop"}},
		dropped: 2,
		want: `stack=1 locals=0 bytes=2
			0 nop
			1 return
			line 0 1`,
	}})
}

// Old compilers' ranges, whose handler unlocks, hold the return behind the unlocking, too. A probe in there must not be unlocked for.
func TestExitsLeaveRangesThatUnlock(t *testing.T) {
	body := func(rows string) method {
		return method{desc: "()V", access: static, major: 47, stack: 2, locals: 1, text: `
			a: aconst_null
			astore_0
			aload_0
			monitorenter
			b: aload_0
			monitorexit
			c: return
			d: astore_0
			aconst_null
			monitorexit
			e: aconst_null
			athrow
			` + rows}
	}
	exit := []edit{{at: "c", place: code.Before, code: "nop nop", bare: 1}}
	code := `
			0 aconst_null
			1 astore_0
			2 aload_0
			3 monitorenter
			4 aload_0
			5 monitorexit
			6 nop
			7 nop
			8 return
			9 astore_0
			10 aconst_null
			11 monitorexit
			12 aconst_null
			13 athrow
`
	runRewritings(t, []rewriting{
		{name: "at the range's end", method: body(".catch b d d any"), edits: exit,
			want: "stack=2 locals=1 bytes=14" + code + "catch 4..6 -> 9 any"},
		{name: "inside the range", method: body(".catch b e d any"), edits: exit,
			want: "stack=2 locals=1 bytes=14" + code + "catch 4..6 -> 9 any\ncatch 9..12 -> 9 any"},
		{name: "a range of nothing else stays", method: body(".catch c d d any"), edits: exit,
			want: "stack=2 locals=1 bytes=14" + code + "catch 6..9 -> 9 any"},
		{name: "a range for one type of exception stays", method: body(".catch b d d java/lang/Error"), edits: exit,
			want: "stack=2 locals=1 bytes=14" + code + "catch 4..9 -> 9 java/lang/Error"},
		{name: "type annotations count rows", method: body(".catch b d d any\n.attr RuntimeVisibleTypeAnnotations 00 00"), edits: exit,
			want: "stack=2 locals=1 bytes=14" + code + "catch 4..9 -> 9 any\nattribute RuntimeVisibleTypeAnnotations 2 bytes"},
	})
}

// Type annotations (JVMS §4.7.20) are printed by their size only, so their bytes are compared.
func TestTypeAnnotations(t *testing.T) {
	const plain = " 00 00 01 00 00" // no path, type #1, no elements
	tests := []struct {
		name, info, want string // of one annotation
	}{
		{"a variable's ranges move", "40 00 02 00 01 00 02 00 01 00 00 00 01 00 02" + plain,
			"40 00 02 00 03 00 04 00 01 00 00 00 01 00 02" + plain},
		{"a resource's range ends before what is inserted there", "41 00 01 00 01 00 01 00 01" + plain,
			"41 00 01 00 03 00 01 00 01" + plain},
		{"a catch names its row", "42 00 00" + plain, "42 00 00" + plain},
		{"an instanceof moves behind what is inserted before it", "43 00 02" + plain, "43 00 06" + plain},
		{"a new moves", "44 00 01" + plain, "44 00 03" + plain},
		{"a method reference moves", "46 00 02" + plain, "46 00 06" + plain},
		{"a cast moves and keeps its bound", "47 00 02 07" + plain, "47 00 06 07" + plain},
		{"a type argument moves", "4B 00 01 01" + plain, "4B 00 03 01" + plain},
		{"elements of all kinds are passed over",
			"44 00 01 01 00 00 00 01 00 04 00 02 65 00 01 00 02 00 02 40 00 01 00 00 00 02 5B 00 02 73 00 01 49 00 01 00 02 63 00 01",
			"44 00 03 01 00 00 00 01 00 04 00 02 65 00 01 00 02 00 02 40 00 01 00 00 00 02 5B 00 02 73 00 01 49 00 01 00 02 63 00 01"},
		{"an offset behind the code", "44 00 04" + plain, ""},
		{"a range behind the code", "40 00 01 00 01 00 04 00 00" + plain, ""},
		{"a target that no code has", "10 00 00" + plain, ""},
		{"cut off", "44 00 01 00 00 01 00", ""},
		{"bytes behind the end", "44 00 01" + plain + " 00", ""},
		{"an endless nest of arrays", "44 00 01 00 00 01 00 01 00 01 " + nested(100), ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, name := range []string{"RuntimeVisibleTypeAnnotations", "RuntimeInvisibleTypeAnnotations"} {
				r := rewriting{
					method: method{desc: "()V", access: static, major: java17, stack: 1, locals: 1, text: `
						a: nop
						b: nop
						c: nop
						return
						.attr ` + name + " 00 01 " + test.info},
					edits: []edit{{at: "a", place: code.After, code: "nop nop"}, {at: "c", place: code.Before, code: "nop nop"}},
				}
				out, dropped, err := r.rewrite(t)
				if err != nil {
					t.Fatal(err)
				}
				info, found := codeAttribute(t, out, name)
				if test.want == "" {
					if found || dropped != 1 {
						t.Errorf("kept as % X, %d dropped", info, dropped)
					}
					continue
				}
				if want := hex(t, "00 01 "+test.want); string(info) != string(want) || dropped != 0 {
					t.Errorf("% X\nnot % X, %d dropped", info, want, dropped)
				}
			}
		})
	}
}
