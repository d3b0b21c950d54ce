package verify

import (
	"encoding/binary"

	"github.com/jiffyperf/jiffy/instrument/classfile"
)

// allocates checks new, the array instructions, checkcast and instanceof: those with a class and a single result.
func (v *Verifier) allocates() bool {
	switch op := v.code[v.pc]; instructions[op].shape {
	case length:
		t, ok := v.popReference()
		if ok && t.kind() != kindNull && t.kind() != kindArray {
			return v.fail("arraylength of %s", v.text(t))
		}
		return ok && v.push(vtype(kindInt))
	case array:
		return v.newArray(op)
	case cast:
		t, ok := v.classOperand()
		if !ok || !v.popType(typeObject) {
			return false
		}
		if op != opCheckcast {
			t = vtype(kindInt)
		}
		return v.push(t)
	}
	t, ok := v.classOperand()
	if ok && t.kind() != kindObject {
		return v.fail("new of the array %s", v.text(t))
	}
	return ok && v.push(uninitialised(v.pc))
}

// classOperand is the class that an instruction names.
func (v *Verifier) classOperand() (vtype, bool) {
	index := uint16(u2(v.code, v.pc+1))
	t, ok := v.classType(index)
	if !ok {
		return 0, v.badConstant(index)
	}
	return t, true
}

// primitiveElements are the descriptors of newarray's element types, from 4 on (JVMS table 6.5.newarray-A).
const primitiveElements = "ZCFDBSIJ"

func (v *Verifier) newArray(op byte) bool {
	if op == opNewarray {
		which := int(v.code[v.pc+1]) - 4
		if which < 0 || which >= len(primitiveElements) {
			return v.fail("newarray of the unknown type %d", which+4)
		}
		return v.popType(vtype(kindInt)) && v.push(primitiveArray(primitiveElements[which]))
	}
	t, ok := v.classOperand()
	if !ok {
		return false
	}
	if op == opAnewarray {
		if t.dims() == 255 {
			return v.fail("an array of more than 255 dimensions")
		}
		return v.popType(vtype(kindInt)) && v.push(arrayOf(t, 1))
	}
	dims := int(v.code[v.pc+3])
	if t.kind() != kindArray || dims == 0 || dims > t.dims() {
		return v.fail("multianewarray of %d dimensions of %s", dims, v.text(t))
	}
	for range dims {
		if !v.popType(vtype(kindInt)) {
			return false
		}
	}
	return v.push(t)
}

// member is a resolved operand of a field or invoke instruction.
type member struct {
	owner      vtype
	name, desc uint16 // CONSTANT_Utf8
	tag        classfile.Tag

	result      vtype // a field's type, and how many slots it takes
	slots       int
	initialises bool // a constructor
}

// memberOperand resolves a Fieldref, Methodref, InterfaceMethodref or InvokeDynamic as far as its names.
func (v *Verifier) memberOperand(index uint16) (m member, ok bool) {
	m.tag = v.pool.Tag(index)
	if m.name, m.desc, ok = v.nameAndType(index); !ok || v.pool.Utf8(m.name) == nil {
		return m, false
	}
	if m.tag != classfile.TagInvokeDynamic {
		owner, _, _ := v.pool.Pair(index)
		m.owner, ok = v.classType(owner)
	}
	return m, ok
}

// fieldOperand resolves the operand of a field instruction.
func (v *Verifier) fieldOperand() (m member, ok bool) {
	index := uint16(u2(v.code, v.pc+1))
	if m, ok = v.memberOperand(index); !ok || m.tag != classfile.TagFieldref {
		return m, v.badConstant(index)
	}
	desc, next := v.pool.Utf8(m.desc), 0
	if m.result, m.slots, next = descriptorType(m.desc, desc, 0); next != len(desc) {
		return m, v.fail("a field with the malformed descriptor %q", desc)
	}
	return m, true
}

func (v *Verifier) field() bool {
	m, ok := v.fieldOperand()
	if !ok {
		return false
	}
	both := [2]vtype{m.result, m.result + 1}
	slots := both[:m.slots]
	switch v.code[v.pc] {
	case opGetstatic:
		return v.pushAll(slots)
	case opPutstatic:
		return v.popAll(slots)
	}
	if m.owner.kind() == kindArray {
		return v.fail("a field of the array %s", v.text(m.owner))
	}
	if v.code[v.pc] == opGetfield {
		return v.popType(m.owner) && v.pushAll(slots)
	}
	if !v.popAll(slots) {
		return false
	}
	// A constructor may set the class's own fields before it calls super() (JVMS §4.10.1.9.putfield).
	if s := &v.state; s.sp > 0 && s.stack[s.sp-1] == vtype(kindUninitThis) && v.same(m.owner, v.this) && v.declares(m) {
		s.sp--
		return true
	}
	return v.popType(m.owner)
}

// declares reports whether the class itself has a field.
func (v *Verifier) declares(m member) bool {
	data, pos := v.class.Data, v.class.Interfaces.End
	name, desc := string(v.pool.Utf8(m.name)), string(v.pool.Utf8(m.desc))
	n := u2(data, pos)
	for pos += 2; n > 0 && v.spend(1); n-- {
		if string(v.pool.Utf8(uint16(u2(data, pos+2)))) == name && string(v.pool.Utf8(uint16(u2(data, pos+4)))) == desc {
			return true
		}
		attributes := u2(data, pos+6)
		for pos += 8; attributes > 0; attributes-- {
			pos += 6 + int(binary.BigEndian.Uint32(data[pos+2:]))
		}
	}
	return false
}

