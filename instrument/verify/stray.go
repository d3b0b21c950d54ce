package verify

import "github.com/jiffyperf/jiffy/instrument/classfile"

// strayFrame looks for a frame that R8 rejects as one without a target: nothing jumps to it, no exception range starts or
// ends there, and no debug table mentions the place. (That two frames can't have one pc is in the encoding: JVMS §4.7.4.)
func (v *Verifier) strayFrame() (pc int, what string) {
	if len(v.frames) == 0 || v.annotated {
		return 0, ""
	}
	v.markTargets()
	for i := range v.frames {
		if pc := v.frames[i].pc; pc != 0 && v.walk.targets[pc>>6]&(1<<(pc&63)) == 0 {
			return pc, "there is a frame, but nothing jumps here"
		}
	}
	return 0, ""
}

// markTargets finds the pcs that something refers to.
func (v *Verifier) markTargets() {
	w := &v.walk
	w.targets = zeroed(w.targets, len(v.code)/64+1)
	mark := func(pc int) bool {
		w.targets[pc>>6] |= 1 << (pc & 63)
		return true
	}
	for pc := 0; pc < len(v.code); pc += v.size(pc) {
		v.eachTarget(pc, mark)
	}
	for at := 0; at < len(v.rows); at += 8 {
		mark(u2(v.rows, at))
		mark(u2(v.rows, at+2))
		mark(u2(v.rows, at+4))
	}
	for _, types := range [][]vtype{v.frameTable.locals, v.frameTable.stacks} {
		for _, t := range types {
			if t.kind() == kindUninit {
				mark(t.newPC())
			}
		}
	}
	for _, d := range v.debugInfo {
		size := 10
		if d.kind == classfile.AttrLineNumberTable {
			size = 4
		}
		for row := d.rows[2:]; len(row) > 0; row = row[size:] {
			mark(u2(row, 0))
			if d.kind != classfile.AttrLineNumberTable {
				mark(u2(row, 0) + u2(row, 2))
			}
		}
	}
}
