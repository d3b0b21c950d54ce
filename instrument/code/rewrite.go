package code

import (
	"encoding/binary"

	"github.com/jiffyperf/jiffy/instrument/classfile"
)

// Target is what a body belongs to.
type Target struct {
	Pool   *classfile.Pool // constants are added to it
	Major  uint16          // class-file version
	Method Method
}

// Rewriter applies plans to bodies. It reuses its memory from body to body and is not safe for concurrent use.
type Rewriter struct {
	layout  layout
	frames  frames
	covered []coveredRange // by the plan's handlers
	placed  []placedHandler
	// Dropped counts the attributes that were left out since they may hold offsets that nobody here can move.
	Dropped int
}

// Handlers is how many of the plan's handlers the last body got: those that have something to cover.
func (r *Rewriter) Handlers() int { return len(r.placed) }

// framesSince is the first class-file version with StackMapTable (JVMS §4.10).
const framesSince = 50

// Rewrite appends the Code attribute with the plan applied to dst. On an error dst is returned as it was and the body is
// to be left as it is; constants may then have been added to the pool in vain.
func (r *Rewriter) Rewrite(dst []byte, b *Body, plan *Plan, t Target) ([]byte, error) {
	start := len(dst)
	out, err := r.rewrite(dst, b, plan, t)
	if err != nil {
		return dst[:start], err
	}
	binary.BigEndian.PutUint32(out[start+2:], uint32(len(out)-start-6))
	return out, nil
}

func (r *Rewriter) rewrite(dst []byte, b *Body, plan *Plan, t Target) ([]byte, error) {
	if b.Subroutines && (len(plan.Handlers) > 0 || t.Major > framesSince) {
		// A handler would cover subroutines from every place they are called from; and they ended with version 50 (JVMS §4.9.1).
		return nil, ErrSubroutine
	}
	if t.Major > framesSince && !b.HasFrames() && b.Branches() {
		return nil, ErrNoFrames
	}
	l := &r.layout
	if err := l.plan(b, plan.Edits); err != nil {
		return nil, err
	}
	length, err := r.placeHandlers(b, plan.Handlers)
	if err != nil {
		return nil, err
	}
	maxLocals := b.MaxLocals + 2*plan.Longs
	maxStack := r.stackDepth(b)
	if length > maxCode || maxLocals > 0xFFFF || maxStack > 0xFFFF {
		return nil, ErrTooLarge
	}
	dst = binary.BigEndian.AppendUint16(dst, b.name)
	dst = append(dst, 0, 0, 0, 0) // attribute_length, written last
	dst = binary.BigEndian.AppendUint16(dst, uint16(maxStack))
	dst = binary.BigEndian.AppendUint16(dst, uint16(maxLocals))
	dst = binary.BigEndian.AppendUint32(dst, uint32(length))
	if dst, err = l.appendCode(dst, b); err != nil {
		return nil, err
	}
	for i := range r.placed {
		dst = append(dst, r.placed[i].Code...)
	}
	if dst, err = l.appendHandlers(dst, b, r.covered); err != nil {
		return nil, err
	}
	if err := r.encodeFrames(b, plan.Longs, t); err != nil {
		return nil, err
	}
	return r.appendAttributes(dst, b, t.Pool)
}

// stackDepth is what max_stack has to be.
func (r *Rewriter) stackDepth(b *Body) int {
	extra, here := 0, 0
	edits := r.layout.order
	for i := range edits {
		e := &edits[i]
		if i > 0 && (edits[i-1].PC != e.PC || edits[i-1].Place != e.Place) {
			here = 0
		}
		here += e.Stack
		extra = max(extra, here)
	}
	depth := b.MaxStack + extra
	for i := range r.placed {
		depth = max(depth, r.placed[i].Stack)
	}
	return depth
}

// appendCode writes the instructions, handler code excluded.
func (l *layout) appendCode(dst []byte, b *Body) ([]byte, error) {
	base, from := len(dst), 0
	detours := l.detours
	var err error
	for i := range l.stops {
		s := &l.stops[i]
		dst = append(dst, b.Code[from:s.pc]...)
		from = s.pc + s.oldSize
		for _, d := range detours[:s.detours] {
			dst = appendWide(dst, OpGotoW, l.land(d.target)-d.at)
		}
		detours = detours[s.detours:]
		for e := s.first; e < s.first+s.edits; e++ {
			dst = append(dst, l.order[e].Code...)
		}
		switch {
		case s.oldSize == 0 || s.instead >= 0:
		case s.wide:
			target := branchTarget(b, s.pc)
			dst = appendWide(dst, b.Code[s.pc]+OpGotoW-OpGoto, l.land(target)-(s.at+s.before))
		default:
			if dst, err = l.appendSwitch(dst, b, s.pc, len(dst)-base); err != nil {
				return nil, err
			}
		}
	}
	dst = append(dst, b.Code[from:]...)
	return dst, l.patchBranches(dst[base:], b)
}

