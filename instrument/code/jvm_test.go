package code_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jiffyperf/jiffy/fixtures"
	"github.com/jiffyperf/jiffy/instrument/classfile"
	"github.com/jiffyperf/jiffy/instrument/code"
	"github.com/jiffyperf/jiffy/proof/jdk"
)

const driver = "../../fixtures/driver"

// shape says what is put around the instruction of a class at a pc; nothing where it doesn't apply.
type shape struct {
	name  string
	edits func(v *variant, pc int) []code.Edit
}

var shapes = []shape{
	{"before", func(v *variant, _ int) []code.Edit {
		return []code.Edit{{Place: code.Before, Code: v.call("hit", "()V")}}
	}},
	{"after", func(v *variant, pc int) []code.Edit {
		if !v.goesOn(pc) {
			return nil
		}
		return []code.Edit{{Place: code.After, Code: v.call("hit", "()V")}}
	}},
	{"instead", func(v *variant, pc int) []code.Edit {
		if !v.body.FallsThrough(pc) || v.body.Code[pc] == code.OpNew { // frames name the new itself
			return nil
		}
		same := bytes.Clone(v.body.Code[pc : pc+v.body.Length(pc)])
		return []code.Edit{{Place: code.Instead, Code: append(v.call("hit", "()V"), same...)}}
	}},
	{"result passed on", func(v *variant, pc int) []code.Edit {
		if take := v.take(pc); take != nil {
			return []code.Edit{{Place: code.After, Stack: 2, Code: take}}
		}
		return nil
	}},
	{"returned value passed on", func(v *variant, pc int) []code.Edit {
		const dup2 = 92
		switch v.body.Code[pc] {
		case code.OpIreturn:
			return []code.Edit{{Place: code.Before, Stack: 1, Bare: 1, Code: append([]byte{code.OpDup}, v.call("take", "(I)V")...)}}
		case code.OpAreturn:
			return []code.Edit{{Place: code.Before, Stack: 1, Bare: 1,
				Code: append([]byte{code.OpDup}, v.call("take", "(Ljava/lang/Object;)V")...)}}
		case code.OpIreturn + 1:
			return []code.Edit{{Place: code.Before, Stack: 2, Bare: 1, Code: append([]byte{dup2}, v.call("take", "(J)V")...)}}
		case code.OpIreturn + 3:
			return []code.Edit{{Place: code.Before, Stack: 2, Bare: 1, Code: append([]byte{dup2}, v.call("take", "(D)V")...)}}
		}
		return nil
	}},
	{"all at once, with a long and a handler", func(v *variant, pc int) []code.Edit {
		edits := []code.Edit{{Place: code.Before, Code: v.call("hit", "()V")}}
		if v.goesOn(pc) {
			edits = append(edits, code.Edit{Place: code.After, Code: v.call("hit", "()V")})
		}
		return edits
	}},
}

// variant is a class that is being changed.
type variant struct {
	class    classfile.Class
	body     code.Body
	rewriter code.Rewriter
	shape    *shape
	count    int // edits made
}

func (v *variant) call(name, desc string) []byte {
	return u2([]byte{code.OpInvokestatic}, int(v.class.Pool.AddMethodref("Counter", name, desc)))
}

// goesOn reports whether the instruction can be left to the next one.
func (v *variant) goesOn(pc int) bool {
	op := v.body.Code[pc]
	return v.body.FallsThrough(pc) || op >= code.OpIfeq && op < code.OpGoto || op == code.OpIfnull || op == code.OpIfnonnull
}

