package classfile

import "encoding/binary"

// classIndex finds the CONSTANT_Class of a name. Frames name the types of a method's parameters, and
// most of those are in the pool already; adding each again would grow every class. Built at the first question, since
// most classes never ask.
type classIndex struct {
	built bool
	count int
	slots []uint16 // open addressing; a power of two; 0 is free
}

func (x classIndex) reset() classIndex { return classIndex{slots: x.slots} }

// bytesOrString is a name as somebody happens to have it; asking makes no copy.
type bytesOrString interface{ ~[]byte | ~string }

func find[N bytesOrString](x *classIndex, p *Pool, name N) uint16 {
	if !x.built {
		x.build(p)
	}
	mask := len(x.slots) - 1
	for h := hashName(name) & mask; ; h = (h + 1) & mask {
		i := x.slots[h]
		if i == 0 || string(p.ClassName(i)) == string(name) {
			return i
		}
	}
}

func (x *classIndex) build(p *Pool) {
	*x = classIndex{built: true, slots: x.slots}
	n := 0
	for i := 1; i < len(p.offsets); i++ {
		if p.offsets[i] != 0 && p.Tag(uint16(i)) == TagClass {
			n++
		}
	}
	x.resize(n)
	for i := 1; i < len(p.offsets); i++ {
		if p.offsets[i] != 0 && p.Tag(uint16(i)) == TagClass {
			x.insert(p, uint16(i))
		}
	}
}

// resize empties the table and makes room for twice n classes.
func (x *classIndex) resize(n int) {
	size := 32
	for size < 4*n {
		size *= 2
	}
	if cap(x.slots) < size {
		x.slots = make([]uint16, size)
		return
	}
	x.slots = x.slots[:size]
	clear(x.slots)
}

// add puts a class that was appended to the pool into the table.
func (x *classIndex) add(p *Pool, i uint16) {
	if 2*(x.count+1) > len(x.slots) {
		x.build(p)
		return
	}
	x.insert(p, i)
}

func (x *classIndex) insert(p *Pool, i uint16) {
	name := p.ClassName(i)
	if name == nil {
		return
	}
	mask := len(x.slots) - 1
	h := hashName(name) & mask
	for x.slots[h] != 0 {
		h = (h + 1) & mask
	}
	x.slots[h] = i
	x.count++
}

// hashName mixes the length and the last eight bytes: class names differ at their ends.
func hashName[N bytesOrString](name N) int {
	var tail [8]byte
	copy(tail[:], name[max(0, len(name)-8):])
	h := (binary.LittleEndian.Uint64(tail[:]) + uint64(len(name))) * 0x9E3779B97F4A7C15
	return int(h >> 40)
}
