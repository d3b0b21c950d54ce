package verify

// walk follows control through a method: for code without frames, and for locks. Its slices are by pc.
type walk struct {
	depth   []int32 // what is counted, before the instruction there; unreached where control didn't come yet
	sub     []int32 // the subroutine that the instruction belongs to: where it starts; main outside of any
	exits   []int32 // by the start of a subroutine: the depth at its ret; unreached before there was one
	calls   []subCall
	pending []int32
	targets []uint64 // a bit for each pc that somebody refers to
}

// subCall is a jsr.
type subCall struct{ sub, next, caller int32 }

const (
	unreached = -1 // of a depth
	main      = -1 // of sub
	mixed     = -2 // of sub: reached from several
)

// reset forgets the method before.
func (w *walk) reset(n int) {
	w.depth, w.sub = filled(w.depth, n, unreached), filled(w.sub, n, main)
	w.exits = filled(w.exits, n, unreached)
	w.calls, w.pending = w.calls[:0], w.pending[:0]
}

func filled(s []int32, n int, with int32) []int32 {
	if cap(s) < n {
		s = make([]int32, n, n+n/2)
	}
	s = s[:n]
	for i := range s {
		s[i] = with
	}
	return s
}

// reach notes that control gets to pc. It reports false where it got there before with another depth.
func (w *walk) reach(pc int, depth, sub int32) bool {
	switch {
	case w.depth[pc] == unreached:
		w.depth[pc], w.sub[pc] = depth, sub
	case w.depth[pc] != depth:
		return false
	case w.sub[pc] == sub || w.sub[pc] == mixed:
		return true
	default:
		w.sub[pc] = mixed
	}
	w.pending = append(w.pending, int32(pc))
	return true
}

// take returns a pc that control reached and nobody looked at.
func (w *walk) take() (pc int, ok bool) {
	n := len(w.pending) - 1
	if n < 0 {
		return 0, false
	}
	pc = int(w.pending[n])
	w.pending = w.pending[:n]
	return pc, true
}

// size is the length of the instruction at pc, which parseInstructions has seen.
func (v *Verifier) size(pc int) int {
	in := &instructions[v.code[pc]]
	if in.length != 0 {
		return int(in.length)
	}
	return v.variableLength(pc, in.shape)
}

// goesOn reports whether control goes from an instruction to the one behind it.
func goesOn(s shape) bool {
	switch s {
	case jump, exit, throw, table, lookup, jsr, ret:
		return false
	}
	return true
}

// eachTarget visits where the instruction at pc may jump, until a visit fails. The targets may be anything.
func (v *Verifier) eachTarget(pc int, visit func(target int) bool) bool {
	switch s := instructions[v.code[pc]].shape; s {
	case branch, branchRef:
		return visit(pc + s2(v.code, pc+1))
	case jump, jsr:
		v.pc = pc
		return visit(pc + v.offset())
	case table, lookup:
		at := (pc + 4) &^ 3
		if !visit(pc + s4(v.code, at)) {
			return false
		}
		first, step, end := at+12, 4, pc+v.variableLength(pc, s)
		if s == lookup {
			first, step = at+12, 8
		}
		for at = first; at < end; at += step {
			if !visit(pc + s4(v.code, at)) {
				return false
			}
		}
	}
	return true
}
