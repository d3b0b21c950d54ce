package verify

// checkDepths checks code that has no frames: operands, targets, and the depth of the stack wherever control gets to.
func (v *Verifier) checkDepths() *Error {
	v.err, v.frames, v.work = nil, v.frames[:0], 0
	for pc := 0; pc < len(v.code); pc += v.size(pc) {
		if !v.checkOperands(pc) {
			return v.err
		}
	}
	w := &v.walk
	w.reset(len(v.code))
	w.reach(0, 0, main)
	from, to := v.covered()
	for {
		pc, ok := w.take()
		if !ok {
			return nil
		}
		v.pc = pc
		if pc >= from && pc < to && !v.depthsOfHandlers() || !v.followDepth() {
			return v.err
		}
	}
}

// checkOperands checks what an instruction names: targets, locals and constants.
func (v *Verifier) checkOperands(pc int) bool {
	v.pc = pc
	inside := v.eachTarget(pc, func(target int) bool {
		return v.startsAt(target) || v.fail("%s to pc %d, where no instruction is", instructions[v.code[pc]].name, target)
	})
	if !inside {
		return false
	}
	in, local := &instructions[v.code[pc]], 0
	switch {
	case in.shape == wide:
		in, local = &instructions[v.code[pc+1]], u2(v.code, pc+2)
	case in.shape == load || in.shape == store:
		local = v.localOperand(in, pc)
	case in.shape == iinc || in.shape == ret:
		local = int(v.code[pc+1])
	default:
		_, _, ok := v.depthChange()
		return ok
	}
	if slots := max(1, int(in.pops), int(in.pushes)); local+slots > v.maxLocals {
		return v.fail("there is no local %d, max_locals is %d", local+slots-1, v.maxLocals)
	}
	return true
}

// depthChange is how many slots the instruction takes from the stack and puts there.
func (v *Verifier) depthChange() (pops, pushes int, ok bool) {
	op := v.code[v.pc]
	in := &instructions[op]
	switch in.shape {
	case wide:
		in = &instructions[v.code[v.pc+1]]
	case jsr:
		return 0, 1, true
	case shuffle:
		how := &shuffles[op-opPop]
		for _, size := range how.groups {
			pops += size
		}
		return pops, len(how.result), true
	case constant:
		_, n, ok := v.constantOperand()
		return 0, n, ok
	case field:
		m, ok := v.fieldOperand()
		switch op {
		case opGetstatic:
			return 0, m.slots, ok
		case opPutstatic:
			return m.slots, 0, ok
		case opGetfield:
			return 1, m.slots, ok
		}
		return m.slots + 1, 0, ok
	case invoke:
		_, ok := v.callOperand()
		if pops = len(v.args); op != opInvokestatic && op != opInvokedynamic {
			pops++
		}
		return pops, len(v.result), ok
	case object, cast:
		_, ok = v.classOperand()
		return int(in.pops), 1, ok
	case array:
		if op == opNewarray {
			return 1, 1, true
		}
		if pops = 1; op == opMultianewarray {
			pops = int(v.code[v.pc+3])
		}
		_, ok = v.classOperand()
		return pops, 1, ok
	}
	return int(in.pops), int(in.pushes), true
}

// followDepth gets from an instruction to those that come after it.
func (v *Verifier) followDepth() bool {
	w, pc := &v.walk, v.pc
	in := &instructions[v.code[pc]]
	pops, pushes, _ := v.depthChange()
	before, sub := int(w.depth[pc]), w.sub[pc]
	if pops > before {
		return v.fail("%s takes more from the stack than its %d slots", in.name, before)
	}
	after := before - pops + pushes
	if after > v.maxStack {
		return v.overflow()
	}
	next := pc + v.size(pc)
	v.pc = pc
	switch in.shape {
	case jsr:
		return v.followJsr(next, int32(after))
	case ret, wide:
		if in.shape == ret || instructions[v.code[pc+1]].shape == ret {
			return v.followRet()
		}
	}
	reach := func(target int) bool { return v.reachDepth(target, int32(after), sub) }
	return v.eachTarget(pc, reach) && (!goesOn(in.shape) || reach(next))
}

// reachDepth notes that control gets to pc with a stack of some depth.
func (v *Verifier) reachDepth(pc int, depth, sub int32) bool {
	if pc >= len(v.code) {
		return v.fail("control falls off the end of the code")
	}
	if v.walk.reach(pc, depth, sub) {
		return true
	}
	return v.fail("pc %d is reached with stacks of %d and of %d slots", pc, v.walk.depth[pc], depth)
}

// followJsr enters a subroutine; the instruction behind the jsr is reached once the subroutine has been seen to return.
func (v *Verifier) followJsr(next int, depth int32) bool {
	w := &v.walk
	target, caller := v.pc+v.offset(), w.sub[v.pc]
	w.calls = append(w.calls, subCall{int32(target), int32(next), caller})
	if !v.reachDepth(target, depth, int32(target)) {
		return false
	}
	return w.exits[target] == unreached || v.reachDepth(next, w.exits[target], caller)
}

// followRet goes back to the callers of the subroutine. Where code belongs to several, nothing is certain.
func (v *Verifier) followRet() bool {
	w := &v.walk
	sub, depth := w.sub[v.pc], w.depth[v.pc]
	if sub < 0 || w.exits[sub] != unreached {
		return true
	}
	w.exits[sub] = depth
	for _, c := range w.calls {
		if c.sub == sub && !v.reachDepth(int(c.next), depth, c.caller) {
			return false
		}
	}
	return v.spend(len(w.calls))
}

// depthsOfHandlers reaches the handlers that cover the instruction.
func (v *Verifier) depthsOfHandlers() bool {
	for at := 0; at < len(v.rows); at += 8 {
		if v.pc < u2(v.rows, at) || v.pc >= u2(v.rows, at+2) {
			continue
		}
		if v.maxStack == 0 {
			return v.overflow()
		}
		if !v.reachDepth(u2(v.rows, at+4), 1, v.walk.sub[v.pc]) {
			return false
		}
	}
	return v.spend(len(v.rows) / 8)
}
