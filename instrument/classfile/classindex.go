package classfile

import "encoding/binary"

// classIndex finds the CONSTANT_Class of a name in the parsed pool. Frames name the types of a method's parameters, and
// most of those are in the pool already; adding each again would grow every class. Built at the first question, since
// most classes never ask.
type classIndex struct {
	built bool
	slots []uint16 // open addressing; a power of two; 0 is free
}

func (x classIndex) reset() classIndex { return classIndex{slots: x.slots} }

func (x *classIndex) find(p *Pool, name string) uint16 {
	if !x.built {
		x.build(p)
	}
	mask := len(x.slots) - 1
	for h := hashName(name) & mask; ; h = (h + 1) & mask {
		i := x.slots[h]
		if i == 0 || string(p.ClassName(i)) == name {
			return i
		}
	}
}

func (x *classIndex) build(p *Pool) {
	n := 0
	last := len(p.offsets)
	for i := 1; i < last; i++ {
		if p.isOriginalClass(i) {
			n++
		}
	}
	size := 16
	for size < 2*n+2 {
		size *= 2
	}
	if cap(x.slots) < size {
		x.slots = make([]uint16, size)
	} else {
		x.slots = x.slots[:size]
		clear(x.slots)
	}
	x.built = true
	for i := 1; i < last; i++ {
		if p.isOriginalClass(i) {
			x.insert(p, uint16(i))
		}
	}
}

func (x *classIndex) insert(p *Pool, i uint16) {
	name := p.ClassName(i)
	if name == nil {
		return
	}
	mask := len(x.slots) - 1
	h := hashName(string(name)) & mask
	for x.slots[h] != 0 {
		h = (h + 1) & mask
	}
	x.slots[h] = i
}

func (p *Pool) isOriginalClass(i int) bool {
	off := int(p.offsets[i])
	return off != 0 && off < p.end && Tag(p.data[off]) == TagClass
}

// hashName mixes the length and the last eight bytes: class names differ at their ends.
func hashName(name string) int {
	var tail [8]byte
	copy(tail[:], name[max(0, len(name)-8):])
	h := (binary.LittleEndian.Uint64(tail[:]) + uint64(len(name))) * 0x9E3779B97F4A7C15
	return int(h >> 40)
}
