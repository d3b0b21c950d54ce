package probe_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jiffyperf/jiffy/instrument/classfile"
	"github.com/jiffyperf/jiffy/instrument/internal/assemble"
	"github.com/jiffyperf/jiffy/instrument/probe"
)

func nops(n int) string { return strings.Repeat("nop\n", n-1) + "return" }

// What is inserted into a method without locals is 19 bytes long: 4 at entry, 7 before the return, 8 in the handler.
func TestSizeLimits(t *testing.T) {
	const inserted = 19
	tests := []struct {
		name   string
		size   int
		huge   bool
		reason probe.Reason
	}{
		{"up to 8,000 bytes", 8000 - inserted, false, ""},
		{"across 8,000 bytes", 8001 - inserted, false, probe.ReasonHuge},
		{"across 8,000 bytes with --huge", 8001 - inserted, true, ""},
		{"from 8,000 bytes on the dot", 8000, false, probe.ReasonHuge},
		{"from above 8,000 bytes, where nothing gets worse", 8001, false, ""},
		{"up to 65,535 bytes", 65535 - inserted, false, ""},
		{"across 65,535 bytes", 65536 - inserted, false, probe.ReasonTooLarge},
		{"across 65,535 bytes with --huge", 65536 - inserted, true, probe.ReasonTooLarge},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			class, _ := assemble.Class{Methods: []assemble.Method{
				{Name: "m", Desc: "()V", Access: static, Text: nops(test.size)},
				{Name: "small", Desc: "()V", Access: static, Text: "return"}}}.Bytes(t)
			res, err := probe.New(probe.Options{Match: everything{}, Huge: test.huge}).Class(class)
			if err != nil {
				t.Fatal(err)
			}
			if test.reason == "" {
				if len(res.Skipped) > 0 {
					t.Error(res.Skipped)
				}
				return
			}
			if len(res.Skipped) != 1 || res.Skipped[0].Method != "m" || res.Skipped[0].Reason != test.reason {
				t.Errorf("%v, not %s", res.Skipped, test.reason)
			}
			checkUntouched(t, class, res)
		})
	}
}

// checkUntouched makes sure that methods that were left alone keep their bytes.
func checkUntouched(t *testing.T, class []byte, res probe.Result) {
	t.Helper()
	var before, after classfile.Class
	if err := errors.Join(before.Parse(class), after.Parse(res.Out)); err != nil {
		t.Fatal(err)
	}
	for i, m := range before.Methods {
		name := string(before.Pool.Utf8(m.Name))
		skipped := slices.ContainsFunc(res.Skipped, func(s probe.Skip) bool { return s.Method == name })
		if same := bytes.Equal(before.Bytes(m.Span), after.Bytes(after.Methods[i].Span)); same != skipped {
			t.Errorf("%s: listed as left alone: %v, bytes kept: %v", name, skipped, same)
		}
	}
}

// A pool that gets full on the way costs the methods that don't fit, not their class.
func TestPoolThatGetsFull(t *testing.T) {
	methods := make([]assemble.Method, 12)
	for i := range methods {
		methods[i] = assemble.Method{Name: string(rune('a' + i)), Desc: "(Lcom/acme/P" + string(rune('a'+i)) + ";)V", Access: static,
			Stack: 1, Locals: 1, Text: "a: aload_0\nifnull a\nreturn\n.frame a same"}
	}
	class, _ := assemble.Class{Methods: methods}.Bytes(t)
	in := probe.New(probe.Options{Match: everything{}})
	last := -1
	for room := 100; room >= 0; room -= 5 {
		full := fillPool(t, class, room)
		res, err := in.Class(full)
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Probes)+len(res.Skipped) != len(methods) || last >= 0 && len(res.Probes) > last {
			t.Fatalf("room for %d: %d probes, %d left alone, %d probes with more room", room, len(res.Probes), len(res.Skipped), last)
		}
		last = len(res.Probes)
		for _, s := range res.Skipped {
			if s.Reason != probe.ReasonPoolFull {
				t.Errorf("room for %d: %v", room, s)
			}
		}
		if res.Changed {
			checkUntouched(t, full, res)
			if err := readBodiesOf(full, res.Out); err != nil {
				t.Errorf("room for %d: %v", room, err)
			}
		}
	}
	if last != 0 {
		t.Errorf("%d probes without any room", last)
	}
}

