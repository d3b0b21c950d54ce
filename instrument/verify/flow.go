package verify

// state is what the types of locals and stack are before the instruction that is looked at.
type state struct {
	locals []vtype // max_locals of them
	high   int     // locals from here on are kindTop
	stack  []vtype // max_stack of them
	sp     int
	uninit bool // this is uninitialised (flagThisUninit)
	moved  bool // locals have changed since the handlers were looked at
	next   int  // the first pc where a range of the exception table starts that was not looked at
}

// initialFrame sets the state to what the method's descriptor says (JVMS §4.10.1.6).
func (v *Verifier) initialFrame() frame {
	s := &v.state
	s.locals = zeroed(s.locals, v.maxLocals)
	if cap(s.stack) < v.maxStack {
		s.stack = make([]vtype, v.maxStack, 2*v.maxStack)
	}
	s.stack = s.stack[:v.maxStack]
	s.sp, s.uninit, s.moved, s.next = 0, false, true, 0
	n := 0
	if !v.static() {
		s.locals[0] = v.this
		if v.constructor() && v.super != 0 {
			s.locals[0], s.uninit = vtype(kindUninitThis), true
		}
		n = 1
	}
	n += copy(s.locals[n:], v.args)
	s.high = n
	return frame{nLocal: n, uninit: s.uninit}
}

func (v *Verifier) constructor() bool { return string(v.pool.Utf8(v.method.Name)) == "<init>" }

// flow walks the instructions once, in order (JVMS §4.10.1.6).
func (v *Verifier) flow() bool {
	from, to := v.covered()
	falls, frames := true, v.frames
	for pc := 0; pc < len(v.code); {
		v.pc = pc
		if len(frames) > 0 && frames[0].pc == pc {
			f := &frames[0]
			if falls && !v.matches(f, "the frame here") || !v.enter(f) {
				return false
			}
			frames = frames[1:]
		} else if !falls {
			return v.fail("nothing falls through to here, so that a frame is needed")
		}
		if pc >= from && pc < to && (v.moved || pc >= v.next) && !v.checkHandlers() {
			return false
		}
		in := &instructions[v.code[pc]]
		n := int(in.length)
		if n == 0 {
			n = v.variableLength(pc, in.shape)
		}
		ok := true
		if in.shape == simple {
			ok = v.replace(in)
		} else {
			ok = v.step(in)
		}
		if !ok {
			return false
		}
		falls = in.shape != jump && in.shape != exit && in.shape != throw && in.shape != table && in.shape != lookup
		pc += n
	}
	if falls {
		return v.fail("control falls off the end of the code")
	}
	return true
}

// covered is the range of pcs that any handler covers.
func (v *Verifier) covered() (from, to int) {
	from = len(v.code)
	for at := 0; at < len(v.rows); at += 8 {
		from, to = min(from, u2(v.rows, at)), max(to, u2(v.rows, at+2))
	}
	return from, to
}

// enter makes a frame the state.
func (v *Verifier) enter(f *frame) bool {
	s := &v.state
	copy(s.locals, v.frameTable.locals[f.locals:f.locals+f.nLocal])
	if f.nLocal < s.high {
		clear(s.locals[f.nLocal:s.high])
	}
	s.high = f.nLocal
	s.sp = copy(s.stack, v.stacks[f.stack:f.stack+f.nStack])
	s.uninit, s.moved = f.uninit, true
	return v.spend(f.nLocal)
}

// matches checks that the state may go on as a frame (JVMS §4.10.1.5).
func (v *Verifier) matches(f *frame, what string) bool {
	s := &v.state
	if s.sp != f.nStack {
		return v.fail("the stack has %d slots, %s has %d", s.sp, what, f.nStack)
	}
	for i, t := range v.stacks[f.stack : f.stack+f.nStack] {
		if s.stack[i] != t && !v.assignable(s.stack[i], t) {
			return v.fail("stack slot %d is %s, %s has %s", i, v.text(s.stack[i]), what, v.text(t))
		}
	}
	return v.localsMatch(f, what)
}

func (v *Verifier) localsMatch(f *frame, what string) bool {
	s := &v.state
	if !v.spend(f.nLocal + f.nStack + 1) {
		return false
	}
	locals := s.locals
	for i, t := range v.frameTable.locals[f.locals : f.locals+f.nLocal] {
		if locals[i] != t && t != vtype(kindTop) && !v.assignable(locals[i], t) {
			return v.fail("local %d is %s, %s has %s", i, v.text(locals[i]), what, v.text(t))
		}
	}
	if s.uninit && !f.uninit {
		return v.fail("this is uninitialised, %s doesn't say so", what)
	}
	return true
}

