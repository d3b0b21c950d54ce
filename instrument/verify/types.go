package verify

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/jiffyperf/jiffy/instrument/classfile"
)

// vtype is a verification type (JVMS §4.10.1.2) of one slot: a long is kindLong and, in the slot behind it, kindLong2.
//
// From the low end: 8 bits kind, 8 bits dimensions of an array, 16 bits length, 16 bits offset and 16 bits pool index of
// the class's name, which is a part of a CONSTANT_Utf8; index 0 means wellKnownNames. The elements of an array of a
// primitive have no name: length 0, and the descriptor's character as the offset. An uninitialised object has the pc of its
// new instruction instead of a length.
//
// Two equal vtypes are the same type; two different ones may be, too, since a name can be in the pool more than once.
type vtype uint64

type kind = uint8

// The kinds. Their order decides what takes one slot (from kindInt on) and what is a reference (from kindNull on).
const (
	kindTop kind = iota
	kindLong
	kindLong2
	kindDouble
	kindDouble2
	kindInt
	kindFloat
	kindNull
	kindUninitThis
	kindUninit
	kindObject
	kindArray
)

func (t vtype) kind() kind      { return kind(t) }
func (t vtype) dims() int       { return int(t >> 8 & 0xFF) }
func (t vtype) length() int     { return int(t >> 16 & 0xFFFF) }
func (t vtype) offset() int     { return int(t >> 32 & 0xFFFF) }
func (t vtype) utf8() uint16    { return uint16(t >> 48) }
func (t vtype) newPC() int      { return t.length() }
func (t vtype) single() bool    { return t.kind() >= kindInt }
func (t vtype) reference() bool { return t.kind() >= kindNull }

func uninitialised(pc int) vtype { return vtype(kindUninit) | vtype(pc)<<16 }

func named(utf8 uint16, offset, length int) vtype {
	return vtype(kindObject) | vtype(length)<<16 | vtype(offset)<<32 | vtype(utf8)<<48
}

// arrayOf returns the type of an array with dims more dimensions. The result has at most 255.
func arrayOf(t vtype, dims int) vtype {
	return t&^0xFFFF | vtype(kindArray) | vtype(t.dims()+dims)<<8
}

func primitiveArray(element byte) vtype {
	return vtype(kindArray) | 1<<8 | vtype(element)<<32
}

// ofPrimitives reports whether an array's innermost elements are primitives.
func (t vtype) ofPrimitives() bool { return t.length() == 0 }

// component returns what an array of references holds.
func (t vtype) component() vtype {
	if t.dims() > 1 {
		return t - 1<<8
	}
	return t&^0xFFFF | vtype(kindObject)
}

// name returns a class's internal name, or that of an array's elements.
func (v *Verifier) name(t vtype) []byte {
	from, to := t.offset(), t.offset()+t.length()
	if t.utf8() == 0 {
		return wellKnownNames[from:to]
	}
	return v.pool.Utf8(t.utf8())[from:to]
}

// same reports whether two types are equal.
func (v *Verifier) same(a, b vtype) bool {
	return a == b || uint32(a) == uint32(b) && a.kind() >= kindObject && a.length() != 0 && bytes.Equal(v.name(a), v.name(b))
}

// classType is the type in a CONSTANT_Class.
func (v *Verifier) classType(index uint16) (vtype, bool) {
	c := v.pool.Constant(index)
	if len(c) == 0 || classfile.Tag(c[0]) != classfile.TagClass {
		return 0, false
	}
	utf8 := binary.BigEndian.Uint16(c[1:])
	name := v.pool.Utf8(utf8)
	if len(name) == 0 {
		return 0, false
	}
	if name[0] != '[' {
		return named(utf8, 0, len(name)), true
	}
	t, _, next := descriptorType(utf8, name, 0)
	return t, next == len(name)
}

// descriptorType reads the field descriptor at desc[at] (JVMS §4.3.2): its type in one slot, how many slots it takes, and
// where the next one starts; -1 where there is none.
func descriptorType(utf8 uint16, desc []byte, at int) (t vtype, slots, next int) {
	dims := 0
	for at < len(desc) && desc[at] == '[' {
		at++
		dims++
	}
	if at >= len(desc) || dims > 255 {
		return 0, 0, -1
	}
	slots = 1
	c := desc[at]
	switch c {
	case 'L':
		end := bytes.IndexByte(desc[at:], ';')
		if end < 2 {
			return 0, 0, -1
		}
		t = named(utf8, at+1, end-1)
		if dims > 0 {
			t = arrayOf(t, dims)
		}
		return t, 1, at + end + 1
	case 'I', 'Z', 'B', 'C', 'S':
		t = vtype(kindInt)
	case 'J':
		t, slots = vtype(kindLong), 2
	case 'F':
		t = vtype(kindFloat)
	case 'D':
		t, slots = vtype(kindDouble), 2
	default:
		return 0, 0, -1
	}
	if dims > 0 {
		return arrayOf(primitiveArray(c), dims-1), 1, at + 1
	}
	return t, slots, at + 1
}

// appendType appends a type's slots: one, or for a long and a double two.
func appendType(to []vtype, t vtype, slots int) []vtype {
	if to = append(to, t); slots == 2 {
		to = append(to, t+1) // kindLong2 follows kindLong
	}
	return to
}

// maxParameters is how many slots a method's parameters may take, this included (JVMS §4.3.3).
const maxParameters = 255

// methodType reads a method descriptor into v.args and v.result.
func (v *Verifier) methodType(utf8 uint16, desc []byte) bool {
	v.args, v.result = v.args[:0], v.result[:0]
	if len(desc) < 3 || desc[0] != '(' {
		return false
	}
	at := 1
	for at < len(desc) && desc[at] != ')' && len(v.args) <= maxParameters {
		t, slots, next := descriptorType(utf8, desc, at)
		if next < 0 {
			return false
		}
		v.args, at = appendType(v.args, t, slots), next
	}
	at++
	if at >= len(desc) || len(v.args) > maxParameters {
		return false
	}
	if desc[at] == 'V' {
		return at+1 == len(desc)
	}
	t, slots, next := descriptorType(utf8, desc, at)
	v.result = appendType(v.result, t, slots)
	return next == len(desc)
}

var kindText = [...]string{
	"nothing", "a long", "half a long", "a double", "half a double", "an int", "a float", "null", "uninitialised this",
}

// text is a type for people to read.
func (v *Verifier) text(t vtype) string {
	switch t.kind() {
	case kindUninit:
		return "the uninitialised object of pc " + strconv.Itoa(t.newPC())
	case kindObject:
		return classfile.Text(v.name(t))
	case kindArray:
		brackets := strings.Repeat("[]", t.dims())
		if t.ofPrimitives() {
			return elementNames[byte(t.offset())] + brackets
		}
		return classfile.Text(v.name(t)) + brackets
	}
	return kindText[t.kind()]
}

var elementNames = map[byte]string{
	'Z': "boolean", 'B': "byte", 'C': "char", 'S': "short", 'I': "int", 'J': "long", 'F': "float", 'D': "double",
}