// callOperand resolves the operand of an invoke instruction and leaves its descriptor in v.args and v.result.
func (v *Verifier) callOperand() (m member, ok bool) {
	op, index := v.code[v.pc], uint16(u2(v.code, v.pc+1))
	if m, ok = v.memberOperand(index); !ok || !v.invokable(op, m.tag) {
		return m, v.badConstant(index)
	}
	desc := v.pool.Utf8(m.desc)
	if !v.methodType(m.desc, desc) {
		return m, v.fail("a call with the malformed descriptor %q", desc)
	}
	if name := v.pool.Utf8(m.name); len(name) > 0 && name[0] == '<' {
		m.initialises = string(name) == "<init>"
		if !m.initialises || op != opInvokespecial || m.tag != classfile.TagMethodref || len(v.result) > 0 {
			return m, v.fail("a call of the internal method %s%s", name, desc)
		}
	}
	return m, v.callBytes(op)
}

func (v *Verifier) invoke() bool {
	m, ok := v.callOperand()
	if !ok || !v.popAll(v.args) {
		return false
	}
	switch v.code[v.pc] {
	case opInvokevirtual, opInvokeinterface:
		ok = v.popType(m.owner)
	case opInvokespecial:
		if m.initialises {
			return v.initialises(m.owner)
		}
		ok = v.callsSuper(m) && v.popType(v.this)
	}
	return ok && v.pushAll(v.result)
}

// invokable reports whether an invoke instruction takes a kind of constant.
func (v *Verifier) invokable(op byte, tag classfile.Tag) bool {
	switch op {
	case opInvokevirtual:
		return tag == classfile.TagMethodref
	case opInvokeinterface:
		return tag == classfile.TagInterfaceMethodref
	case opInvokedynamic:
		return tag == classfile.TagInvokeDynamic && v.class.Major >= indySince
	}
	return tag == classfile.TagMethodref || tag == classfile.TagInterfaceMethodref && v.class.Major >= staticInIface
}

// callBytes checks the bytes behind the index of invokeinterface and invokedynamic.
func (v *Verifier) callBytes(op byte) bool {
	switch op {
	case opInvokeinterface:
		if int(v.code[v.pc+3]) != len(v.args)+1 {
			return v.fail("invokeinterface counts %d slots of arguments, there are %d", v.code[v.pc+3], len(v.args)+1)
		}
		if v.code[v.pc+4] != 0 {
			return v.fail("the last byte of invokeinterface is not zero")
		}
	case opInvokedynamic:
		if v.code[v.pc+3] != 0 || v.code[v.pc+4] != 0 {
			return v.fail("the last two bytes of invokedynamic are not zero")
		}
	}
	return true
}

// callsSuper checks the class of an invokespecial: this one, a superclass, or a direct superinterface.
func (v *Verifier) callsSuper(m member) bool {
	if v.same(m.owner, v.this) || v.same(m.owner, v.super) {
		return true
	}
	if m.owner.kind() != kindObject {
		return v.fail("invokespecial of a method of the array %s", v.text(m.owner))
	}
	interfaces := v.class.Bytes(v.class.Interfaces)
	for at := 0; at < len(interfaces); at += 2 {
		if t, ok := v.classType(uint16(u2(interfaces, at))); ok && v.same(t, m.owner) {
			return true
		}
	}
	if m.tag == classfile.TagInterfaceMethodref {
		return v.fail("invokespecial of a method of %s, which is no direct superinterface", v.text(m.owner))
	}
	if !v.assignable(v.this, m.owner) {
		return v.fail("invokespecial of a method of %s, which is no superclass", v.text(m.owner))
	}
	return true
}

// initialises checks a call of a constructor and makes all copies of the object initialised.
func (v *Verifier) initialises(owner vtype) bool {
	old, ok := v.popReference()
	if !ok {
		return false
	}
	now := v.this
	switch old.kind() {
	case kindUninitThis:
		if !v.same(owner, v.this) && !v.same(owner, v.super) {
			return v.fail("a constructor calls the constructor of %s", v.text(owner))
		}
		v.uninit = false
	case kindUninit:
		if now, ok = v.classType(uint16(u2(v.code, old.newPC()+1))); !ok || !v.same(now, owner) {
			return v.fail("a new %s is initialised by the constructor of %s", v.text(now), v.text(owner))
		}
	default:
		return v.fail("the constructor of %s is called on %s", v.text(owner), v.text(old))
	}
	s := &v.state
	for i, t := range s.locals[:s.high] {
		if t == old {
			s.locals[i], s.moved = now, true
		}
	}
	for i, t := range s.stack[:s.sp] {
		if t == old {
			s.stack[i] = now
		}
	}
	// HotSpot looks at the handlers once more here, with the object initialised. No handler of a super() call passes both.
	return v.spend(s.high+len(v.rows)/8) && (!s.moved || !v.handled() || v.checkHandlers())
}

// handled reports whether a handler covers this instruction.
func (v *Verifier) handled() bool {
	for at := 0; at < len(v.rows); at += 8 {
		if v.pc >= u2(v.rows, at) && v.pc < u2(v.rows, at+2) {
			return true
		}
	}
	return false
}
