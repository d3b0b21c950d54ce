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
	covered, err := in.covered(m)
	if err != nil {
		return err
	}
	in.plan.Reset()
	in.plan.Longs = 1
	in.seq = in.seq[:0]
	local, idConstant := b.MaxLocals, pool.AddLong(int64(id))

	clock := in.ref(&in.refs.clock, clocks[in.opts.Clock].class, clocks[in.opts.Clock].method, "()J")
	in.seq = appendLocal(appendInvoke(in.seq, clock), code.OpLstore, code.OpLstore0, local)
	in.plan.Edits = append(in.plan.Edits, code.Edit{Place: code.Entry, Stack: 2, Code: in.sequence(0)})

	exit := in.exit(m, local, idConstant)
	for _, p := range b.Points {
		if code.IsReturn(p.Op) {
			exit.PC = int(p.PC)
			in.plan.Edits = append(in.plan.Edits, exit)
		}
	}
	if len(covered) > 0 {
		start := len(in.seq)
		in.seq = append(appendReport(in.seq, local, idConstant, in.report(&in.refs.thrown, "thrown", "(JJ)V")), code.OpAthrow)
		in.plan.Handlers = append(in.plan.Handlers, code.Handler{Ranges: covered, Stack: 5, Code: in.sequence(start)})
	}
	return nil
}

// ownHandler is the plan's only handler.
const ownHandler code.HandlerSet = 1

// exit is the edit that stands before every return.
func (in *Instrumenter) exit(m *classfile.Member, local int, id uint16) code.Edit {
	start, stack := len(in.seq), 4
	if isSuspend(&in.class, m) {
		stack = 5
		method := in.report(&in.refs.suspended, "returned", "(Ljava/lang/Object;JJ)V")
		in.seq = appendReport(append(in.seq, code.OpDup), local, id, method)
	} else {
		in.seq = appendReport(in.seq, local, id, in.report(&in.refs.returned, "returned", "(JJ)V"))
	}
	return code.Edit{Place: code.Before, Bare: ownHandler, Stack: stack, Code: in.sequence(start)}
}

// covered is what the exception handler covers. In a constructor that is the code behind the call of super() or this(): a
// handler over code in which this is uninitialised would have to say so in its frame, and one over the call itself can't
// be verified at all (JVMS §4.10.1.9.invokespecial).
func (in *Instrumenter) covered(m *classfile.Member) ([]code.Range, error) {
	b := &in.body
	if !in.reportsThrown() {
		return nil, nil
	}
	in.ranges = in.ranges[:0]
	start := 0
	if isConstructor(&in.class, m) && in.class.Super != 0 {
		call, ok := superCall(&in.class, b)
		if !ok {
			var err error
			in.ranges, err = in.flow.Initialised(in.ranges, b, &in.class.Pool)
			return in.ranges, err
		}
		start = call + b.Length(call)
	}
	in.ranges = append(in.ranges, code.Range{Start: start, End: len(b.Code)})
	return in.ranges, nil
}

// reportsThrown reports whether the method gets an exception handler. One with subroutines doesn't: its code may run with
// several return addresses, which a handler's range can't tell apart.
func (in *Instrumenter) reportsThrown() bool {
	return in.opts.Exits == ExitsAll && !in.body.Subroutines
}

// superCall finds the super() or this() call of a constructor that neither branches nor catches before it, as nearly all
// do; code.Flow takes the rest.
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
	rest, found := bytes.CutSuffix(desc, []byte(continuation))
	return found && !bytes.HasSuffix(rest, []byte{'['}) ||
		string(desc) == "(Ljava/lang/Object;)Ljava/lang/Object;" && string(c.Pool.Utf8(m.Name)) == "invokeSuspend"
}

// ref is a constant that the class's probes share, added when first asked for.
func (in *Instrumenter) ref(known *uint16, class, name, desc string) uint16 {
	if *known == 0 {
		*known = in.class.Pool.AddMethodref(class, name, desc)
	}
	return *known
}

// report is the runtime's method that records an exit with the clock that was read at entry.
func (in *Instrumenter) report(known *uint16, name, desc string) uint16 {
	if *known == 0 && in.opts.Clock != ClockAuto {
		name += clocks[in.opts.Clock].suffix
	}
	return in.ref(known, Runtime, name, desc)
}

// sequence is what was appended to seq since start. It stays as it is where seq grows and moves.
func (in *Instrumenter) sequence(start int) []byte {
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