// reaches checks that the state may go on at pc.
func (v *Verifier) reaches(pc int) bool {
	if uint(pc) >= uint(len(v.code)) || v.at[pc] == 0 {
		return v.fail("pc %d, to which this may jump, has no frame", pc)
	}
	return v.matches(&v.frames[v.at[pc]-1], "the frame of the target")
}

// checkHandlers checks that the state may go on at the handlers that cover this instruction (JVMS §4.10.1.6).
func (v *Verifier) checkHandlers() bool {
	s := &v.state
	s.moved, s.next = false, len(v.code)
	for at, row := 0, 0; at < len(v.rows); at, row = at+8, row+1 {
		start, end := u2(v.rows, at), u2(v.rows, at+2)
		if start > v.pc {
			s.next = min(s.next, start)
		}
		if v.pc < start || v.pc >= end {
			continue
		}
		if !v.handles(u2(v.rows, at+4), v.catches[row]) {
			return false
		}
	}
	return v.spend(len(v.rows) / 8)
}

// handles checks that an exception may go on at a handler.
func (v *Verifier) handles(handler int, exception vtype) bool {
	if v.at[handler] == 0 {
		return v.fail("the handler at pc %d has no frame", handler)
	}
	f := &v.frames[v.at[handler]-1]
	if f.nStack != 1 || !v.assignable(exception, v.stacks[f.stack]) {
		return v.fail("the frame of the handler at pc %d has not just %s on the stack", handler, v.text(exception))
	}
	return v.localsMatch(f, "the frame of the handler")
}

// replace takes an instruction's primitives from the stack and puts others there.
func (v *Verifier) replace(in *instruction) bool {
	s := &v.state
	base := s.sp - int(in.pops)
	if base < 0 {
		return v.underflow(in)
	}
	for i := base; i < s.sp; i++ {
		if s.stack[i] != in.pop[i-base] {
			return v.unexpected(i, in.pop[i-base])
		}
	}
	s.sp = base + int(in.pushes)
	if s.sp > len(s.stack) {
		return v.overflow()
	}
	for i := base; i < s.sp; i++ {
		s.stack[i] = in.push[i-base]
	}
	return true
}

func (v *Verifier) underflow(in *instruction) bool {
	return v.fail("%s takes more from the stack than its %d slots", in.name, v.sp)
}

func (v *Verifier) overflow() bool {
	return v.fail("the stack grows beyond max_stack, %d", v.maxStack)
}

// unexpected fails since stack slot i has another type than an instruction wants.
func (v *Verifier) unexpected(i int, want vtype) bool {
	return v.fail("%s wants %s on the stack and finds %s", instructions[v.code[v.pc]].name, v.text(want), v.text(v.stack[i]))
}

// push puts a value of one slot on the stack.
func (v *Verifier) push(t vtype) bool {
	s := &v.state
	if s.sp >= len(s.stack) {
		return v.overflow()
	}
	s.stack[s.sp] = t
	s.sp++
	return true
}

// pushAll puts slots on the stack.
func (v *Verifier) pushAll(slots []vtype) bool {
	s := &v.state
	if s.sp+len(slots) > len(s.stack) {
		return v.overflow()
	}
	s.sp += copy(s.stack[s.sp:], slots)
	return true
}

// popAll takes slots from the stack that must be assignable to those.
func (v *Verifier) popAll(slots []vtype) bool {
	s := &v.state
	base := s.sp - len(slots)
	if base < 0 {
		return v.underflow(&instructions[v.code[v.pc]])
	}
	for i, t := range slots {
		if s.stack[base+i] != t && !v.assignable(s.stack[base+i], t) {
			return v.unexpected(base+i, t)
		}
	}
	s.sp = base
	return true
}

// popType takes one slot from the stack that must be assignable to a type.
func (v *Verifier) popType(want vtype) bool {
	s := &v.state
	if s.sp == 0 {
		return v.underflow(&instructions[v.code[v.pc]])
	}
	s.sp--
	if s.stack[s.sp] != want && !v.assignable(s.stack[s.sp], want) {
		return v.unexpected(s.sp, want)
	}
	return true
}

// popReference takes any reference from the stack, uninitialised ones too.
func (v *Verifier) popReference() (vtype, bool) {
	s := &v.state
	if s.sp == 0 {
		return 0, v.underflow(&instructions[v.code[v.pc]])
	}
	s.sp--
	if t := s.stack[s.sp]; t.reference() {
		return t, true
	}
	return 0, v.fail("%s wants a reference on the stack and finds %s",
		instructions[v.code[v.pc]].name, v.text(s.stack[s.sp]))
}
