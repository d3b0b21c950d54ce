package probe

import (
	"bytes"
	"encoding/binary"

	"github.com/cespare/xxhash/v2"

	"github.com/jiffyperf/jiffy/instrument/classfile"
	"github.com/jiffyperf/jiffy/instrument/code"
)

// bodyHasher hashes method bodies so that equal code has an equal hash in every build: constants count by what they are,
// not by their index, and line numbers don't count. Neither does the number that javac gives a lambda's body: one more
// lambda in a class shifts them all.
type bodyHasher struct {
	class      *classfile.Class
	pool       *classfile.Pool
	known      []uint64 // by constant-pool index: its hash; 0 not computed yet
	bootstraps []int    // where each bootstrap method's entry starts in the class file
	found      bool     // bootstraps is filled
}

func (h *bodyHasher) reset(c *classfile.Class) {
	h.class, h.pool, h.found, h.bootstraps = c, &c.Pool, false, h.bootstraps[:0]
	n := h.pool.Count()
	if cap(h.known) < n {
		h.known = make([]uint64, n, n+n/4)
		return
	}
	h.known = h.known[:n]
	clear(h.known)
}

const prime = 0x9E3779B97F4A7C15 // 2⁶⁴ divided by the golden ratio

func mix(h, v uint64) uint64 {
	h = (h ^ v) * prime
	return h ^ h>>29
}

func (h *bodyHasher) hash(b *code.Body) uint64 {
	var sum uint64
	run := 0 // start of the bytes that count as they are
	b.EachConstant(func(at, width int) {
		op, index := b.Code[at-1], uint16(b.Code[at])
		if width == 2 {
			index = binary.BigEndian.Uint16(b.Code[at:])
		}
		if op == code.OpLdcW { // which of the two forms is needed depends on the index
			op = code.OpLdc
		}
		sum = mix(sum, hashBytes(b.Code[run:at-1]))
		sum = mix(sum, uint64(op)^h.constant(index))
		run = at + width
	})
	sum = mix(sum, hashBytes(b.Code[run:]))
	for row := b.ExceptionTable(); len(row) > 0; row = row[8:] {
		sum = mix(sum, uint64(binary.BigEndian.Uint32(row))<<16|uint64(binary.BigEndian.Uint16(row[4:])))
		sum = mix(sum, h.constant(binary.BigEndian.Uint16(row[6:])))
	}
	return sum
}

// hashBytes hashes the short runs between constants; long ones are left to xxhash.
func hashBytes(b []byte) uint64 {
	if len(b) > 16 {
		return xxhash.Sum64(b)
	}
	sum := uint64(len(b))
	for len(b) >= 8 {
		sum = mix(sum, binary.LittleEndian.Uint64(b))
		b = b[8:]
	}
	var last uint64
	for _, c := range b {
		last = last<<8 | uint64(c)
	}
	return mix(sum, last)
}

// constant hashes a constant with all that it refers to. Each is looked at once, so that broken pools that refer to
// themselves come to an end.
func (h *bodyHasher) constant(i uint16) uint64 {
	if int(i) >= len(h.known) {
		return 0
	}
	if h.known[i] != 0 {
		return h.known[i]
	}
	h.known[i] = 1
	sum := uint64(h.pool.Tag(i))
	switch h.pool.Tag(i) {
	case classfile.TagUtf8:
		sum = mix(sum, hashBytes(foldLambda(h.pool.Utf8(i))))
	case classfile.TagClass, classfile.TagString, classfile.TagMethodType, classfile.TagModule, classfile.TagPackage:
		sum = mix(sum, h.constant(binary.BigEndian.Uint16(h.pool.Constant(i)[1:])))
	case classfile.TagFieldref, classfile.TagMethodref, classfile.TagInterfaceMethodref, classfile.TagNameAndType:
		a, b, _ := h.pool.Pair(i)
		sum = mix(mix(sum, h.constant(a)), h.constant(b))
	case classfile.TagMethodHandle:
		handle := h.pool.Constant(i)
		sum = mix(mix(sum, uint64(handle[1])), h.constant(binary.BigEndian.Uint16(handle[2:])))
	case classfile.TagDynamic, classfile.TagInvokeDynamic:
		bootstrap, nameAndType, _ := h.pool.Pair(i)
		sum = h.bootstrap(mix(sum, h.constant(nameAndType)), int(bootstrap))
	default:
		sum = mix(sum, xxhash.Sum64(h.pool.Constant(i)))
	}
	h.known[i] = max(2, sum)
	return h.known[i]
}

// foldLambda takes the number off the name of a lambda's body, lambda$method$7.
func foldLambda(name []byte) []byte {
	if bytes.HasPrefix(name, []byte("lambda$")) {
		return bytes.TrimRight(name, "0123456789")
	}
	return name
}

// bootstrap mixes in a bootstrap method with its arguments: a lambda's body and type, the pieces of a concatenation.
func (h *bodyHasher) bootstrap(sum uint64, index int) uint64 {
	if !h.found {
		h.findBootstraps()
	}
	if index >= len(h.bootstraps) {
		return sum
	}
	entry := h.class.Data[h.bootstraps[index]:h.class.Bootstraps.End]
	sum = mix(sum, h.constant(binary.BigEndian.Uint16(entry)))
	for n := int(binary.BigEndian.Uint16(entry[2:])); n > 0; n-- {
		entry = entry[2:]
		sum = mix(sum, h.constant(binary.BigEndian.Uint16(entry[2:])))
	}
	return sum
}

// findBootstraps notes where the whole entries of BootstrapMethods start (JVMS §4.7.23).
func (h *bodyHasher) findBootstraps() {
	h.found = true
	at, end := h.class.Bootstraps.Start+2, h.class.Bootstraps.End
	for at+4 <= end {
		next := at + 4 + 2*int(binary.BigEndian.Uint16(h.class.Data[at+2:]))
		if next > end {
			return
		}
		h.bootstraps = append(h.bootstraps, at)
		at = next
	}
}
