package probe

import (
	"bytes"
	"encoding/binary"

	"github.com/jiffyperf/jiffy/instrument/classfile"
	"github.com/jiffyperf/jiffy/instrument/code"
)

// refs are the constants that a class's probes share; 0 where not added yet.
type refs struct{ clock, returned, suspended, thrown uint16 }

// constantsPerMethod is an upper bound of what one method adds to the pool, its frames' parameter types aside.
const constantsPerMethod = 32

// planMethod makes the plan of the methods probe: the clock goes into a new long local at entry; every return, and a
// catch-any handler behind the code, hands it to the runtime with the probe's id.
func (in *Instrumenter) planMethod(m *classfile.Member, id uint64) error {
	b, pool := &in.body, &in.class.Pool
	if pool.Room() < constantsPerMethod {
		return code.ErrPoolFull
	}
	covered, err := in.coveredFrom(m)
	if err != nil {
		return err
	}
	in.addRefs()
	in.plan.Reset()
	in.plan.Longs = 1
	in.seq = in.seq[:0]
	local, idConstant := b.MaxLocals, pool.AddLong(int64(id))

	in.plan.Edits = append(in.plan.Edits, code.Edit{
		Place: code.Entry, Stack: 2,
		Code: in.sequence(func(s []byte) []byte {
			return appendLocal(appendInvoke(s, in.refs.clock), code.OpLstore, code.OpLstore0, local)
		}),
	})
	exit := in.exit(m, local, idConstant)
	for _, p := range b.Points {
		if code.IsReturn(p.Op) {
			exit.PC = int(p.PC)
			in.plan.Edits = append(in.plan.Edits, exit)
		}
	}
	if in.opts.Exits == ExitsAll {
		in.handler = code.Handler{From: covered, Stack: 5, Code: in.sequence(func(s []byte) []byte {
			return append(appendReport(s, local, idConstant, in.refs.thrown), code.OpAthrow)
		})}
		in.plan.Handler = &in.handler
	}
	return nil
}

// exit is the edit that stands before every return.
func (in *Instrumenter) exit(m *classfile.Member, local int, id uint16) code.Edit {
	if isSuspend(&in.class, m) {
		return code.Edit{Place: code.Before, Bare: true, Stack: 5, Code: in.sequence(func(s []byte) []byte {
			return appendReport(append(s, code.OpDup), local, id, in.refs.suspended)
		})}
	}
	return code.Edit{Place: code.Before, Bare: true, Stack: 4, Code: in.sequence(func(s []byte) []byte {
		return appendReport(s, local, id, in.refs.returned)
	})}
}

// coveredFrom is the first instruction that the exception handler covers. In a constructor that is the one behind the call
// of super() or this(): a handler over code in which this is uninitialised would have to say so in its frame, and one over
// the call itself can't be verified at all (JVMS §4.10.1.9.invokespecial).
func (in *Instrumenter) coveredFrom(m *classfile.Member) (int, error) {
	if in.opts.Exits != ExitsAll || !isConstructor(&in.class, m) || in.class.Super == 0 {
		return 0, nil
	}
	call, ok := superCall(&in.class, &in.body)
	if !ok {
		return 0, errConstructor
	}
	return call + in.body.Length(call), nil
}

// superCall finds the super() or this() call of a constructor that neither branches nor catches before it.
//
// On a straight line every invocation of an <init> initialises an object of its own, so the first one that outnumbers the
// new instructions leaves nothing uninitialised behind, this included, whatever order the calls came in.
func superCall(c *classfile.Class, b *code.Body) (pc int, ok bool) {
	pending := 0
	for pc := 0; pc < len(b.Code); pc += b.Length(pc) {
		switch op := b.Code[pc]; {
		case op == code.OpNew:
			pending++
		case op == code.OpInvokespecial:
			ref, _ := c.Pool.Ref(binary.BigEndian.Uint16(b.Code[pc+1:]))
			if string(ref.Name) != "<init>" {
				continue
			}
			if pending--; pending < 0 {
				ours := bytes.Equal(ref.Class, c.Name()) || bytes.Equal(ref.Class, c.SuperName())
				return pc, ours && !coveredBefore(b, pc)
			}
		case !b.FallsThrough(pc):
			return 0, false
		}
	}
	return 0, false
}

// coveredBefore reports whether an exception handler covers something up to the instruction at pc.
func coveredBefore(b *code.Body, pc int) bool {
	for i := range b.Handlers() {
		if start, _ := b.HandlerRange(i); start <= pc {
			return true
		}
	}
	return false
}

const continuation = "Lkotlin/coroutines/Continuation;)Ljava/lang/Object;"

// isSuspend recognises Kotlin's suspend functions and the invokeSuspend of their state machines: both are entered again at
// every resumption, and return COROUTINE_SUSPENDED while they are not done.
func isSuspend(c *classfile.Class, m *classfile.Member) bool {
	desc := c.Pool.Utf8(m.Desc)
	return bytes.HasSuffix(desc, []byte(continuation)) ||
		string(desc) == "(Ljava/lang/Object;)Ljava/lang/Object;" && string(c.Pool.Utf8(m.Name)) == "invokeSuspend"
}

// addRefs adds the constants of the class's probes.
func (in *Instrumenter) addRefs() {
	if in.refs.clock != 0 {
		return
	}
	pool, clock := &in.class.Pool, clocks[in.opts.Clock]
	in.refs.clock = pool.AddMethodref(clock.class, clock.method, "()J")
	in.refs.returned = pool.AddMethodref(Runtime, "returned"+clock.suffix, "(JJ)V")
	in.refs.suspended = pool.AddMethodref(Runtime, "returned"+clock.suffix, "(Ljava/lang/Object;JJ)V")
	in.refs.thrown = pool.AddMethodref(Runtime, "thrown"+clock.suffix, "(JJ)V")
}

// sequence collects inserted instructions in memory that lasts until the next method.
func (in *Instrumenter) sequence(build func([]byte) []byte) []byte {
	start := len(in.seq)
	in.seq = build(in.seq)
	return in.seq[start:len(in.seq):len(in.seq)]
}

// appendReport loads the start time and the probe id and calls the runtime.
func appendReport(s []byte, local int, id, method uint16) []byte {
	s = appendLocal(s, code.OpLload, code.OpLload0, local)
	s = append(s, code.OpLdc2W, byte(id>>8), byte(id))
	return appendInvoke(s, method)
}

func appendInvoke(s []byte, method uint16) []byte {
	return append(s, code.OpInvokestatic, byte(method>>8), byte(method))
}

// appendLocal appends the shortest form of an instruction that has a local variable (JVMS §6.5, wide).
func appendLocal(s []byte, op, op0 code.Opcode, local int) []byte {
	switch {
	case local < 4:
		return append(s, op0+byte(local))
	case local < 256:
		return append(s, op, byte(local))
	}
	return append(s, code.OpWide, op, byte(local>>8), byte(local))
}

// codeLength is the code_length of a Code attribute.
func codeLength(attribute []byte) int { return int(binary.BigEndian.Uint32(attribute[10:])) }
