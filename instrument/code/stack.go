package code

import "encoding/binary"

// effects is, for each opcode with a fixed one, how many slots it pops and pushes, as two digits (JVMS §6.5). A dot marks
// those whose effect depends on their operands, on the locals, or on what lies where on the stack.
const effects = "" +
	"00 01 01 01 01 01 01 01 01 02 02 01 01 01 02 02 01 01 01 01 02 " + // nop … ldc2_w
	"01 02 01 02 .. 01 01 01 01 02 02 02 02 01 01 01 01 02 02 02 02 .. .. .. .. " + // loads
	"21 22 21 22 21 21 21 21 " + // array loads
	".. .. .. .. .. .. .. .. .. .. .. .. .. .. .. .. .. .. .. .. .. .. .. .. .. " + // stores
	"30 40 30 40 30 30 30 30 " + // array stores
	"10 20 .. .. .. .. .. .. .. " + // pop … swap
	"21 42 21 42 21 42 21 42 21 42 21 42 21 42 21 42 21 42 21 42 11 22 11 22 " + // add … neg
	"21 32 21 32 21 32 21 42 21 42 21 42 00 " + // shl … xor, iinc
	"12 11 12 21 21 22 11 12 12 21 22 21 11 11 11 41 21 21 41 41 " + // conversions, compares
	"10 10 10 10 10 10 20 20 20 20 20 20 20 20 00 01 .. 10 10 " + // branches, switches
	"10 20 10 20 10 00 " + // returns
	".. .. .. .. .. .. .. .. .. 01 11 11 11 10 11 11 10 10 .. .. 10 10 00 01 " // fields, calls, objects, wide, the rest

// step changes a state by the instruction at its pc; false where the stack is too short or the operand makes no sense.
func (f *Flow) step(s *state) bool {
	op := f.body.Code[s.pc]
	if e := effects[3*int(op):]; e[0] != '.' {
		return s.replace(int(e[0]-'0'), int(e[1]-'0'))
	}
	switch {
	case op >= OpIload && op <= OpAload3:
		return s.load(f.local(s.pc, op, OpAload, OpAload0))
	case op >= 54 && op <= 78:
		return f.store(s, op)
	case op >= OpDup && op <= 95:
		return s.shuffle(op)
	case op >= OpGetstatic && op <= OpPutfield:
		return f.field(s, op)
	case op >= OpInvokevirtual && op <= OpInvokedynamic:
		return f.call(s, op)
	case op == OpMultianewarray:
		return s.replace(int(f.body.Code[s.pc+3]), 1)
	case op == OpWide:
		return f.wide(s)
	}
	return false
}

// replace pops and pushes slots that hold anything but this.
func (s *state) replace(pop, push int) bool {
	if pop > len(s.stack) {
		return false
	}
	s.stack = s.stack[:len(s.stack)-pop]
	for ; push > 0; push-- {
		s.stack = append(s.stack, false)
	}
	return true
}

// local is the local of an aload, whose short forms start at op0.
func (f *Flow) local(pc int, op, long, op0 Opcode) int {
	if op == long {
		return int(f.body.Code[pc+1])
	}
	return int(op - op0)
}

func (s *state) load(local int) bool {
	if local >= len(s.locals) {
		return false
	}
	s.stack = append(s.stack, s.locals[local])
	return true
}

// storeTo pops a value of one or two slots into a local.
func (s *state) storeTo(local, slots int) bool {
	if slots > len(s.stack) || local+slots > len(s.locals) {
		return false
	}
	value := s.stack[len(s.stack)-1]
	s.stack = s.stack[:len(s.stack)-slots]
	s.locals[local] = value && slots == 1
	if slots == 2 {
		s.locals[local+1] = false
	}
	return true
}

// storeSlots is how many slots the five kinds of store pop: int, long, float, double, reference.
var storeSlots = [5]int{1, 2, 1, 2, 1}

func (f *Flow) store(s *state, op Opcode) bool {
	if op <= 58 {
		return s.storeTo(int(f.body.Code[s.pc+1]), storeSlots[op-54])
	}
	return s.storeTo(int(op-59)%4, storeSlots[(op-59)/4])
}

func (f *Flow) wide(s *state) bool {
	op, local := f.body.Code[s.pc+1], int(binary.BigEndian.Uint16(f.body.Code[s.pc+2:]))
	switch {
	case op == OpAload:
		return s.load(local)
	case op >= OpIload && op < OpAload:
		e := effects[3*int(op):]
		return s.replace(0, int(e[1]-'0'))
	case op >= 54 && op <= 58:
		return s.storeTo(local, storeSlots[op-54])
	}
	return op == OpIinc
}

// shuffles is what dup … swap leave of the slots they take, as indices from the bottom of what is taken.
var shuffles = [7]struct {
	take  int
	leave string
}{
	{1, "00"},     // dup
	{2, "101"},    // dup_x1
	{3, "2012"},   // dup_x2
	{2, "0101"},   // dup2
	{3, "12012"},  // dup2_x1
	{4, "230123"}, // dup2_x2
	{2, "10"},     // swap
}

func (s *state) shuffle(op Opcode) bool {
	sh := shuffles[op-OpDup]
	at := len(s.stack) - sh.take
	if at < 0 {
		return false
	}
	var taken [4]bool
	copy(taken[:], s.stack[at:])
	s.stack = s.stack[:at]
	for _, i := range []byte(sh.leave) {
		s.stack = append(s.stack, taken[i-'0'])
	}
	return true
}

func (f *Flow) field(s *state, op Opcode) bool {
	ref, ok := f.pool.Ref(f.operand(s.pc))
	if !ok {
		return false
	}
	n := fieldSlots(ref.Desc)
	switch op {
	case OpGetstatic:
		return s.replace(0, n)
	case OpPutstatic:
		return s.replace(n, 0)
	case OpGetfield:
		return s.replace(1, n)
	}
	return s.replace(n+1, 0)
}

func (f *Flow) call(s *state, op Opcode) bool {
	var desc []byte
	if op == OpInvokedynamic {
		_, nt, _ := f.pool.Pair(f.operand(s.pc))
		_, d, _ := f.pool.Pair(nt)
		desc = f.pool.Utf8(d)
	} else if ref, ok := f.pool.Ref(f.operand(s.pc)); ok {
		desc = ref.Desc
	}
	parameters, result, ok := slotsOf(desc)
	if !ok {
		return false
	}
	if op != OpInvokestatic && op != OpInvokedynamic {
		parameters++ // the receiver
	}
	return s.replace(parameters, result)
}
