package probe_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jiffyperf/jiffy/instrument/classfile"
	"github.com/jiffyperf/jiffy/instrument/internal/assemble"
	"github.com/jiffyperf/jiffy/instrument/probe"
	"github.com/jiffyperf/jiffy/proof/jdk"
)

// Code of old compilers: without frames, with subroutines, with frames that only some methods have.
var oldCode = []struct {
	name, text string
	from, to   int // class-file versions it may stand in
}{
	{"Loop", "a: iinc 0 -1\niload_0\nifgt a\nreturn", 46, 50},
	{"Straight", "nop\nreturn", 46, classfile.MaxMajor},
	{"Framed", "a: iinc 0 -1\niload_0\nifgt a\nreturn\n.frame a same", 46, classfile.MaxMajor},
	{"Catch", "a: nop\nb: return\nc: pop\nreturn\n.catch a b c java/lang/Exception", 46, 50},
	// try { } finally { }, as javac compiled it up to version 1.4.1.
	{"Finally", `from: nop
		jsr sub
		to: return
		handler: astore_1
		jsr sub
		aload_1
		athrow
		sub: astore_2
		iinc 0 1
		ret 2
		.catch from to handler any`, 46, 50},
	{"WideSubroutine", "jsr_w sub\nreturn\nsub: astore_2\nwide ret 2", 46, 50},
}

// TestOldVersionsLinkOnJVM instruments them in every version they may have. Below 50 and, without frames, in 50 the virtual
// machine infers types (JVMS §4.10.2).
func TestOldVersionsLinkOnJVM(t *testing.T) {
	folder := t.TempDir()
	args := []string{"Linker", folder}
	for _, c := range oldCode {
		for major := c.from; major <= c.to; major++ {
			name := fmt.Sprintf("%s%d", c.name, major)
			class, _ := assemble.Class{Name: name, Access: 0x20, Major: major, Methods: []assemble.Method{
				{Name: "m", Desc: "(I)V", Access: static, Stack: 1, Locals: 3, Text: c.text}}}.Bytes(t)
			row := instrumentAll(t, class, probe.Options{})["m"]
			if got, want := row.HasFlag("normal-exits"), strings.Contains(c.text, "ret 2"); got != want {
				t.Errorf("%s reports only normal exits: %v", name, got)
			}
			res, err := probe.New(probe.Options{Match: everything{}}).Class(class)
			if err != nil || !res.Changed {
				t.Fatal(name, err)
			}
			write(t, filepath.Join(folder, name+".class"), string(res.Out))
			if major <= 61 { // the oldest JDK that tests run on
				args = append(args, name)
			}
		}
	}
	eachJDK(t, func(t *testing.T, j jdk.JDK) { link(t, j, args) })
}