// fillPool returns the class with so many constants that there is room only for some more.
func fillPool(t *testing.T, class []byte, room int) []byte {
	t.Helper()
	var c classfile.Class
	if err := c.Parse(class); err != nil {
		t.Fatal(err)
	}
	for c.Pool.Room() > room+1 {
		c.Pool.AddLong(0)
	}
	if c.Pool.Room() > room {
		c.Pool.AddUtf8("filler")
	}
	return c.Append(nil, nil)
}

func readBodiesOf(before, after []byte) error {
	var b, a classfile.Class
	if err := errors.Join(b.Parse(before), a.Parse(after)); err != nil {
		return err
	}
	return readBodies(&b, &a)
}

func TestFlags(t *testing.T) {
	const continuation = "(Lkotlin/coroutines/Continuation;)Ljava/lang/Object;"
	for _, test := range []struct {
		name   string
		method assemble.Method
		major  int
		want   string
	}{
		{"none", assemble.Method{Name: "m", Desc: "()V", Access: static, Text: "return"}, 61, ""},
		{"synchronized", assemble.Method{Name: "m", Desc: "()V", Access: static | classfile.AccSynchronized, Text: "return"}, 61, "synchronized"},
		{"constructor", assemble.Method{Name: "<init>", Desc: "()V", Locals: 1, Stack: 1,
			Text: "aload_0\ninvokespecial java/lang/Object.<init>()V\nreturn"}, 61, "constructor"},
		{"both of two", assemble.Method{Name: "m", Desc: continuation, Access: static | classfile.AccSynchronized, Stack: 1, Locals: 1,
			Text: "aconst_null\nareturn"}, 61, "synchronized suspend"},
		{"subroutines", assemble.Method{Name: "m", Desc: "()V", Access: static, Stack: 1, Locals: 1,
			Text: "jsr sub\nreturn\nsub: astore_0\nret 0"}, 48, "normal-exits"},
		{"a static initialiser", assemble.Method{Name: "<clinit>", Desc: "()V", Access: static, Text: "return"}, 61, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			class, _ := assemble.Class{Major: test.major, Methods: []assemble.Method{test.method}}.Bytes(t)
			if got := instrumentAll(t, class, probe.Options{})[test.method.Name]; got.Flags != test.want || got.ID == 0 {
				t.Errorf("flags %q, not %q", got.Flags, test.want)
			}
		})
	}
}

func TestReasons(t *testing.T) {
	loop := "a: goto a"
	for _, test := range []struct {
		name   string
		method assemble.Method
		reason probe.Reason
		detail string
	}{
		{"abstract", assemble.Method{Access: classfile.AccAbstract}, probe.ReasonAbstract, ""},
		{"native", assemble.Method{Access: classfile.AccNative}, probe.ReasonNative, ""},
		{"no code at all", assemble.Method{}, probe.ReasonMalformed, "no Code attribute"},
		{"no frames", assemble.Method{Text: loop}, probe.ReasonNoFrames, ""},
		{"a reserved frame", assemble.Method{Text: loop + "\n.frame a raw 130"}, probe.ReasonFrame, ""},
		{"a subroutine", assemble.Method{Text: "jsr a\na: return"}, probe.ReasonSubroutine, ""},
		{"an unknown instruction", assemble.Method{Text: "nop\n.byte 204"}, probe.ReasonMalformed, "opcode 204 at pc 1"},
		{"a frame with a long too many", assemble.Method{Text: loop + "\n.frame a append long"}, probe.ReasonMalformed, "max_locals"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.method.Name, test.method.Desc = "m", "()V"
			test.method.Access |= static
			class, _ := assemble.Class{Methods: []assemble.Method{test.method}}.Bytes(t)
			res, err := probe.New(probe.Options{Match: everything{}}).Class(class)
			if err != nil {
				t.Fatal(err)
			}
			if len(res.Skipped) != 1 || res.Skipped[0].Reason != test.reason || !strings.Contains(res.Skipped[0].Detail, test.detail) {
				t.Errorf("%+v, not %q with %q", res.Skipped, test.reason, test.detail)
			}
			if res.Changed || res.Out != nil || len(res.Probes) > 0 || !res.Matched {
				t.Errorf("%+v", res)
			}
		})
	}
}

