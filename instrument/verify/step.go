package verify

import "github.com/jiffyperf/jiffy/instrument/classfile"

// step checks one instruction and makes its changes to the state (JVMS §4.10.1.9).
func (v *Verifier) step(in *instruction) bool {
	switch in.shape {
	case load:
		return v.load(in, v.localOperand(in, v.pc))
	case store:
		return v.store(in, v.localOperand(in, v.pc))
	case iinc:
		return v.local(int(v.code[v.pc+1]), vtype(kindInt))
	case branch:
		return v.replace(in) && v.reaches(v.pc+s2(v.code, v.pc+1))
	case branchRef:
		return v.branchRef(in)
	case jump:
		return v.reaches(v.pc + v.offset())
	case table, lookup:
		return v.switches(in)
	case exit:
		return v.exits(in)
	case field:
		return v.field()
	case invoke:
		return v.invoke()
	case shuffle:
		return v.shuffle()
	case element:
		return v.element(in)
	case setElement:
		return v.setElement(in)
	case throw:
		return v.popType(typeThrowable)
	case monitor:
		_, ok := v.popReference()
		return ok
	case constant:
		return v.constant()
	case wide:
		return v.wide()
	case jsr, ret:
		return v.fail("%s is not allowed since version %d", in.name, framesBinding)
	}
	return v.allocates()
}

func s2(b []byte, at int) int { return int(int16(u2(b, at))) }

// offset is the operand of goto, jsr and their wide forms.
func (v *Verifier) offset() int {
	if v.code[v.pc] >= opGotoW {
		return s4(v.code, v.pc+1)
	}
	return s2(v.code, v.pc+1)
}

// localOperand is the local variable of the load or store at pc, in its short or one-byte form.
func (v *Verifier) localOperand(in *instruction, pc int) int {
	if in.local >= 0 {
		return int(in.local)
	}
	return int(v.code[pc+1])
}

func (v *Verifier) wide() bool {
	in, local := &instructions[v.code[v.pc+1]], u2(v.code, v.pc+2)
	switch in.shape {
	case load:
		return v.load(in, local)
	case store:
		return v.store(in, local)
	case iinc:
		return v.local(local, vtype(kindInt))
	}
	return v.fail("wide %s is not allowed since version %d", in.name, framesBinding)
}

// local checks that a local variable exists and has a type.
func (v *Verifier) local(i int, want vtype) bool {
	if i >= len(v.state.locals) {
		return v.fail("there is no local %d, max_locals is %d", i, v.maxLocals)
	}
	if got := v.state.locals[i]; got != want {
		return v.fail("local %d is %s, not %s", i, v.text(got), v.text(want))
	}
	return true
}

func (v *Verifier) load(in *instruction, i int) bool {
	if in.push[0] == vtype(kindTop) {
		if i >= len(v.state.locals) {
			return v.fail("there is no local %d, max_locals is %d", i, v.maxLocals)
		}
		t := v.state.locals[i]
		if !t.reference() {
			return v.fail("local %d is %s, not a reference", i, v.text(t))
		}
		return v.push(t)
	}
	for k := range int(in.pushes) {
		if !v.local(i+k, in.push[k]) {
			return false
		}
	}
	return v.pushAll(in.push[:in.pushes])
}

func (v *Verifier) store(in *instruction, i int) bool {
	t := in.pop[0]
	if t == vtype(kindTop) {
		var ok bool
		if t, ok = v.popReference(); !ok {
			return false
		}
	} else if !v.popAll(in.pop[:in.pops]) {
		return false
	}
	s, n := &v.state, int(in.pops)
	if i+n > len(s.locals) {
		return v.fail("there is no local %d, max_locals is %d", i+n-1, v.maxLocals)
	}
	// Half of an overwritten long may stay behind: nothing reads a long, and no frame has one, but with both halves.
	s.locals[i] = t
	if n == 2 {
		s.locals[i+1] = in.pop[1]
	}
	s.high, s.moved = max(s.high, i+n), true
	return true
}

func (v *Verifier) branchRef(in *instruction) bool {
	for range in.pops {
		if _, ok := v.popReference(); !ok {
			return false
		}
	}
	return v.reaches(v.pc + s2(v.code, v.pc+1))
}