// appendWide writes a goto_w or jsr_w.
func appendWide(dst []byte, op Opcode, offset int) []byte {
	return binary.BigEndian.AppendUint32(append(dst, op), uint32(offset))
}

// branchTarget is where the branch at pc, one with a 16-bit offset, jumps to.
func branchTarget(b *Body, pc int) int {
	return pc + int(int16(binary.BigEndian.Uint16(b.Code[pc+1:])))
}

// appendSwitch writes the switch at pc with the padding and the targets it has at newPC.
func (l *layout) appendSwitch(dst []byte, b *Body, pc, newPC int) ([]byte, error) {
	dst = append(dst, b.Code[pc])
	dst = append(dst, 0, 0, 0)[:len(dst)+padding(newPC)]
	at, end := pc+1+padding(pc), pc+b.Length(pc)
	head, step := switchShape(b.Code[pc])
	dst, err := l.appendTarget(dst, b, pc, newPC, at)
	if err != nil {
		return nil, err
	}
	dst = append(dst, b.Code[at+4:at+head]...)
	for at += head; at < end; at += step {
		dst = append(dst, b.Code[at:at+step-4]...)
		if dst, err = l.appendTarget(dst, b, pc, newPC, at+step-4); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// switchShape is where a switch's jump offsets are: behind head bytes, at the end of every step bytes. Before them, at the
// operands' start, stands the default's.
func switchShape(op Opcode) (head, step int) {
	if op == OpTableswitch {
		return 12, 4
	}
	return 8, 8
}

// appendTarget writes the new form of the four-byte offset at code[at].
func (l *layout) appendTarget(dst []byte, b *Body, pc, newPC, at int) ([]byte, error) {
	target := pc + int(int32At(b.Code, at))
	if !b.StartsAt(target) {
		return nil, &PCError{pc, "switch to between instructions", ErrMalformed}
	}
	return binary.BigEndian.AppendUint32(dst, uint32(l.land(target)-newPC)), nil
}

// patchBranches gives every branch the offset it needs now. Branches and stops are both in code order.
func (l *layout) patchBranches(code []byte, b *Body) error {
	stops := l.stops
	for _, p := range b.Points {
		kind := formats[p.Op].operand
		if kind != branch16 && kind != branch32 {
			continue
		}
		pc := int(p.PC)
		target := branchTarget(b, pc)
		if kind == branch32 {
			target = pc + int(int32At(b.Code, pc+1))
		}
		if !b.StartsAt(target) {
			return &PCError{pc, "branch to between instructions", ErrMalformed}
		}
		for len(stops) > 0 && stops[0].pc < pc {
			stops = stops[1:]
		}
		newPC := l.land(pc)
		if len(stops) > 0 && stops[0].pc == pc {
			if stops[0].instead >= 0 || stops[0].wide {
				continue
			}
			newPC += stops[0].before
		}
		offset := l.destination(pc, target) - newPC
		if kind == branch32 {
			binary.BigEndian.PutUint32(code[newPC+1:], uint32(offset))
			continue
		}
		if offset != int(int16(offset)) {
			return &PCError{pc, "branch", ErrBranch}
		}
		binary.BigEndian.PutUint16(code[newPC+1:], uint16(offset))
	}
	return nil
}

// encodeFrames leaves the new StackMapTable in r.frames, or nothing where there are no frames.
func (r *Rewriter) encodeFrames(b *Body, longs int, t Target) error {
	old := b.attribute(classfile.AttrStackMapTable)
	needed := old != nil || len(r.placed) > 0
	if t.Major < framesSince || t.Major == framesSince && old == nil && b.Branches() {
		needed = false // left to the verifier that infers types, as before (JVMS §4.10.2)
	}
	f := &r.frames
	if err := f.begin(t.Method, t.Pool, needed); err != nil || !needed {
		return err
	}
	if f.slots > b.MaxLocals {
		return &PCError{0, "max_locals is less than the parameters", ErrMalformed}
	}
	if old != nil {
		if err := f.rewrite(old.info, b, &r.layout, longs); err != nil {
			return err
		}
	}
	if len(r.placed) == 0 {
		return nil
	}
	if t.Pool.Room() < 2 {
		return ErrPoolFull
	}
	throwable := objectType(t.Pool.AddClass("java/lang/Throwable"))
	for i := range r.placed {
		f.handler(r.placed[i].pc, b.MaxLocals, longs, throwable)
	}
	return nil
}
