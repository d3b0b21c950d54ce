package code

import (
	"cmp"
	"slices"
)

// Place says where an edit's code goes, and with that who runs it.
type Place uint8

const (
	// After puts code behind the instruction at PC: it runs when that instruction is left by falling through, and not when
	// the next one is jumped to.
	After Place = iota
	// Entry puts code at the method's start: it runs once per call, also where the body jumps back to its first instruction.
	Entry
	// Before puts code before the instruction at PC: whoever jumps to the instruction runs it too.
	Before
	// Instead replaces the instruction at PC.
	Instead
)

// Edit is straight-line code put into a method body. It may not branch.
type Edit struct {
	PC    int // of an instruction of the original; 0 for Entry
	Place Place
	Code  []byte
	// Stack is how much deeper than what stands there the operand stack gets, in slots. Those of several edits at one place add up,
	// since one may leave there what a later one takes.
	Stack int
	// Bare leaves the code out of what some of the plan's handlers cover, and of a Before edit also what follows up to and including
	// the instruction: an exit that has reported must not report again. What other edits put in front of it at the same instruction
	// stays covered. Where the method releases locks, such a Before edit is left out of the method's own catch-any ranges, too.
	Bare HandlerSet
}

// HandlerSet is a set of a plan's handlers: bit i stands for Plan.Handlers[i].
type HandlerSet uint64

// maxHandlers is how many handlers a plan can have.
const maxHandlers = 64

// Handler is catch-any code behind the method's last instruction (JVMS §4.7.3: catch_type 0). When it is entered the
// stack holds the Throwable, and of the locals only the plan's longs are left; its last instruction must not fall through.
type Handler struct {
	Ranges []Range // what it covers, in ascending order and apart; Bare edits are left out of it
	Code   []byte
	Stack  int // its greatest stack depth, in slots, the Throwable included
}

// Range is a run of instructions of the original, Start inclusive, End exclusive.
type Range struct{ Start, End int }

// Plan is everything that is done to one body. Its locals are longs that are assigned at entry and live to the end, the
// first at the original max_locals.
type Plan struct {
	Edits []Edit // any order; where several have one place, they run in the order given
	// Handlers are nested, the inner ones first: of two that cover an instruction, what the first throws on gets to the second.
	// So the code of a handler is covered by those later ones that cover all that it does itself. Two that overlap in
	// another way are an error, since what the first throws on would not get to the second.
	Handlers []Handler
	Longs    int
}

// Reset empties the plan and keeps its memory.
func (p *Plan) Reset() { *p = Plan{Edits: p.Edits[:0], Handlers: p.Handlers[:0]} }

// stop is a place of the original code where bytes are inserted or an instruction changes its length.
type stop struct {
	pc      int
	after   int        // bytes inserted before the landing: After and Entry code
	before  int        // bytes inserted behind the landing: Before code
	bare    HandlerSet // of any of its edits
	first   int        // index of its first edit in order
	edits   int
	instead int // index of the edit that replaces the instruction; -1 none
	at      int // the landing's new pc
	oldSize int // of the instruction, where its size may change; else 0
	newSize int
	wide    bool // the instruction is a goto or jsr that becomes a goto_w or jsr_w
	detours int  // how many stand in front of all that is inserted here
}

// layout says where everything of the old code is in the new code. There are three answers, since a jump, a protected
// range and an object's creation see inserted code differently (see docs/bytecode.md).
type layout struct {
	order []Edit // by place in the code
	stops []stop
	// shifts[i] holds for old pcs from shifts[i].from on: land = pc + delta.
	shifts []shift
	near   int // index of the shift that was used last
	oldLen int
	newLen int // without handler code

	wide    []widened
	detours []detour // by site
	kept    []int    // scratch: new ranges of one row of the exception table
}

type shift struct{ from, delta int }

// plan computes the layout. Everything that may be inserted or resized is at a stop, so one walk over the stops is enough.
func (l *layout) plan(b *Body, edits []Edit) error {
	l.order, l.stops, l.wide, l.detours = l.order[:0], l.stops[:0], l.wide[:0], l.detours[:0]
	if err := l.sortEdits(b, edits); err != nil {
		return err
	}
	l.collectStops(b)
	l.place(b)
	return l.fixBranches(b)
}

// place gives every stop its new pc.
func (l *layout) place(b *Body) {
	l.shifts = l.shifts[:0]
	delta, detours := 0, l.detours
	for i := range l.stops {
		s := &l.stops[i]
		for k := range s.detours {
			detours[k].at = s.pc + delta
			delta += gotoWLength
		}
		detours = detours[s.detours:]
		s.at = s.pc + delta + s.after
		l.shift(s.pc, delta+s.after)
		delta += s.after + s.before
		if s.oldSize > 0 {
			s.newSize = l.resized(b, s, s.pc+delta)
			delta += s.newSize - s.oldSize
		}
		l.shift(s.pc+1, delta)
	}
	l.oldLen, l.newLen = len(b.Code), len(b.Code)+delta
}