// take duplicates what a call left on the stack and hands it to Counter; nil where it left nothing.
func (v *variant) take(pc int) []byte {
	op := v.body.Code[pc]
	if op < code.OpInvokevirtual || op > code.OpInvokeinterface {
		return nil
	}
	ref, _ := v.class.Pool.Ref(binary.BigEndian.Uint16(v.body.Code[pc+1:]))
	desc := string(ref.Desc)
	const dup2 = 92
	switch result := desc[strings.IndexByte(desc, ')')+1:]; result[0] {
	case 'J', 'D':
		return append([]byte{dup2}, v.call("take", "("+result+")V")...)
	case 'L', '[':
		return append([]byte{code.OpDup}, v.call("take", "(Ljava/lang/Object;)V")...)
	case 'Z', 'I':
		return append([]byte{code.OpDup}, v.call("take", "(I)V")...)
	}
	return nil
}

// rewrite applies the shape to the instructions of every method whose ordinals are picked.
func (v *variant) rewrite(t *testing.T, data []byte, picked func(ordinal int) bool) []byte {
	t.Helper()
	if err := v.class.Parse(data); err != nil {
		t.Fatal(err)
	}
	c := &v.class
	var replaced []classfile.Replacement
	for i := range c.Methods {
		m := &c.Methods[i]
		if m.Code.Empty() {
			continue
		}
		if err := v.body.Parse(c.Bytes(m.Code), &c.Pool); err != nil {
			t.Fatal(err)
		}
		plan := v.plan(picked, string(c.Pool.Utf8(m.Name)) == "<init>")
		v.count += len(plan.Edits)
		out, err := v.rewriter.Rewrite(nil, &v.body, &plan, code.Target{Pool: &c.Pool, Major: c.Major, Method: code.Method{
			This: c.This, Static: m.Access&static != 0, Constructor: string(c.Pool.Utf8(m.Name)) == "<init>", Desc: c.Pool.Utf8(m.Desc)}})
		if err != nil {
			t.Fatalf("%s.%s, %s: %v", c.Name(), c.Pool.Utf8(m.Name), v.shape.name, err)
		}
		replaced = append(replaced, classfile.Replacement{Old: m.Code, New: out})
	}
	return c.Append(nil, replaced)
}

func (v *variant) plan(picked func(int) bool, constructor bool) (plan code.Plan) {
	b, ordinal := &v.body, 0
	for pc := 0; pc < len(b.Code); pc += b.Length(pc) {
		if picked(ordinal) {
			for _, e := range v.shape.edits(v, pc) {
				e.PC = pc
				plan.Edits = append(plan.Edits, e)
			}
		}
		ordinal++
	}
	if strings.HasPrefix(v.shape.name, "all at once") {
		const lconst0 = 9
		plan.Longs = 1
		set := []byte{lconst0, code.OpWide, code.OpLstore, byte(b.MaxLocals >> 8), byte(b.MaxLocals)}
		plan.Edits = append(plan.Edits, code.Edit{Place: code.Entry, Code: set, Stack: 2})
		if !constructor {
			whole := code.Handler{Ranges: []code.Range{{Start: 0, End: len(b.Code)}}, Code: []byte{code.OpAthrow}, Stack: 1}
			plan.Handlers = []code.Handler{whole, whole} // the exits are bare of the first
		}
	}
	return plan
}

// TestEditsEverywhereOnJVM puts code of every shape at every instruction of the fixture classes, at one instruction of each
// method at a time, and then at all of them. The classes must verify and do what they did.
func TestEditsEverywhereOnJVM(t *testing.T) {
	found, err := jdk.Find()
	if err != nil {
		t.Skip(err)
	}
	j, dir := found[len(found)-1], t.TempDir()
	var folders []string
	for name := range fixtures.Classes(t) {
		folder, _, _ := strings.Cut(name, "/")
		folders = append(folders, filepath.Join("../../fixtures/classes", folder))
	}
	slices.Sort(folders)
	path := strings.Join(slices.Compact(folders), string(filepath.ListSeparator))
	if err := j.Compile(dir, []string{"-cp", path}, driver); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "variants")
	data, count := variants(t)
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := j.Run("java", "-Xverify:all", "-cp", dir+string(filepath.ListSeparator)+path, "Variants", file)
	if err != nil {
		t.Fatal(err)
	}
	var ran, hits int
	if _, err := fmt.Sscanf(got, "ran %d variants, %d hits", &ran, &hits); err != nil || ran != count || hits < 10*count {
		t.Errorf("%d variants:\n%s", count, got)
	}
	t.Logf("%d variants, %d hits", ran, hits)
}

