package code_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jiffyperf/jiffy/instrument/classfile"
	"github.com/jiffyperf/jiffy/instrument/code"
	"github.com/jiffyperf/jiffy/proof/jdk"
)

func TestSeveralHandlers(t *testing.T) {
	// 0 a: nop, 1 b: nop, 2 c: nop, 3 d: return
	straight := method{desc: "()V", access: static, major: java17, text: `
		a: nop
		b: nop
		c: nop
		d: return`}
	runRewritings(t, []rewriting{{
		name:   "the second covers what the first does, and the first's code",
		method: straight,
		nested: []guard{{"a", "", "nop athrow"}, {"a", "", "athrow"}},
		want: `stack=1 locals=0 bytes=7
			0 nop
			1 nop
			2 nop
			3 return
			4 nop
			5 athrow
			6 athrow
			catch 0..4 -> 4 any
			catch 0..6 -> 6 any
			frame 4 same stack [java/lang/Throwable]
			frame 6 same stack [java/lang/Throwable]
			attribute StackMapTable 10 bytes`,
	}, {
		name:   "the second covers more",
		method: straight,
		nested: []guard{{"b", "c", "athrow"}, {"a", "d", "athrow"}, {"a", "", "nop athrow"}},
		want: `stack=1 locals=0 bytes=8
			0 nop
			1 nop
			2 nop
			3 return
			4 athrow
			5 athrow
			6 nop
			7 athrow
			catch 1..2 -> 4 any
			catch 0..3 -> 5 any
			catch 4..5 -> 5 any
			catch 0..6 -> 6 any
			frame 4 same stack [java/lang/Throwable]
			frame 5 same stack [java/lang/Throwable]
			frame 6 same stack [java/lang/Throwable]
			attribute StackMapTable 14 bytes`,
	}, {
		name:   "two that cover different code know nothing of each other",
		method: straight,
		nested: []guard{{"a", "b", "athrow"}, {"c", "d", "athrow"}},
		want: `stack=1 locals=0 bytes=6
			0 nop
			1 nop
			2 nop
			3 return
			4 athrow
			5 athrow
			catch 0..1 -> 4 any
			catch 2..3 -> 5 any
			frame 4 same stack [java/lang/Throwable]
			frame 5 same stack [java/lang/Throwable]
			attribute StackMapTable 10 bytes`,
	}, {
		name:   "two that meet stay apart",
		method: straight,
		nested: []guard{{"a", "b", "athrow"}, {"b", "d", "athrow"}},
		want: `stack=1 locals=0 bytes=6
			0 nop
			1 nop
			2 nop
			3 return
			4 athrow
			5 athrow
			catch 0..1 -> 4 any
			catch 1..3 -> 5 any
			frame 4 same stack [java/lang/Throwable]
			frame 5 same stack [java/lang/Throwable]
			attribute StackMapTable 10 bytes`,
	}, {
		name:   "the plan's longs are there in all handlers",
		method: straight,
		longs:  1,
		nested: []guard{{"a", "", "athrow"}, {"a", "", "athrow"}},
		want: `stack=2 locals=2 bytes=8
			0 lconst_0
			1 lstore_0
			2 nop
			3 nop
			4 nop
			5 return
			6 athrow
			7 athrow
			catch 2..6 -> 6 any
			catch 2..7 -> 7 any
			frame 6 full locals [long] stack [java/lang/Throwable]
			frame 7 same stack [java/lang/Throwable]
			attribute StackMapTable 17 bytes`,
	}, {
		name:   "the first covers more than the second",
		method: straight,
		nested: []guard{{"a", "", "athrow"}, {"b", "c", "athrow"}},
		err:    code.ErrMalformed,
	}, {
		name:   "two that overlap",
		method: straight,
		nested: []guard{{"a", "c", "athrow"}, {"b", "d", "athrow"}},
		err:    code.ErrMalformed,
	}, {
		name:   "more than a set of handlers can hold",
		method: straight,
		nested: make([]guard, 65),
		err:    code.ErrMalformed,
	}})
}

