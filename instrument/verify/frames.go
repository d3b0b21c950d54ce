package verify

// frame is a decoded StackMapTable entry (JVMS §4.7.4). Its types are slices of the table's, which frames share where one
// only extends or shortens the one before.
type frame struct {
	pc             int
	locals, nLocal int // slots from frameTable.locals
	stack, nStack  int // slots from frameTable.stacks
	uninit         bool
}

// frameTable is a decoded StackMapTable.
type frameTable struct {
	frames []frame
	at     []uint16 // by pc: one more than the index of the frame there; 0 where there is none
	locals []vtype
	stacks []vtype
}

// maxFrameTypes bounds the memory that frames take: a few bytes can say "the 65,535 locals of before, and one more".
const maxFrameTypes = 1 << 22

// frameReader walks the bytes of a StackMapTable; once bad it returns zeros.
type frameReader struct {
	data []byte
	pos  int
	bad  bool
}

func (r *frameReader) u1() int {
	if r.pos >= len(r.data) {
		r.bad = true
		return 0
	}
	r.pos++
	return int(r.data[r.pos-1])
}

func (r *frameReader) u2() int {
	if r.pos+2 > len(r.data) {
		r.bad = true
		return 0
	}
	r.pos += 2
	return u2(r.data, r.pos-2)
}

// readFrames decodes the StackMapTable.
func (v *Verifier) readFrames() bool {
	t := &v.frameTable
	t.frames, t.locals, t.stacks = t.frames[:0], t.locals[:0], t.stacks[:0]
	t.at = zeroed(t.at, len(v.code))
	v.pc = -1
	f := v.initialFrame()
	t.locals = append(t.locals, v.state.locals[:f.nLocal]...)
	if !v.hasFrames {
		return true
	}
	r := frameReader{data: v.frameInfo}
	f.pc = -1
	for n := r.u2(); n > 0; n-- {
		if !v.readFrame(&r, &f) {
			return false
		}
		if r.bad {
			return v.fail("the StackMapTable is cut off")
		}
		if !v.startsAt(f.pc) {
			return v.fail("there is a frame at pc %d, but no instruction", f.pc)
		}
		t.frames = append(t.frames, f)
		t.at[f.pc] = uint16(len(t.frames))
	}
	if r.pos != len(r.data) {
		return v.fail("there are %d bytes behind the last frame", len(r.data)-r.pos)
	}
	return true
}

// readFrame turns f, which is the frame before, into the next one.
func (v *Verifier) readFrame(r *frameReader, f *frame) bool {
	t := &v.frameTable
	tag := r.u1()
	f.stack, f.nStack = len(t.stacks), 0
	switch {
	case tag < 64: // same
		f.pc += tag + 1
		return true
	case tag < 128: // same_locals_1_stack_item
		f.pc += tag - 64 + 1
		return v.readStack(r, f, 1)
	case tag < 247:
		return v.fail("a frame has the reserved type %d", tag)
	}
	f.pc += r.u2() + 1
	switch {
	case tag == 247:
		return v.readStack(r, f, 1)
	case tag <= 251: // chop, same_extended
		return v.chop(f, 251-tag)
	case tag <= 254:
		return v.readLocals(r, f, tag-251)
	}
	f.locals, f.nLocal, f.uninit = len(t.locals), 0, false
	return v.readLocals(r, f, r.u2()) && v.readStack(r, f, r.u2())
}

// chop takes the last n locals away; a long counts once.
func (v *Verifier) chop(f *frame, n int) bool {
	if n == 0 {
		return true
	}
	locals := v.frameTable.locals[f.locals:]
	for ; n > 0; n-- {
		if f.nLocal == 0 {
			return v.fail("the frame at pc %d chops more locals than there are", f.pc)
		}
		f.nLocal--
		if k := locals[f.nLocal].kind(); (k == kindLong2 || k == kindDouble2) && f.nLocal > 0 {
			f.nLocal--
		}
	}
	f.uninit = false
	for _, t := range locals[:f.nLocal] {
		f.uninit = f.uninit || t.kind() == kindUninitThis
	}
	return v.spend(f.nLocal)
}

// readLocals appends n types to the frame's locals.
func (v *Verifier) readLocals(r *frameReader, f *frame, n int) bool {
	t := &v.frameTable
	if f.locals+f.nLocal != len(t.locals) {
		if len(t.locals)+f.nLocal > maxFrameTypes {
			v.work = maxWork
			return v.spend(1)
		}
		t.locals = append(t.locals, t.locals[f.locals:f.locals+f.nLocal]...)
		f.locals = len(t.locals) - f.nLocal
	}
	before := len(t.locals)
	for ; n > 0; n-- {
		var ok bool
		if t.locals, ok = v.readType(t.locals, r); !ok {
			return false
		}
	}
	for _, t := range t.locals[before:] {
		f.uninit = f.uninit || t.kind() == kindUninitThis
	}
	if f.nLocal += len(t.locals) - before; f.nLocal > v.maxLocals {
		return v.fail("the frame at pc %d has more locals than max_locals, %d", f.pc, v.maxLocals)
	}
	return true
}

// readStack reads the n types of the frame's stack.
func (v *Verifier) readStack(r *frameReader, f *frame, n int) bool {
	t := &v.frameTable
	for ; n > 0; n-- {
		var ok bool
		if t.stacks, ok = v.readType(t.stacks, r); !ok {
			return false
		}
	}
	if f.nStack = len(t.stacks) - f.stack; f.nStack > v.maxStack {
		return v.fail("the frame at pc %d has a deeper stack than max_stack, %d", f.pc, v.maxStack)
	}
	return true
}

// readType appends a verification_type_info's slots.
func (v *Verifier) readType(to []vtype, r *frameReader) ([]vtype, bool) {
	tag := r.u1()
	switch tag {
	case 0:
		return append(to, vtype(kindTop)), !r.bad || v.fail("the StackMapTable is cut off")
	case 1:
		return append(to, vtype(kindInt)), true
	case 2:
		return append(to, vtype(kindFloat)), true
	case 3:
		return append(to, vtype(kindDouble), vtype(kindDouble2)), true
	case 4:
		return append(to, vtype(kindLong), vtype(kindLong2)), true
	case 5:
		return append(to, vtype(kindNull)), true
	case 6:
		return append(to, vtype(kindUninitThis)), true
	case 7:
		index := r.u2()
		t, ok := v.classType(uint16(index))
		if !ok {
			return to, v.fail("a frame has constant #%d as a class", index)
		}
		return append(to, t), true
	case 8:
		pc := r.u2()
		if !v.startsAt(pc) || v.code[pc] != opNew {
			return to, v.fail("a frame has an uninitialised object of pc %d, where there is no new", pc)
		}
		return append(to, uninitialised(pc)), true
	}
	return to, v.fail("a frame has the unknown type %d", tag)
}
