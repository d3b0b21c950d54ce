package probe

import (
	"bytes"
	"encoding/binary"

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
	for _, use := range b.Constants {
		at := int(use.At)
		op := b.Code[at-1]
		if op == code.OpLdcW { // which of the two forms is needed depends on the index
			op = code.OpLdc
		}
		sum = hashRun(sum, b.Code, run, at-1)
		sum = mix(sum, uint64(op)^h.constant(use.Index))
		run = at + int(use.Width)
	}
	sum = hashRun(sum, b.Code, run, len(b.Code))
	for row := b.ExceptionTable(); len(row) > 0; row = row[8:] {
		sum = mix(sum, uint64(binary.BigEndian.Uint32(row))<<16|uint64(binary.BigEndian.Uint16(row[4:])))
		sum = mix(sum, h.constant(binary.BigEndian.Uint16(row[6:])))
	}
	return sum
}

// hashRun mixes b[from:to], and its length, into a sum. It may look at bytes behind the end, which don't count.
func hashRun(sum uint64, b []byte, from, to int) uint64 {
	sum ^= uint64(to - from)
	for ; to-from >= 8; from += 8 {
		sum = mix(sum, binary.LittleEndian.Uint64(b[from:]))
	}
	if from == to {
		return mix(sum, 0)
	}
	var last uint64
	if from+8 <= len(b) {
		last = binary.LittleEndian.Uint64(b[from:]) & (1<<(8*(to-from)) - 1)
	} else {
		for i := to - 1; i >= from; i-- {
			last = last<<8 | uint64(b[i])
		}
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
	c := h.pool.Constant(i)
	if c == nil {
		return 1
	}
	tag := classfile.Tag(c[0])
	sum := uint64(tag)
	switch tag {
	case classfile.TagUtf8:
		name := foldLambda(c[3:])
		sum = hashRun(sum, name, 0, len(name))
	case classfile.TagClass, classfile.TagString, classfile.TagMethodType, classfile.TagModule, classfile.TagPackage:
		sum = mix(sum, h.constant(binary.BigEndian.Uint16(c[1:])))
	case classfile.TagFieldref, classfile.TagMethodref, classfile.TagInterfaceMethodref, classfile.TagNameAndType:
		sum = mix(mix(sum, h.constant(binary.BigEndian.Uint16(c[1:]))), h.constant(binary.BigEndian.Uint16(c[3:])))
	case classfile.TagMethodHandle:
		sum = mix(mix(sum, uint64(c[1])), h.constant(binary.BigEndian.Uint16(c[2:])))
	case classfile.TagDynamic, classfile.TagInvokeDynamic:
		sum = h.bootstrap(mix(sum, h.constant(binary.BigEndian.Uint16(c[3:]))), int(binary.BigEndian.Uint16(c[1:])))
	default:
		sum = hashRun(sum, c, 0, len(c))
	}
	h.known[i] = max(2, sum)
	return h.known[i]
}

// foldLambda takes the number off the name of a lambda's body, lambda$method$7.
func foldLambda(name []byte) []byte {
	if len(name) > 7 && string(name[:7]) == "lambda$" {
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
