package probe_test

import (
	"testing"

	"github.com/jiffyperf/jiffy/instrument/classfile"
	"github.com/jiffyperf/jiffy/instrument/internal/assemble"
	"github.com/jiffyperf/jiffy/instrument/probe"
)

const (
	static    = classfile.AccStatic
	synthetic = classfile.AccSynthetic
	bridge    = classfile.AccBridge | classfile.AccSynthetic
)

// shaped is a method and why it is left alone; "" where it is timed.
type shaped struct {
	name        string
	class       string // T where empty
	classAccess uint16
	method      string
	desc        string
	access      uint16
	text        string
	reason      probe.Reason
}

func (s shaped) check(t *testing.T, opts probe.Options) {
	t.Helper()
	data, _ := assemble.Class{Name: s.class, Access: s.classAccess, Methods: []assemble.Method{
		{Name: s.method, Desc: s.desc, Access: s.access, Stack: 4, Locals: 4, Text: s.text}}}.Bytes(t)
	opts.Match = everything{}
	res, err := probe.New(opts).Class(data)
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case s.reason == "":
		if len(res.Probes) != 1 || len(res.Skipped) != 0 {
			t.Errorf("left alone: %v", res.Skipped)
		}
	case len(res.Skipped) != 1 || res.Skipped[0].Reason != s.reason || res.Changed:
		t.Errorf("%v, not %q", res.Skipped, s.reason)
	}
}

// What a compiler puts in between is not timed, for the call would count twice; what somebody wrote is.
func TestForwarding(t *testing.T) {
	const forwards = probe.ReasonForwards
	for _, test := range []shaped{{
		name: "a bridge", method: "compare", desc: "(Ljava/lang/Object;Ljava/lang/Object;)I", access: bridge, reason: forwards,
		text: "aload_0\naload_1\ncheckcast java/lang/String\naload_2\ncheckcast java/lang/String\n" +
			"invokevirtual T.compare(Ljava/lang/String;Ljava/lang/String;)I\nireturn",
	}, {
		name: "a bridge that does more than one call", method: "get", desc: "()Ljava/lang/Object;", access: bridge,
		text: "aload_0\ninvokevirtual T.before()V\naload_0\ninvokevirtual T.get()Ljava/lang/String;\nareturn",
	}, {
		name: "a bridge that calls nothing", method: "get", desc: "()Ljava/lang/Object;", access: bridge, text: "aload_0\nareturn",
	}, {
		name: "the body of a lambda that makes one call", method: "lambda$run$0", desc: "()V", access: static | synthetic | 2,
		text: "invokestatic T.work()V\nreturn",
	}, {
		name: "a synthetic method with work in it", method: "$values", desc: "()V", access: static | synthetic,
		text: "invokestatic T.work()V\ninvokestatic T.more()V\nreturn",
	}, {
		name: "a method that calls one other", method: "run", desc: "()V", access: static, text: "invokestatic T.work()V\nreturn",
	}, {
		name: "an accessor of a field", method: "access$000", desc: "(LT;)I", access: static | synthetic, reason: forwards,
		text: "aload_0\ngetfield T.secret:I\nireturn",
	}, {
		name: "an accessor of a method", method: "access$100", desc: "(LT;J)V", access: static | synthetic, reason: forwards,
		text: "aload_0\nlload_1\ninvokespecial T.secret(J)V\nreturn",
	}, {
		name: "a method that somebody called access$100", method: "access$100", desc: "()V", access: static,
		text: "invokestatic T.work()V\nreturn",
	}, {
		name: "an accessor with a loop", method: "access$200", desc: "()V", access: static | synthetic,
		text: "a: invokestatic T.work()V\ngoto a\n.frame a same",
	}, {
		name: "default arguments", method: "load$default", desc: "(LT;III)V", access: static | synthetic, reason: forwards,
		text: "iload_2\niconst_1\niand\nifeq a\ninvokestatic T.standard()I\nistore_1\na: aload_0\niload_1\ninvokevirtual T.load(I)V\nreturn\n" +
			".frame a same",
	}, {
		name: "default arguments of an inline function, with its work in it", method: "load$default", desc: "(LT;III)V", access: static | synthetic,
		text: "invokestatic T.work()V\nreturn",
	}, {
		name: "default arguments whose work ends in a constructor", method: "load$default", desc: "(LT;III)V", access: static | synthetic,
		text: "invokestatic T.work()V\nnew T\ninvokespecial T.<init>()V\nreturn",
	}, {
		name: "a method that somebody called load$default", method: "load$default", desc: "()V", access: static,
		text: "invokestatic T.load()V\nreturn",
	}, {
		name: "values of an enum", classAccess: classfile.AccEnum, method: "values", desc: "()[LT;", access: static, reason: forwards,
		text: "getstatic T.$VALUES:[LT;\ninvokevirtual [LT;.clone()Ljava/lang/Object;\ncheckcast [LT;\nareturn",
	}, {
		name: "values of an enum that do something else", classAccess: classfile.AccEnum, method: "values", desc: "()[LT;", access: static,
		text: "invokestatic T.$values()[LT;\nareturn",
	}, {
		name: "values of what is no enum", method: "values", desc: "()[LT;", access: static,
		text: "getstatic T.$VALUES:[LT;\ninvokevirtual [LT;.clone()Ljava/lang/Object;\ncheckcast [LT;\nareturn",
	}, {
		name: "a method that calls its body in DefaultImpls", method: "close", desc: "()V", reason: forwards,
		text: "aload_0\ninvokestatic Source$DefaultImpls.close(LSource;)V\nreturn",
	}, {
		name: "a method that calls another one in DefaultImpls", method: "finish", desc: "()V",
		text: "aload_0\ninvokestatic Source$DefaultImpls.close(LSource;)V\nreturn",
	}, {
		name: "the body in DefaultImpls", class: "Source$DefaultImpls", method: "close", desc: "(LSource;)V", access: static,
		text: "aload_0\ninvokevirtual Other.close()V\nreturn",
	}, {
		name: "DefaultImpls of an interface with default methods", class: "Source$DefaultImpls", method: "close", desc: "(LSource;)V",
		access: static, reason: forwards, text: "aload_0\ninvokestatic Source.access$close$jd(LSource;)V\nreturn",
	}} {
		t.Run(test.name, func(t *testing.T) { test.check(t, probe.Options{}) })
	}
}

