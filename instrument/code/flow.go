package code

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/jiffyperf/jiffy/instrument/classfile"
)

// Flow finds the part of a constructor in which this is initialised: the code behind the call of super() or this(), of
// which there may be several on different paths, with branches and handlers before it.
//
// It interprets the code before the call with two kinds of values, the uninitialised this and everything else, in slots
// (JVMS §2.11.10 allows nothing but to store this and to call its constructor). Where paths meet the first one's state is
// taken: a slot that holds this on one of them only can't be used any more.
type Flow struct {
	body    *Body
	pool    *classfile.Pool
	before  []uint64 // a bit for each pc reached with this uninitialised
	behind  []uint64 // a bit for each pc reached with this initialised
	states  []state
	pending []int
	slots   int // of all states that were branched to
}

// maxSlots bounds what is remembered of branches: a small class file could have 20,000 of them with 65,535 locals each.
const maxSlots = 64 << 20

// state is what is known before an instruction: which stack slots and locals hold the uninitialised this.
type state struct {
	pc     int
	stack  []bool
	locals []bool
}

// Initialised appends the ranges of instructions that are only reached with this initialised. It fails with ErrMalformed
// where the code can't be followed.
func (f *Flow) Initialised(to []Range, b *Body, pool *classfile.Pool) ([]Range, error) {
	words := len(b.starts)
	*f = Flow{body: b, pool: pool, before: cleared(f.before, words), behind: cleared(f.behind, words),
		states: f.states[:0], pending: f.pending[:0]}
	if b.Subroutines {
		return to, ErrSubroutine
	}
	first := state{locals: make([]bool, b.MaxLocals+2)}
	first.locals[0] = true
	f.states = append(f.states, first)
	for len(f.states) > 0 {
		s := f.states[len(f.states)-1]
		f.states = f.states[:len(f.states)-1]
		if err := f.run(s); err != nil {
			return to, err
		}
	}
	for len(f.pending) > 0 {
		pc := f.pending[len(f.pending)-1]
		f.pending = f.pending[:len(f.pending)-1]
		if err := f.spread(pc); err != nil {
			return to, err
		}
	}
	return f.ranges(to)
}

func cleared(bits []uint64, words int) []uint64 {
	if cap(bits) < words {
		return make([]uint64, words)
	}
	bits = bits[:words]
	clear(bits)
	return bits
}

func has(bits []uint64, pc int) bool { return bits[pc>>6]&(1<<(pc&63)) != 0 }

func set(bits []uint64, pc int) (was bool) {
	was = has(bits, pc)
	bits[pc>>6] |= 1 << (pc & 63)
	return was
}

// ranges collects runs of instructions that are in behind. One that is in both is in no class that verifies.
func (f *Flow) ranges(to []Range) ([]Range, error) {
	start := -1
	for pc := 0; pc < len(f.body.Code); pc += f.body.Length(pc) {
		behind := has(f.behind, pc)
		if behind && has(f.before, pc) {
			return to, &PCError{pc, "reached with and without this initialised", ErrMalformed}
		}
		switch {
		case behind && start < 0:
			start = pc
		case !behind && start >= 0:
			to = append(to, Range{start, pc})
			start = -1
		}
	}
	if start >= 0 {
		to = append(to, Range{start, len(f.body.Code)})
	}
	return to, nil
}

// spread marks what is reached from an instruction behind super().
func (f *Flow) spread(pc int) error {
	for !set(f.behind, pc) {
		if err := f.eachTarget(pc, func(target int) { f.pending = append(f.pending, target) }); err != nil {
			return err
		}
		f.eachHandler(pc, func(handler int) { f.pending = append(f.pending, handler) })
		if endsFlow(f.body, pc) {
			return nil
		}
		if pc += f.body.Length(pc); !f.body.StartsAt(pc) {
			return f.fail(pc, "falls off the end")
		}
	}
	return nil
}

func (f *Flow) fail(pc int, what string) error { return &PCError{pc, what, ErrMalformed} }