// TestFarBranchesOnJVM runs a loop whose branches outgrow 16 bits in both directions.
func TestFarBranchesOnJVM(t *testing.T) {
	found, err := jdk.Find()
	if err != nil {
		t.Skip(err)
	}
	j, before, after := found[len(found)-1], t.TempDir(), t.TempDir()
	r := rewriting{longs: 1, handler: "loop", edits: []edit{{at: "m", place: code.Before, code: strings.Repeat("nop ", 500)}},
		method: method{desc: "(I)I", access: static, major: java17, stack: 2, locals: 2, text: `
			iconst_0
			istore_1
			loop: iload_0
			ifle done
			iinc 1 3
			iinc 0 -1
			iload_0
			iconst_1
			iand
			ifne odd
			goto m
			odd: iinc 1 100
			goto loop
			m: nop
			` + nopLines(32700) + `
			iload_0
			ifgt loop
			goto done
			done: iload_1
			ireturn
			.frame loop append int
			.frame odd same
			.frame m same
			.frame done same-ext`}}
	original, _ := r.method.class(t)
	rewritten, _, err := r.rewrite(t)
	if err != nil {
		t.Fatal(err)
	}
	if text := bodyText(t, rewritten); strings.Count(text, "goto_w") < 2 {
		t.Fatalf("no detours in\n%s", withoutNops(text))
	}
	const caller = "public class Far { public static void main(String[] a) { for (int n = -1; n < 7; n++) System.out.println(T.m(n)); } }"
	source := filepath.Join(before, "Far.java")
	for file, data := range map[string][]byte{
		filepath.Join(before, "T.class"): original, filepath.Join(after, "T.class"): rewritten, source: []byte(caller)} {
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Compile(before, []string{"-cp", before}, source); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{before, after + string(filepath.ListSeparator) + before} {
		got, err := j.Run("java", "-Xverify:all", "-cp", path, "Far")
		if want := "0\n0\n3\n106\n109\n212\n215\n318\n"; err != nil || got != want {
			t.Errorf("%q, not %q: %v", got, want, err)
		}
	}
}

// variants are all classes of all variants, in the form that Variants.java reads.
func variants(t *testing.T) (data []byte, count int) {
	t.Helper()
	classes := fixtures.Classes(t)
	for i := range shapes {
		v := variant{shape: &shapes[i]}
		for ordinal := 0; ordinal < 64; ordinal++ { // only Locals.wide is longer, and repeats itself
			v.count = 0
			name := fmt.Sprintf("%s instruction %d", v.shape.name, ordinal)
			next := v.append(t, data, classes, name, func(n int) bool { return n == ordinal })
			if v.count > 0 {
				data = next
				count++
			}
		}
		data = v.append(t, data, classes, v.shape.name+" all", func(int) bool { return true })
		count++
	}
	return data, count
}

// append appends the classes that the shape changes as one variant.
func (v *variant) append(t *testing.T, data []byte, classes map[string][]byte, name string, picked func(int) bool) []byte {
	t.Helper()
	var changed []byte
	n := 0
	for file, original := range classes {
		before := v.count
		out := v.rewrite(t, original, picked)
		if v.count == before {
			continue
		}
		n++
		className := strings.ReplaceAll(string(v.class.Name()), "/", ".")
		if !strings.HasSuffix(file, strings.ReplaceAll(className, ".", "/")+".class") {
			t.Fatalf("%s holds %s", file, className)
		}
		changed = append(u2(changed, len(className)), className...)
		changed = append(u4(changed, len(out)), out...)
	}
	data = append(u2(data, len(name)), name...)
	return append(u4(data, n), changed...)
}