// What was instrumented is refused the second time, with whatever options.
func TestInstrumentedTwice(t *testing.T) {
	for _, file := range fixtureClasses(t) {
		in := probe.New(probe.Options{Match: everything{}})
		res, err := in.Class(read(t, file))
		if err != nil {
			t.Fatal(err)
		}
		if !res.Changed {
			continue
		}
		again, err := probe.New(probe.Options{Match: everything{}, Clock: probe.ClockNanoTime, Exits: probe.ExitsNormal}).Class(bytes.Clone(res.Out))
		if err != nil || again.Changed || !again.Matched || len(again.Skipped) != 1 || again.Skipped[0].Reason != probe.ReasonTwice {
			t.Errorf("%s: %+v, %v", file, again, err)
		}
	}
}

// An Instrumenter reuses its memory; what it did before must not show.
func TestResultsDontDependOnWhatCameBefore(t *testing.T) {
	files := fixtureClasses(t)
	type result struct {
		out  string
		rest probe.Result
	}
	instrument := func(in *probe.Instrumenter, file string) result {
		res, err := in.Class(read(t, file))
		if err != nil {
			t.Fatal(err)
		}
		r := result{out: string(res.Out), rest: res}
		r.rest.Out = nil
		return r
	}
	opts := probe.Options{Match: everything{}}
	want := map[string]result{}
	for _, file := range files {
		want[file] = instrument(probe.New(opts), file)
	}
	in := probe.New(opts)
	backward := slices.Clone(files)
	slices.Reverse(backward)
	for _, file := range slices.Concat(files, backward, files[:3], files[:3]) {
		if diff := cmp.Diff(want[file], instrument(in, file), cmp.AllowUnexported(result{})); diff != "" {
			t.Fatalf("%s: -alone +behind others:\n%s", file, diff)
		}
	}
}

// A bad class between two good ones changes nothing for them.
func TestABadClassLeavesNothingBehind(t *testing.T) {
	good := read(t, fixtures+"/branches/Branches.class")
	in := probe.New(probe.Options{Match: everything{}})
	res, err := in.Class(good)
	if err != nil {
		t.Fatal(err)
	}
	want := bytes.Clone(res.Out)
	for n := 0; n < len(good); n += 7 {
		if _, err := in.Class(good[:n]); err == nil {
			t.Fatalf("%d bytes are accepted", n)
		}
		if res, err := in.Class(good); err != nil || !bytes.Equal(res.Out, want) {
			t.Fatalf("other bytes behind a class of %d bytes, %v", n, err)
		}
	}
}

// only matches one method of one class.
type only struct{ class, method string }

func (o only) MatchClass(class []byte) (all, some bool) { return false, string(class) == o.class }
func (o only) MatchMethod(_, method, _ []byte) bool     { return string(method) == o.method }

func TestOnlyWhatMatchesIsTouched(t *testing.T) {
	class := read(t, fixtures+"/branches/Branches.class")
	res, err := probe.New(probe.Options{Match: only{"Branches", "spin"}}).Class(class)
	if err != nil || len(res.Probes) != 1 || res.Probes[0].Method != "spin" || len(res.Skipped) != 0 {
		t.Errorf("%+v, %v", res, err)
	}
	for _, match := range []only{{"Other", "spin"}, {"Branches", "none"}} {
		res, err := probe.New(probe.Options{Match: match}).Class(class)
		if err != nil || res.Changed || res.Out != nil || len(res.Probes)+len(res.Skipped) != 0 || res.Matched != (match.class == "Branches") {
			t.Errorf("%v: %+v, %v", match, res, err)
		}
	}
	module, _ := assemble.Class{Name: "module-info", Access: classfile.AccModule}.Bytes(t)
	if res, err := probe.New(probe.Options{Match: everything{}}).Class(module); err != nil || res.Matched {
		t.Errorf("module-info: %+v, %v", res, err)
	}
}

// Only attributes that are missing from the result count as dropped.
func TestDroppedAttributes(t *testing.T) {
	unknown := "\n.attr Unheard 00"
	class, _ := assemble.Class{Methods: []assemble.Method{
		{Name: "changed", Desc: "()V", Access: static, Text: "return" + unknown},
		{Name: "huge", Desc: "()V", Access: static, Text: nops(8000) + unknown},
		{Name: "malformed", Desc: "()V", Access: static, Text: "return" + unknown + "\n.attr StackMapTable 00 01"},
	}}.Bytes(t)
	res, err := probe.New(probe.Options{Match: everything{}}).Class(class)
	if err != nil || len(res.Probes) != 1 || len(res.Skipped) != 2 {
		t.Fatalf("%+v, %v", res, err)
	}
	if res.Dropped != 1 {
		t.Errorf("%d attributes dropped, not 1", res.Dropped)
	}
}
