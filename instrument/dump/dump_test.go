package dump_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jiffyperf/jiffy/instrument/classfile"
	"github.com/jiffyperf/jiffy/instrument/dump"
	"github.com/jiffyperf/jiffy/instrument/internal/assemble"
)

// printed is the dump of a class with one static method, from its code on.
func printed(t *testing.T, text string) (lines []string) {
	t.Helper()
	class, _ := assemble.Class{Methods: []assemble.Method{
		{Name: "m", Desc: "(I)V", Access: classfile.AccStatic, Stack: 4, Locals: 4, Text: text}}}.Bytes(t)
	var out bytes.Buffer
	if err := dump.Write(&out, class); err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(out.String(), " bytes=")
	_, body, _ = strings.Cut(body, "\n")
	for line := range strings.Lines(body) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return lines
}

// Every instruction that is one byte long, by the name that it was assembled from.
func TestPlainInstructions(t *testing.T) {
	withOperands := []string{"bipush", "sipush", "ldc", "ldc_w", "ldc2_w", "iinc", "goto", "jsr", "ret", "tableswitch", "lookupswitch",
		"newarray", "wide", "multianewarray", "goto_w", "jsr_w", "iload", "lload", "fload", "dload", "aload", "istore", "lstore", "fstore",
		"dstore", "astore", "getstatic", "putstatic", "getfield", "putfield", "new", "anewarray", "checkcast", "instanceof"}
	names := make([]string, 0, 202)
	for name, op := range assemble.Opcodes {
		if op < 202 && !slices.Contains(withOperands, name) && !strings.HasPrefix(name, "if") && !strings.HasPrefix(name, "invoke") {
			names = append(names, name)
		}
	}
	if len(names) != 202-len(withOperands)-16-5 { // 16 conditions, 5 calls
		t.Fatalf("%d instructions", len(names))
	}
	got := printed(t, strings.Join(names, "\n"))
	for pc, name := range names {
		if want := fmt.Sprintf("%d %s", pc, name); got[pc] != want {
			t.Errorf("%q, not %q", got[pc], want)
		}
	}
}

func TestOperands(t *testing.T) {
	got := printed(t, `
		a: bipush -3
		sipush -300
		ldc 70000
		ldc_w "text"
		ldc2_w -5L
		iload 200
		astore 9
		iinc 7 -1
		ifeq a
		goto_w b
		b: newarray 10
		getstatic T.value:I
		invokestatic T.m(I)V
		checkcast [LT;
		wide lload 300
		wide iinc 300 -300
		tableswitch 1 a b : a
		lookupswitch -1 b : a
		ret 3
		.byte 202`)
	want := strings.Split(`0 bipush -3
2 sipush -300
5 ldc 70000
7 ldc_w "text"
10 ldc2_w -5L
13 iload 200
15 astore 9
17 iinc 7 by -1
20 ifeq -> 0
23 goto_w -> 28
28 newarray int
30 getstatic T.value I
33 invokestatic T.m(I)V
36 checkcast [LT;
39 wide lload 300
43 wide iinc 300 by -300
49 tableswitch 1 -> 0, 2 -> 28, default -> 0
72 lookupswitch -1 -> 28, default -> 0
92 ret 3
94 ?`, "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestTablesAndFrames(t *testing.T) {
	got := printed(t, `
		a: nop
		b: nop
		c: nop
		d: nop
		e: nop
		f: nop
		g: return
		.catch a b c any
		.catch b c d java/lang/Error
		.frame a same
		.frame b append long T
		.frame c chop 2
		.frame d same1 new:b
		.frame e same1-ext null
		.frame f full top float double uninitializedThis / int
		.frame g raw 200
		.line b 12
		.var a g 0 name I
		.attr Unheard 00`)
	want := strings.Split(`0 nop
1 nop
2 nop
3 nop
4 nop
5 nop
6 return
catch 0..1 -> 2 any
catch 1..2 -> 3 java/lang/Error
frame 0 same
frame 1 append [long, T]
frame 2 chop 2
frame 3 same stack [uninitialized@1]
frame 4 same stack [null] extended
frame 5 full locals [top, float, double, uninitializedThis] stack [int]
frame with the reserved tag 200
attribute Unheard 1 bytes
line 1 12
variable 0..6 slot 0 name I
attribute StackMapTable 36 bytes`, "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestPaddingThatIsNotZeroIsMentioned(t *testing.T) {
	for padding, want := range map[byte]bool{0: false, 1: true} {
		class, _ := assemble.Class{Methods: []assemble.Method{{Name: "m", Desc: "()V", Stack: 1, Locals: 1, Padding: padding,
			Text: "a: lookupswitch 1 a : a"}}}.Bytes(t)
		var out bytes.Buffer
		if err := dump.Write(&out, class); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(out.String(), "padding is not zero"); got != want {
			t.Errorf("padding %d: %s", padding, out.String())
		}
	}
}

func TestWhatIsNoClassIsRefused(t *testing.T) {
	if err := dump.Write(io.Discard, []byte("PK\x03\x04 a jar")); !errors.Is(err, classfile.ErrMagic) {
		t.Error(err)
	}
}

// TestMethodIsAPartOfTheClass: the methods one by one are what the class as a whole has of them.
func TestMethodIsAPartOfTheClass(t *testing.T) {
	class, _ := assemble.Class{Methods: []assemble.Method{
		{Name: "m", Desc: "(I)V", Access: classfile.AccStatic, Locals: 1, Text: "return"},
		{Name: "m", Desc: "(J)V", Access: classfile.AccStatic, Locals: 2, Text: "nop\nreturn"},
		{Name: "n", Desc: "()V", Access: classfile.AccStatic, Text: "return"}}}.Bytes(t)
	var out bytes.Buffer
	if err := dump.Write(&out, class); err != nil {
		t.Fatal(err)
	}
	_, want, _ := strings.Cut(out.String(), "method ")
	want = "method " + want
	got := ""
	for _, m := range [][2]string{{"m", "(I)V"}, {"m", "(J)V"}, {"n", "()V"}} {
		text, err := dump.Method(class, m[0], m[1])
		if err != nil || !strings.HasPrefix(text, "method static "+m[0]+m[1]+"\n") {
			t.Errorf("%s%s: %q, %v", m[0], m[1], text, err)
		}
		got += text
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-class +methods:\n%s", diff)
	}
	if text, err := dump.Method(class, "n", "(I)V"); err != nil || text != "" {
		t.Errorf("a method that isn't there: %q, %v", text, err)
	}
}