// strictPadding is the last class-file version whose switches must be padded with zeros.
const strictPadding = 50

func (v *Verifier) switches(in *instruction) bool {
	if !v.replace(in) {
		return false
	}
	at := (v.pc + 4) &^ 3
	for i := v.pc + 1; i < at; i++ {
		if v.code[i] != 0 && v.class.Major <= strictPadding {
			return v.fail("%s is padded with something else than zeros", in.name)
		}
	}
	if !v.reaches(v.pc + s4(v.code, at)) {
		return false
	}
	if in.shape == table {
		n := s4(v.code, at+8) - s4(v.code, at+4) + 1
		for k := range n {
			if !v.reaches(v.pc + s4(v.code, at+12+4*k)) {
				return false
			}
		}
		return true
	}
	for k := range s4(v.code, at+4) {
		row := at + 8 + 8*k
		if k > 0 && s4(v.code, row-8) >= s4(v.code, row) {
			return v.fail("the cases of a lookupswitch are not in ascending order")
		}
		if !v.reaches(v.pc + s4(v.code, row+4)) {
			return false
		}
	}
	return true
}

func (v *Verifier) exits(in *instruction) bool {
	if in.pops == 0 {
		if len(v.returns) > 0 {
			return v.fail("return in a method that returns %s", v.text(v.returns[0]))
		}
		if v.uninit && v.constructor() {
			return v.fail("the constructor returns before it has called super() or this()")
		}
		return true
	}
	if len(v.returns) == 0 {
		return v.fail("%s in a method that returns nothing", in.name)
	}
	if in.pop[0] != vtype(kindTop) {
		if in.pop[0] != v.returns[0] {
			return v.fail("%s in a method that returns %s", in.name, v.text(v.returns[0]))
		}
		return v.popAll(in.pop[:in.pops])
	}
	t, ok := v.popReference()
	if ok && t != v.returns[0] && !v.assignable(t, v.returns[0]) {
		return v.fail("areturn of %s in a method that returns %s", v.text(t), v.text(v.returns[0]))
	}
	return ok
}

// shuffles tells, by opcode from pop on, how many slots of the stack an instruction looks at, in which groups that must not
// cut through a long, and which of them are there afterwards, the lowest first.
var shuffles = [...]struct {
	groups []int // from the top
	result []int // depths below the old top: 0 is the topmost slot
}{
	{[]int{1}, nil},                        // pop
	{[]int{2}, nil},                        // pop2
	{[]int{1}, []int{0, 0}},                // dup
	{[]int{1, 1}, []int{0, 1, 0}},          // dup_x1
	{[]int{1, 2}, []int{0, 2, 1, 0}},       // dup_x2
	{[]int{2}, []int{1, 0, 1, 0}},          // dup2
	{[]int{2, 1}, []int{1, 0, 2, 1, 0}},    // dup2_x1
	{[]int{2, 2}, []int{1, 0, 3, 2, 1, 0}}, // dup2_x2
	{[]int{1, 1}, []int{0, 1}},             // swap
}

func (v *Verifier) shuffle() bool {
	s, op := &v.state, v.code[v.pc]
	if op == opDup && s.sp > 0 && s.stack[s.sp-1].single() {
		return v.push(s.stack[s.sp-1])
	}
	how := &shuffles[op-opPop]
	var old [4]vtype
	depth := 0
	for _, size := range how.groups {
		if s.sp < depth+size {
			return v.underflow(&instructions[op])
		}
		for range size {
			old[depth] = s.stack[s.sp-1-depth]
			depth++
		}
		if top, low := old[depth-size], old[depth-1]; !whole(top, low, size) {
			return v.fail("%s would take %s from the stack apart", instructions[op].name, v.text(top))
		}
	}
	if s.sp += len(how.result) - depth; s.sp > len(s.stack) {
		return v.overflow()
	}
	for i, from := range how.result {
		s.stack[s.sp-len(how.result)+i] = old[from]
	}
	return true
}

// whole reports whether one or two slots hold whole values.
func whole(top, low vtype, size int) bool {
	if top.single() {
		return low.single()
	}
	return size == 2 && (top.kind() == kindLong2 || top.kind() == kindDouble2)
}