// eachTarget visits the targets of a branch or switch.
func (f *Flow) eachTarget(pc int, visit func(int)) error {
	code := f.body.Code
	check := func(offset int) error {
		if !f.body.StartsAt(pc + offset) {
			return f.fail(pc, "branch to between instructions")
		}
		visit(pc + offset)
		return nil
	}
	switch formats[code[pc]].operand {
	case branch16:
		return check(int(int16(binary.BigEndian.Uint16(code[pc+1:]))))
	case branch32:
		return check(int(int32At(code, pc+1)))
	case table, lookup:
		at, end := pc+1+padding(pc), pc+f.body.Length(pc)
		if err := check(int(int32At(code, at))); err != nil {
			return err
		}
		head, step := switchShape(code[pc])
		for at += head; at < end; at += step {
			if err := check(int(int32At(code, at+step-4))); err != nil {
				return err
			}
		}
	}
	return nil
}

// eachHandler visits the handlers that cover an instruction.
func (f *Flow) eachHandler(pc int, visit func(int)) {
	for row := f.body.handlers; len(row) > 0; row = row[8:] {
		start, end := int(binary.BigEndian.Uint16(row)), int(binary.BigEndian.Uint16(row[2:]))
		if handler := int(binary.BigEndian.Uint16(row[4:])); start <= pc && pc < end && f.body.StartsAt(handler) {
			visit(handler)
		}
	}
}

// run interprets a path from a state on, up to its end or to what was seen already.
func (f *Flow) run(s state) error {
	for !set(f.before, s.pc) {
		pc, op := s.pc, f.body.Code[s.pc]
		f.eachHandler(pc, func(handler int) {
			f.branch(handler, []bool{false}, s.locals)
		})
		if op == OpInvokespecial && f.initialises(&s) {
			if next := pc + 3; f.body.StartsAt(next) {
				f.pending = append(f.pending, next)
				return nil
			}
			return f.fail(pc, "falls off the end")
		}
		if !f.step(&s) {
			return f.fail(pc, "operand stack")
		}
		if err := f.eachTarget(pc, func(target int) {
			f.branch(target, s.stack, s.locals)
		}); err != nil {
			return err
		}
		if f.slots > maxSlots {
			return f.fail(pc, "too many branches before super()")
		}
		if endsFlow(f.body, pc) {
			return nil
		}
		if s.pc = pc + f.body.Length(pc); !f.body.StartsAt(s.pc) {
			return f.fail(pc, "falls off the end")
		}
	}
	return nil
}

// branch remembers that an instruction is reached with a state. What was interpreted already isn't reached for the first time.
func (f *Flow) branch(pc int, stack, locals []bool) {
	if has(f.before, pc) || f.slots > maxSlots {
		return
	}
	f.slots += len(stack) + len(locals)
	f.states = append(f.states, state{pc, slices.Clone(stack), slices.Clone(locals)})
}

// initialises reports whether the invokespecial is the call of super() or this(): an <init> of the uninitialised this.
func (f *Flow) initialises(s *state) bool {
	ref, ok := f.pool.Ref(f.operand(s.pc))
	if !ok || string(ref.Name) != "<init>" {
		return false
	}
	arguments, _, ok := slotsOf(ref.Desc)
	at := len(s.stack) - arguments - 1
	return ok && at >= 0 && s.stack[at]
}

func (f *Flow) operand(pc int) uint16 { return binary.BigEndian.Uint16(f.body.Code[pc+1:]) }

// slotsOf is how many slots a method descriptor's parameters and its result take (JVMS §4.3.3).
func slotsOf(desc []byte) (parameters, result int, ok bool) {
	end := bytes.IndexByte(desc, ')')
	if len(desc) == 0 || desc[0] != '(' || end < 0 {
		return 0, 0, false
	}
	for i := 1; i < end; i++ {
		switch desc[i] {
		case 'J', 'D':
			parameters += 2
			continue
		case '[':
			for i < end && desc[i] == '[' {
				i++
			}
		}
		parameters++
		if desc[i] == 'L' {
			n := bytes.IndexByte(desc[i:end], ';')
			if n < 0 {
				return 0, 0, false
			}
			i += n
		}
	}
	return parameters, fieldSlots(desc[end+1:]), true
}

// fieldSlots is how many slots a value of a field descriptor takes; void takes none.
func fieldSlots(desc []byte) int {
	if len(desc) > 0 {
		switch desc[0] {
		case 'V':
			return 0
		case 'J', 'D':
			return 2
		}
	}
	return 1
}
