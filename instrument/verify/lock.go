package verify

import "github.com/jiffyperf/jiffy/instrument/classfile"

// unstructuredLock looks for a lock that isn't released on every way out of the method (JVMS §2.11.10), and returns the
// first place that it finds and what is wrong there; an empty what if all is well. Locks are only counted, so that
// unlocking the wrong object goes unnoticed. Methods with subroutines are not looked at.
//
// Under a lock every instruction that can throw must be covered by a handler for everything, which unlocks or throws on under
// another one. That is what ART asks for; HotSpot's compilers leave alone what doesn't do so.
func (v *Verifier) unstructuredLock() (pc int, what string) {
	if !v.monitors || v.subroutines {
		return 0, ""
	}
	w := &v.walk
	w.reset(len(v.code))
	w.reach(0, 0, main)
	for {
		pc, ok := w.take()
		if !ok || !v.spend(len(v.rows)/8) {
			return 0, ""
		}
		if what := v.followLocks(pc); what != "" {
			return pc, what
		}
	}
}

const lockMismatch = "control gets from here to where another number of locks is held"

// followLocks gets from an instruction to those that come after it, and says what is wrong with it.
func (v *Verifier) followLocks(pc int) string {
	w, op := &v.walk, v.code[pc]
	in, locks := &instructions[op], v.walk.depth[pc]
	if op != opMonitorexit && v.mayThrow(pc) {
		if what := v.lockedThrow(pc, locks); what != "" {
			return what
		}
	}
	switch {
	case op == opMonitorenter:
		locks++
	case op == opMonitorexit:
		if locks--; locks < 0 {
			return "monitorexit with no lock held"
		}
	case in.shape == exit && locks > 0:
		return "return with a lock held"
	}
	reach := func(target int) bool { return w.reach(target, locks, main) }
	if !v.eachTarget(pc, reach) || goesOn(in.shape) && !reach(pc+v.size(pc)) {
		return lockMismatch
	}
	return ""
}

// lockedThrow reaches the handlers that an exception of an instruction can get to.
func (v *Verifier) lockedThrow(pc int, locks int32) string {
	for at := 0; at < len(v.rows); at += 8 {
		if pc < u2(v.rows, at) || pc >= u2(v.rows, at+2) {
			continue
		}
		if !v.walk.reach(u2(v.rows, at+4), locks, main) {
			return lockMismatch
		}
		if u2(v.rows, at+6) == 0 {
			return ""
		}
	}
	if locks > 0 {
		return instructions[v.code[pc]].name + " can throw with a lock held, and no handler for everything covers it"
	}
	return ""
}

// mayThrow reports whether an instruction can throw in a program that is linked and doesn't run out of memory for code.
func (v *Verifier) mayThrow(pc int) bool {
	switch in := &instructions[v.code[pc]]; in.shape {
	case element, setElement, field, invoke, object, array, length, throw, cast, monitor:
		return true
	case simple: // integer division by zero
		switch in.name {
		case "idiv", "irem", "ldiv", "lrem":
			return true
		}
	case constant:
		index := uint16(v.code[pc+1])
		if in.length == 3 {
			index = uint16(u2(v.code, pc+1))
		}
		switch v.pool.Tag(index) {
		case classfile.TagInteger, classfile.TagFloat, classfile.TagLong, classfile.TagDouble:
			return false
		}
		return true
	}
	return false
}