// elementOf is what the array of a load or store of an element may hold, by the opcode's distance from the first: the
// characters of descriptors; aaload's is not among them.
var elementOf = [...]string{"I", "J", "F", "D", "", "BZ", "C", "S"}

// isArrayOf checks that t may be the array of an instruction.
func (v *Verifier) isArrayOf(t vtype, which int) bool {
	if t.kind() == kindNull {
		return true
	}
	if t.kind() == kindArray {
		want := elementOf[which]
		if want == "" {
			if t.dims() > 1 || !t.ofPrimitives() {
				return true
			}
		} else if t.dims() == 1 && t.ofPrimitives() && (byte(t.offset()) == want[0] || byte(t.offset()) == want[len(want)-1]) {
			return true
		}
	}
	return v.fail("%s finds %s where its array should be", instructions[v.code[v.pc]].name, v.text(t))
}

func (v *Verifier) element(in *instruction) bool {
	if !v.popType(vtype(kindInt)) {
		return false
	}
	t, ok := v.popReference()
	if !ok || !v.isArrayOf(t, int(v.code[v.pc])-opIaload) {
		return false
	}
	if v.code[v.pc] != opAaload {
		return v.pushAll(in.push[:in.pushes])
	}
	if t.kind() != kindNull {
		t = t.component()
	}
	return v.push(t)
}

func (v *Verifier) setElement(in *instruction) bool {
	if v.code[v.pc] == opAastore {
		if !v.popType(typeObject) || !v.popType(vtype(kindInt)) {
			return false
		}
	} else if !v.popAll(in.pop[1:in.pops]) {
		return false
	}
	t, ok := v.popReference()
	return ok && v.isArrayOf(t, int(v.code[v.pc])-opIastore)
}

// constant checks ldc, ldc_w and ldc2_w.
func (v *Verifier) constant() bool {
	t, n, ok := v.constantOperand()
	if !ok {
		return false
	}
	v.args = appendType(v.args[:0], t, n)
	return v.pushAll(v.args)
}

// constantOperand is the type of the constant that the instruction loads, and how many slots it takes.
func (v *Verifier) constantOperand() (t vtype, slots int, ok bool) {
	index := uint16(v.code[v.pc+1])
	if instructions[v.code[v.pc]].length == 3 {
		index = uint16(u2(v.code, v.pc+1))
	}
	slots = 1
	switch v.pool.Tag(index) {
	case classfile.TagInteger:
		t = vtype(kindInt)
	case classfile.TagFloat:
		t = vtype(kindFloat)
	case classfile.TagString:
		t = typeString
	case classfile.TagClass:
		t = typeClass
	case classfile.TagMethodHandle:
		t = typeHandle
	case classfile.TagMethodType:
		t = typeMethodType
	case classfile.TagLong:
		t, slots = vtype(kindLong), 2
	case classfile.TagDouble:
		t, slots = vtype(kindDouble), 2
	case classfile.TagDynamic:
		_, desc, ok := v.nameAndType(index)
		if !ok {
			return 0, 0, v.badConstant(index)
		}
		text := v.pool.Utf8(desc)
		if t, slots, _ = descriptorType(desc, text, 0); !isField(text) {
			return 0, 0, v.badConstant(index)
		}
	default:
		return 0, 0, v.badConstant(index)
	}
	if (slots == 2) != (v.code[v.pc] == opLdc2W) {
		return 0, 0, v.badConstant(index)
	}
	return t, slots, true
}

// isField reports whether text is a field descriptor.
func isField(text []byte) bool {
	_, _, next := descriptorType(0, text, 0)
	return next == len(text)
}

func (v *Verifier) badConstant(index uint16) bool {
	return v.fail("%s with constant #%d, which is no such constant (tag %d)",
		instructions[v.code[v.pc]].name, index, v.pool.Tag(index))
}

// nameAndType returns the CONSTANT_Utf8 indices behind the NameAndType of a reference or dynamic constant.
func (v *Verifier) nameAndType(index uint16) (name, desc uint16, ok bool) {
	_, nt, ok := v.pool.Pair(index)
	if !ok || v.pool.Tag(nt) != classfile.TagNameAndType {
		return 0, 0, false
	}
	return v.pool.Pair(nt)
}
