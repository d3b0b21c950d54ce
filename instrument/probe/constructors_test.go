package probe_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jiffyperf/jiffy/instrument/dump"
	"github.com/jiffyperf/jiffy/instrument/internal/assemble"
	"github.com/jiffyperf/jiffy/instrument/probe"
	"github.com/jiffyperf/jiffy/proof/jdk"
)

// constructors are the ways to call super() or this(). Each class has one, with a String and an int as parameters; catches
// are the rows that the instrumented one has. The entry code is 5 bytes long, what stands before a return is 8.
var constructors = []struct {
	name, super, text string
	catches           string
}{{
	name: "Plain", text: `
		aload_0
		invokespecial java/lang/Object.<init>()V
		return`,
	catches: "", // nothing between the call and the return
}, {
	name: "Behind", text: `
		aload_0
		invokespecial java/lang/Object.<init>()V
		nop
		return`,
	catches: "catch 9..10 -> 19 any",
}, {
	name: "NewArguments", super: "java/lang/Thread", text: `
		aload_0
		new java/lang/String
		dup
		new java/lang/StringBuilder
		dup
		aload_1
		invokespecial java/lang/StringBuilder.<init>(Ljava/lang/String;)V
		invokespecial java/lang/String.<init>(Ljava/lang/StringBuilder;)V
		invokespecial java/lang/Thread.<init>(Ljava/lang/String;)V
		nop
		return`,
	catches: "catch 24..25 -> 34 any",
}, {
	name: "OddOrder", text: `
		new java/lang/Object
		aload_0
		invokespecial java/lang/Object.<init>()V
		invokespecial java/lang/Object.<init>()V
		nop
		return`, // this() is called while an Object is without its own call: covered from behind both
	catches: "catch 15..16 -> 25 any",
}, {
	name: "OtherThis", super: "java/lang/Thread", text: `
		new java/lang/Thread
		dup
		invokespecial java/lang/Thread.<init>()V
		pop
		aload_0
		invokespecial java/lang/Thread.<init>()V
		nop
		return`,
	catches: "catch 17..18 -> 27 any",
}, {
	name: "OtherLast", super: "java/lang/Thread", text: `
		new java/lang/String
		dup
		aload_0
		aload_1
		invokespecial java/lang/Thread.<init>(Ljava/lang/String;)V
		invokespecial java/lang/String.<init>()V
		pop
		nop
		return`, // the String outlives the call of super()
	catches: "catch 14..19 -> 28 any",
}, {
	name: "Branches", super: "java/lang/Thread", text: `
		aload_0
		iload_2
		ifne a
		aload_1
		goto b
		a: ldc2_w 5L
		pop2
		aconst_null
		b: invokespecial java/lang/Thread.<init>(Ljava/lang/String;)V
		nop
		return
		.frame a full uninitializedThis java/lang/String int / uninitializedThis
		.frame b full uninitializedThis java/lang/String int / uninitializedThis java/lang/String`,
	catches: "catch 22..23 -> 32 any",
}, {
	name: "TwoCalls", text: `
		iload_2
		ifne a
		aload_0
		invokespecial java/lang/Object.<init>()V
		goto b
		a: aload_0
		invokespecial java/lang/Object.<init>()V
		b: nop
		return
		.frame a same
		.frame b full TwoCalls java/lang/String int / `,
	catches: "catch 13..16 -> 30 any\ncatch 20..21 -> 30 any",
}, {
	name: "CatchesBefore", super: "java/lang/Thread", text: `
		from: aload_1
		invokevirtual java/lang/String.length()I
		to: pop
		goto call
		handler: pop
		call: aload_0
		invokespecial java/lang/Thread.<init>()V
		nop
		return
		.catch from to handler java/lang/Exception
		.frame handler same1 java/lang/Exception
		.frame call same`,
	catches: "catch 5..9 -> 13 java/lang/Exception\ncatch 18..19 -> 28 any",
}, {
	name: "StoresThis", text: `
		aload_0
		astore_3
		iload_2
		ifne a
		nop
		a: aload_3
		invokespecial java/lang/Object.<init>()V
		nop
		return
		.frame a append uninitializedThis`,
	catches: "catch 16..17 -> 26 any",
}, {
	name: "ThrowsBefore", text: `
		iload_2
		ifne a
		aload_0
		invokespecial java/lang/Object.<init>()V
		nop
		return
		a: aconst_null
		athrow
		.frame a same`,
	catches: "catch 13..14 -> 25 any",
}, {
	name: "NeverCalls", text: `
		aconst_null
		athrow`,
	catches: "",
}, {
	name: "Loops", text: `
		a: iinc 2 -1
		iload_2
		ifgt a
		aload_0
		invokespecial java/lang/Object.<init>()V
		b: iinc 2 1
		iload_2
		ifle b
		return
		.frame a same
		.frame b full Loops java/lang/String int / `,
	catches: "catch 16..23 -> 32 any",
}}

func assembleConstructor(t *testing.T, name, super, text string) []byte {
	t.Helper()
	data, _ := assemble.Class{Name: name, Super: super, Access: 0x20, Methods: []assemble.Method{{Name: "<init>",
		Desc: "(Ljava/lang/String;I)V", Stack: 6, Locals: 4, Text: text}}}.Bytes(t)
	return data
}

func TestHandlersStartBehindSuper(t *testing.T) {
	for _, test := range constructors {
		t.Run(test.name, func(t *testing.T) {
			data := assembleConstructor(t, test.name, test.super, test.text)
			res, err := probe.New(probe.Options{Match: everything{}}).Class(data)
			if err != nil {
				t.Fatal(err)
			}
			if len(res.Probes) != 1 || res.Probes[0].Flags != "constructor" {
				t.Fatalf("probes %v, left alone %v", res.Probes, res.Skipped)
			}
			if diff := cmp.Diff(test.catches, catches(t, res.Out)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// catches are the rows of a class's exception tables.
func catches(t *testing.T, class []byte) string {
	t.Helper()
	var text bytes.Buffer
	if err := dump.Write(&text, class); err != nil {
		t.Fatal(err)
	}
	var rows []string
	for line := range strings.Lines(text.String()) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "catch ") {
			rows = append(rows, line)
		}
	}
	return strings.Join(rows, "\n")
}

func TestConstructorsLinkOnJVM(t *testing.T) {
	original, changed := t.TempDir(), t.TempDir()
	args := []string{"Linker", original + string(filepath.ListSeparator) + changed}
	for _, c := range constructors {
		data := assembleConstructor(t, c.name, c.super, c.text)
		res, err := probe.New(probe.Options{Match: everything{}}).Class(data)
		if err != nil || !res.Changed {
			t.Fatal(c.name, err)
		}
		for folder, class := range map[string][]byte{original: data, changed: res.Out} {
			write(t, filepath.Join(folder, c.name+".class"), string(class))
		}
		args = append(args, c.name)
	}
	eachJDK(t, func(t *testing.T, j jdk.JDK) { link(t, j, args) })
}

// Object has no superclass, and nothing to wait for.
func TestObjectItself(t *testing.T) {
	data, _ := assemble.Class{Name: "java/lang/Object", Access: 0x21, Methods: []assemble.Method{
		{Name: "<init>", Desc: "()V", Stack: 0, Locals: 1, Text: "nop\nreturn"}}}.Bytes(t)
	res, err := probe.New(probe.Options{Match: everything{}}).Class(data)
	if err != nil {
		t.Fatal(err)
	}
	if got := catches(t, res.Out); got != "catch 4..5 -> 13 any" {
		t.Error(got)
	}
}