func TestBareCodeOfSeveralHandlers(t *testing.T) {
	line := method{desc: "()V", access: static, major: java17, text: `
		a: nop
		b: return`}
	both := []guard{{"a", "", "athrow"}, {"a", "", "athrow"}}
	runRewritings(t, []rewriting{{
		name:   "an exit that one handler is done with is still covered by the other",
		method: line,
		nested: both,
		edits: []edit{{at: "b", place: code.Before, code: "nop nop", bare: 1, stack: 3},
			{at: "b", place: code.Before, code: "nop nop nop", bare: 2, stack: 4}},
		want: `stack=7 locals=0 bytes=9
			0 nop
			1 nop
			2 nop
			3 nop
			4 nop
			5 nop
			6 return
			7 athrow
			8 athrow
			catch 0..1 -> 7 any
			catch 0..3 -> 8 any
			catch 7..8 -> 8 any
			frame 7 same stack [java/lang/Throwable]
			frame 8 same stack [java/lang/Throwable]
			attribute StackMapTable 10 bytes`,
	}, {
		name:   "what stands in front of a bare edit at the same instruction is covered, what follows it isn't",
		method: line,
		nested: both[:1],
		edits: []edit{{at: "b", place: code.Before, code: "nop"}, {at: "b", place: code.Before, code: "nop", bare: 1},
			{at: "b", place: code.Before, code: "nop"}},
		want: `stack=1 locals=0 bytes=6
			0 nop
			1 nop
			2 nop
			3 nop
			4 return
			5 athrow
			catch 0..2 -> 5 any
			frame 5 same stack [java/lang/Throwable]
			attribute StackMapTable 6 bytes`,
	}, {
		name:   "of bare code after an instruction only the code is left out",
		method: line,
		nested: both[:1],
		edits: []edit{{at: "a", place: code.After, code: "nop nop", bare: 1}, {at: "a", place: code.After, code: "nop"},
			{at: "b", place: code.Before, code: "nop"}},
		want: `stack=1 locals=0 bytes=7
			0 nop
			1 nop
			2 nop
			3 nop
			4 nop
			5 return
			6 athrow
			catch 0..1 -> 6 any
			catch 3..6 -> 6 any
			frame 6 same stack [java/lang/Throwable]
			attribute StackMapTable 6 bytes`,
	}, {
		name:   "of bare code instead of an instruction, too",
		method: line,
		nested: both[:1],
		edits:  []edit{{at: "a", place: code.Before, code: "nop"}, {at: "a", place: code.Instead, code: "nop nop", bare: 1}},
		want: `stack=1 locals=0 bytes=5
			0 nop
			1 nop
			2 nop
			3 return
			4 athrow
			catch 0..1 -> 4 any
			catch 3..4 -> 4 any
			frame 4 same stack [java/lang/Throwable]
			attribute StackMapTable 6 bytes`,
	}, {
		name:   "a handler with nothing left is left out, and the others keep their bits",
		method: method{desc: "()V", access: static, major: java17, text: `a: return`},
		nested: both,
		edits:  []edit{{at: "a", place: code.Before, code: "nop", bare: 1}, {at: "a", place: code.Before, code: "nop", bare: 2}},
		want: `stack=1 locals=0 bytes=4
			0 nop
			1 nop
			2 return
			3 athrow
			catch 0..1 -> 3 any
			frame 3 same stack [java/lang/Throwable]
			attribute StackMapTable 6 bytes`,
	}})
}

func TestStackOfEditsAtOnePlaceAddsUp(t *testing.T) {
	runRewritings(t, []rewriting{{
		name: "at one instruction, before it and after the one before it are two places",
		method: method{desc: "()V", access: static, major: java17, stack: 1, text: `
			a: nop
			b: return`},
		edits: []edit{{at: "a", place: code.After, code: "nop", stack: 5}, {at: "b", place: code.Before, code: "nop", stack: 2},
			{at: "a", place: code.Before, code: "nop", stack: 3}, {at: "b", place: code.Before, code: "nop", stack: 4}},
		want: `stack=7 locals=0 bytes=6
			0 nop
			1 nop
			2 nop
			3 nop
			4 nop
			5 return`,
	}})
}

// nestedProbes is a program with a method, work, that two probes are put on: a inside of b. Each notes what it sees. A run says which of
// these calls throws.
const nestedProbes = `
public class Nested {
    static StringBuilder seen = new StringBuilder();
    static String thrower = "";

    static void note(String what) {
        seen.append(what).append(' ');
        if (java.util.Arrays.asList(thrower.split("[+]")).contains(what)) {
            throw new IllegalStateException(what);
        }
    }
    static void enteredA() { note("enter-a"); }
    static void enteredB() { note("enter-b"); }
    static void leftA() { note("leave-a"); }
    static void leftB() { note("leave-b"); }
    static void thrownA() { note("thrown-a"); }
    static void thrownB() { note("thrown-b"); }

    static int work(int n) {
        note("work");
        if (n > 5) {
            return n;
        }
        try {
            note("try");
        } catch (IllegalStateException e) {
            note("caught");
        }
        return -n;
    }

    public static void main(String[] args) {
        for (String who : args) {
            for (int n : new int[] {1, 9}) {
                seen.setLength(0);
                thrower = who;
                String result;
                try {
                    result = "returned " + work(n);
                } catch (IllegalStateException e) {
                    result = "threw " + e.getMessage();
                }
                System.out.println(who + " " + n + ": " + seen + result);
            }
        }
    }
}
`