func TestTrivial(t *testing.T) {
	const trivial = probe.ReasonTrivial
	for _, test := range []shaped{
		{name: "nothing", text: "return", reason: trivial},
		{name: "a constant", text: "sipush 1000\nireturn", reason: trivial},
		{name: "a long constant", text: "ldc2_w 7L\nlreturn", reason: trivial},
		{name: "a getter", text: "aload_0\ngetfield T.value:I\nireturn", reason: trivial},
		{name: "a getter of a static", text: "getstatic T.value:I\nireturn", reason: trivial},
		{name: "a setter", text: "aload_0\niload_1\nputfield T.value:I\nreturn", reason: trivial},
		{name: "a cast", text: "aload_1\ncheckcast java/lang/String\nareturn", reason: trivial},
		{name: "a call", text: "aload_0\ninvokevirtual T.value()I\nireturn"},
		{name: "a call without a result", text: "invokestatic T.work()V\nreturn"},
		{name: "an empty loop", text: "a: goto a\n.frame a same"},
		{name: "a choice", text: "a: iload_1\nifeq a\nreturn\n.frame a same"},
		{name: "two fields", text: "aload_0\ngetfield T.next:LT;\ngetfield T.value:I\nireturn"},
		{name: "arithmetic", text: "iload_1\niload_1\nimul\nireturn"},
		{name: "a new object", text: "new T\nareturn"},
		{name: "throwing", text: "aload_1\nathrow"},
		{name: "waiting for a lock", text: "aload_1\nmonitorenter\nreturn"},
	} {
		test.method, test.desc = "m", "(I)V"
		t.Run(test.name, func(t *testing.T) {
			test.check(t, probe.Options{SkipTrivial: true})
			test.reason = ""
			test.check(t, probe.Options{})
		})
	}
}

// Suspend functions are known by their descriptors, which Kotlin's compiler gives to nothing else.
func TestSuspendFunctions(t *testing.T) {
	const continuation = "Lkotlin/coroutines/Continuation;"
	for _, test := range []struct {
		name, method, desc, flags string
	}{
		{"a suspend function", "load", "(" + continuation + ")Ljava/lang/Object;", "suspend"},
		{"with parameters", "load", "(I[J" + continuation + ")Ljava/lang/Object;", "suspend"},
		{"a state machine", "invokeSuspend", "(Ljava/lang/Object;)Ljava/lang/Object;", "suspend"},
		{"a method like a state machine's", "invoke", "(Ljava/lang/Object;)Ljava/lang/Object;", ""},
		{"invokeSuspend of another shape", "invokeSuspend", "()Ljava/lang/Object;", ""},
		{"a continuation that isn't last", "load", "(" + continuation + "I)Ljava/lang/Object;", ""},
		{"a continuation for a result", "create", "(" + continuation + ")" + continuation, ""},
		{"an array of continuations", "all", "([" + continuation + ")Ljava/lang/Object;", ""},
		{"another package's continuation", "load", "(Lcom/kotlin/coroutines/Continuation;)Ljava/lang/Object;", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			data, _ := assemble.Class{Methods: []assemble.Method{
				{Name: test.method, Desc: test.desc, Access: static, Stack: 4, Locals: 4, Text: "aconst_null\nareturn"}}}.Bytes(t)
			res, err := probe.New(probe.Options{Match: everything{}}).Class(data)
			if err != nil || len(res.Probes) != 1 {
				t.Fatal(res.Skipped, err)
			}
			if got := res.Probes[0].Flags; got != test.flags {
				t.Errorf("flags %q, not %q", got, test.flags)
			}
		})
	}
}
