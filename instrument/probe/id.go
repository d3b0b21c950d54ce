package probe

import (
	"encoding/binary"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/jiffyperf/jiffy/instrument/classfile"
	"github.com/jiffyperf/jiffy/instrument/code"
	"github.com/jiffyperf/jiffy/instrument/mapping"
)

const kindMethod = "method"

// row describes the method that the body was parsed from.
func (in *Instrumenter) row(m *classfile.Member, class string) mapping.Row {
	c := &in.class
	name, desc := c.Pool.Utf8(m.Name), c.Pool.Utf8(m.Desc)
	signature := classfile.Text(append(append(in.names[:0], name...), desc...)) // one string for both
	split := strings.LastIndexByte(signature, '(')
	if split < 0 {
		split = len(signature)
	}
	return mapping.Row{
		ID:         in.id(kindMethod, c.Name(), name, desc, 0),
		Kind:       kindMethod,
		Class:      class,
		Method:     signature[:split],
		Descriptor: signature[split:],
		File:       in.file,
		Line:       in.body.FirstLine(),
		Flags:      in.flags(m),
		BodyHash:   in.hasher.hash(&in.body),
		BodySize:   len(in.body.Code),
	}
}

// flags are what a report has to say about a method's numbers.
func (in *Instrumenter) flags(m *classfile.Member) string {
	flags := ""
	add := func(is bool, name string) {
		if is && flags != "" {
			flags += " "
		}
		if is {
			flags += name
		}
	}
	add(m.Access&classfile.AccSynchronized != 0, "synchronized") // the wait for the monitor lies outside the probe
	add(isConstructor(&in.class, m), "constructor")
	add(isSuspend(&in.class, m), "suspend")
	add(in.opts.Exits == ExitsAll && !in.reportsThrown(), "normal-exits")
	return flags
}

// id is the content address of a probe: the first 48 bits of a hash of what it is, so that every class can be rewritten
// alone and base and head of a pull request agree. 0 is taken by the event log.
func (in *Instrumenter) id(kind string, class, method, desc []byte, site int) uint64 {
	s := append(in.names[:0], in.opts.Salt...)
	s = append(append(s, 0), kind...)
	s = append(append(s, 0), class...)
	s = append(append(s, 0), method...)
	s = append(append(s, 0), desc...)
	in.names = binary.BigEndian.AppendUint32(s, uint32(site))
	return max(1, xxhash.Sum64(in.names)>>16)
}

// bodyHasher hashes method bodies so that equal code has an equal hash in every build: constants count by what they are,
// not by their index, and line numbers don't count.
type bodyHasher struct {
	pool  *classfile.Pool
	known []uint64 // by constant-pool index: its hash; 0 not computed yet
}

func (h *bodyHasher) reset(pool *classfile.Pool) {
	h.pool = pool
	n := pool.Count()
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
	sum := uint64(len(b.Code))
	run := 0 // start of the bytes that count as they are
	b.EachConstant(func(at, width int) {
		index := uint16(b.Code[at])
		if width == 2 {
			index = binary.BigEndian.Uint16(b.Code[at:])
		}
		sum = mix(sum, hashBytes(b.Code[run:at]))
		sum = mix(sum, h.constant(index, 0))
		run = at + width
	})
	return mix(sum, hashBytes(b.Code[run:]))
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

// maxConstantDepth is deeper than constants can refer to each other: a Dynamic, its NameAndType, a Utf8.
const maxConstantDepth = 6

// constant hashes a constant with all that it refers to.
func (h *bodyHasher) constant(i uint16, depth int) uint64 {
	if int(i) >= len(h.known) || depth > maxConstantDepth {
		return 0
	}
	if h.known[i] != 0 {
		return h.known[i]
	}
	sum := uint64(h.pool.Tag(i))
	switch h.pool.Tag(i) {
	case classfile.TagClass, classfile.TagString, classfile.TagMethodType, classfile.TagModule, classfile.TagPackage:
		sum = mix(sum, h.constant(binary.BigEndian.Uint16(h.pool.Constant(i)[1:]), depth+1))
	case classfile.TagFieldref, classfile.TagMethodref, classfile.TagInterfaceMethodref, classfile.TagNameAndType:
		a, b, _ := h.pool.Pair(i)
		sum = mix(mix(sum, h.constant(a, depth+1)), h.constant(b, depth+1))
	case classfile.TagMethodHandle:
		handle := h.pool.Constant(i)
		sum = mix(mix(sum, uint64(handle[1])), h.constant(binary.BigEndian.Uint16(handle[2:]), depth+1))
	case classfile.TagDynamic, classfile.TagInvokeDynamic:
		_, b, _ := h.pool.Pair(i) // the first is an index of BootstrapMethods, which other code shifts
		sum = mix(sum, h.constant(b, depth+1))
	default:
		sum = mix(sum, xxhash.Sum64(h.pool.Constant(i)))
	}
	h.known[i] = max(1, sum)
	return h.known[i]
}