// TestNestedProbesOnJVM runs two probes on one method: whatever throws, after its entry each probe sees one exit of each call, and the inner
// one's lies within the outer one's. Entry code is not covered: the plan's longs aren't set there.
func TestNestedProbesOnJVM(t *testing.T) {
	found, err := jdk.Find()
	if err != nil {
		t.Skip(err)
	}
	j, dir := found[len(found)-1], t.TempDir()
	source := filepath.Join(dir, "Nested.java")
	if err := os.WriteFile(source, []byte(nestedProbes), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := j.Compile(dir, nil, source); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "Nested.class")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, withNestedProbes(t, data), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := j.Run("java", "-Xverify:all", "-cp", dir, "Nested", "nobody", "enter-b", "enter-a", "work", "try", "leave-a", "leave-b", "work+thrown-a")
	if err != nil {
		t.Fatal(err)
	}
	const want = `
nobody 1: enter-b enter-a work try leave-a leave-b returned -1
nobody 9: enter-b enter-a work leave-a leave-b returned 9
enter-b 1: enter-b threw enter-b
enter-b 9: enter-b threw enter-b
enter-a 1: enter-b enter-a threw enter-a
enter-a 9: enter-b enter-a threw enter-a
work 1: enter-b enter-a work thrown-a thrown-b threw work
work 9: enter-b enter-a work thrown-a thrown-b threw work
try 1: enter-b enter-a work try caught leave-a leave-b returned -1
try 9: enter-b enter-a work leave-a leave-b returned 9
leave-a 1: enter-b enter-a work try leave-a thrown-b threw leave-a
leave-a 9: enter-b enter-a work leave-a thrown-b threw leave-a
leave-b 1: enter-b enter-a work try leave-a leave-b threw leave-b
leave-b 9: enter-b enter-a work leave-a leave-b threw leave-b
work+thrown-a 1: enter-b enter-a work thrown-a thrown-b threw thrown-a
work+thrown-a 9: enter-b enter-a work thrown-a thrown-b threw thrown-a`
	if diff := cmp.Diff(tidy(want), tidy(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// withNestedProbes puts the two probes on Nested.work: entries outer first, exits and handlers inner first.
func withNestedProbes(t *testing.T, data []byte) []byte {
	t.Helper()
	var c classfile.Class
	if err := c.Parse(data); err != nil {
		t.Fatal(err)
	}
	call := func(format string, probe int) []byte {
		ref := c.Pool.AddMethodref("Nested", fmt.Sprintf(format, string(rune('A'+probe))), "()V")
		return []byte{code.OpInvokestatic, byte(ref >> 8), byte(ref)}
	}
	for i := range c.Methods {
		m := &c.Methods[i]
		if string(c.Pool.Utf8(m.Name)) != "work" {
			continue
		}
		var b code.Body
		if err := b.Parse(c.Bytes(m.Code), &c.Pool); err != nil {
			t.Fatal(err)
		}
		var plan code.Plan
		for _, probe := range []int{1, 0} {
			plan.Edits = append(plan.Edits, code.Edit{Place: code.Entry, Code: call("entered%s", probe)})
		}
		for probe := range 2 {
			for _, p := range b.Points {
				if code.IsReturn(p.Op) {
					plan.Edits = append(plan.Edits, code.Edit{PC: int(p.PC), Place: code.Before, Code: call("left%s", probe), Bare: 1 << probe})
				}
			}
			plan.Handlers = append(plan.Handlers, code.Handler{Ranges: []code.Range{{Start: 0, End: len(b.Code)}}, Stack: 1,
				Code: append(call("thrown%s", probe), code.OpAthrow)})
		}
		var r code.Rewriter
		out, err := r.Rewrite(nil, &b, &plan, code.Target{Pool: &c.Pool, Major: c.Major,
			Method: code.Method{This: c.This, Static: true, Desc: c.Pool.Utf8(m.Desc)}})
		if err != nil {
			t.Fatal(err)
		}
		if r.Handlers() != 2 {
			t.Errorf("%d handlers", r.Handlers())
		}
		return c.Append(nil, []classfile.Replacement{{Old: m.Code, New: out}})
	}
	t.Fatal("no method work")
	return nil
}