// sortEdits puts the edits into code order; an After edit moves to the pc it ends up at.
func (l *layout) sortEdits(b *Body, edits []Edit) error {
	for _, e := range edits {
		if what := misplaced(b, &e); what != "" {
			return &PCError{e.PC, what, ErrMalformed}
		}
		if e.Place == After {
			e.PC += b.Length(e.PC)
		}
		l.order = append(l.order, e)
	}
	if !slices.IsSortedFunc(l.order, compareEdits) {
		slices.SortStableFunc(l.order, compareEdits)
	}
	for i := 1; i < len(l.order); i++ {
		if e := &l.order[i]; e.Place == Instead && l.order[i-1].Place == Instead && l.order[i-1].PC == e.PC {
			return &PCError{e.PC, "two edits instead of one instruction", ErrMalformed}
		}
	}
	return nil
}

// misplaced says what is wrong with an edit; "" where nothing is.
func misplaced(b *Body, e *Edit) string {
	switch {
	case !b.StartsAt(e.PC):
		return "edit between instructions"
	case e.Place == Entry && e.PC != 0:
		return "entry code inside the method"
	case e.Place == After && endsFlow(b, e.PC):
		return "edit after an instruction that doesn't fall through" // nobody would run it, and no frame describes it
	case e.Place == Instead && len(e.Code) == 0:
		return "nothing instead of an instruction" // a frame or range that starts there would have no place of its own
	}
	return ""
}

func compareEdits(a, b Edit) int {
	if c := cmp.Compare(a.PC, b.PC); c != 0 {
		return c
	}
	return cmp.Compare(a.Place, b.Place)
}

// collectStops merges the edits with the switches, whose padding depends on where they end up.
func (l *layout) collectStops(b *Body) {
	e, points := 0, b.Points
	for e < len(l.order) || len(points) > 0 {
		if len(points) > 0 && formats[points[0].Op].length != 0 {
			points = points[1:]
			continue
		}
		pc := len(b.Code)
		if e < len(l.order) {
			pc = l.order[e].PC
		}
		if len(points) > 0 && int(points[0].PC) <= pc {
			pc = int(points[0].PC)
		}
		s := stop{pc: pc, first: e, instead: -1}
		if len(points) > 0 && int(points[0].PC) == pc {
			s.oldSize = b.Length(pc)
			points = points[1:]
		}
		for ; e < len(l.order) && l.order[e].PC == pc; e++ {
			s.add(b, &l.order[e], e)
		}
		l.stops = append(l.stops, s)
	}
}

func (s *stop) add(b *Body, e *Edit, index int) {
	s.edits++
	s.bare |= e.Bare
	switch e.Place {
	case After, Entry:
		s.after += len(e.Code)
	case Before:
		s.before += len(e.Code)
	case Instead:
		s.instead, s.oldSize = index, b.Length(s.pc)
	}
}

// resized is the new length of a stop's instruction when it is at newPC.
func (l *layout) resized(b *Body, s *stop, newPC int) int {
	if s.instead >= 0 {
		return len(l.order[s.instead].Code)
	}
	if s.wide {
		return gotoWLength
	}
	return s.oldSize - padding(s.pc) + padding(newPC)
}

// padding is how many bytes a switch at pc has between its opcode and its operands (JVMS §6.5).
func padding(pc int) int { return 3 - pc&3 }

func (l *layout) shift(from, delta int) {
	if n := len(l.shifts); n > 0 && l.shifts[n-1].from == from {
		l.shifts[n-1].delta = delta
		return
	}
	l.shifts = append(l.shifts, shift{from, delta})
}

// land is where a jump to pc goes: behind entry code and code inserted after the instruction before, and in front of
// code inserted before the instruction. The end of the code lands at the end of what it became.
func (l *layout) land(pc int) int {
	// Tables are in code order mostly: what held for the last pc often holds for this one.
	if n := l.near; n < len(l.shifts) && l.shifts[n].from <= pc && (n+1 == len(l.shifts) || pc < l.shifts[n+1].from) {
		return pc + l.shifts[n].delta
	}
	lo, hi := 0, len(l.shifts)
	for lo < hi {
		if mid := int(uint(lo+hi) / 2); l.shifts[mid].from <= pc {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return pc
	}
	l.near = lo - 1
	return pc + l.shifts[lo-1].delta
}

// stopAt finds the stop at pc; nil where there is none.
func (l *layout) stopAt(pc int) *stop {
	i, ok := slices.BinarySearchFunc(l.stops, pc, func(s stop, pc int) int { return cmp.Compare(s.pc, pc) })
	if !ok {
		return nil
	}
	return &l.stops[i]
}

// instruction is where the instruction at pc itself went, behind everything that was inserted before it.
func (l *layout) instruction(pc int) int {
	if s := l.stopAt(pc); s != nil {
		return s.at + s.before
	}
	return l.land(pc)
}

// boundary is where a range that starts at pc does so now: in front of what was inserted there, but for detours. Entry code
// stays outside, since the locals that it assigns aren't there yet.
func (l *layout) boundary(pc int) int {
	if pc == 0 {
		return l.land(0)
	}
	if s := l.stopAt(pc); s != nil {
		return s.at - s.after
	}
	return l.land(pc)
}

// rangeEnd is where a range that ends at pc does so now: in front of all that was inserted there.
func (l *layout) rangeEnd(pc int) int {
	if pc == 0 {
		return l.land(0)
	}
	if s := l.stopAt(pc); s != nil {
		return s.at - s.after - gotoWLength*s.detours
	}
	return l.land(pc)
}
