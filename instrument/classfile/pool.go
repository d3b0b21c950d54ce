package classfile

import (
	"encoding/binary"
	"fmt"
)

// Tag is a constant's kind (JVMS table 4.4-A).
type Tag uint8

// The tags of JVMS table 4.4-A.
const (
	TagUtf8               Tag = 1
	TagInteger            Tag = 3
	TagFloat              Tag = 4
	TagLong               Tag = 5
	TagDouble             Tag = 6
	TagClass              Tag = 7
	TagString             Tag = 8
	TagFieldref           Tag = 9
	TagMethodref          Tag = 10
	TagInterfaceMethodref Tag = 11
	TagNameAndType        Tag = 12
	TagMethodHandle       Tag = 15
	TagMethodType         Tag = 16
	TagDynamic            Tag = 17
	TagInvokeDynamic      Tag = 18
	TagModule             Tag = 19
	TagPackage            Tag = 20
)

// constantSize is the size of each constant behind its tag; 0 marks tags that don't exist, and Utf8, whose size varies.
var constantSize = [256]uint8{
	TagInteger: 4, TagFloat: 4, TagLong: 8, TagDouble: 8,
	TagClass: 2, TagString: 2, TagMethodType: 2, TagModule: 2, TagPackage: 2,
	TagFieldref: 4, TagMethodref: 4, TagInterfaceMethodref: 4, TagNameAndType: 4, TagDynamic: 4, TagInvokeDynamic: 4,
	TagMethodHandle: 3,
}

// maxPool is the largest constant_pool_count: it is a u2 (JVMS §4.1).
const maxPool = 65535

// Pool is a constant pool (JVMS §4.4): the parsed one, and behind it the constants added since.
type Pool struct {
	data    []byte
	offsets []uint32    // by index: of the tag; 0 where an index has no constant
	known   []Attribute // by index: what a Utf8 names
	end     int         // offset behind the last parsed constant
	added   []byte
	memo    map[string]uint16 // added constants, by their bytes
	classes classIndex        // the CONSTANT_Class of the original pool
}

func (p Pool) reset(data []byte) Pool {
	clear(p.memo)
	return Pool{data: data, offsets: p.offsets[:0], known: p.known[:0], added: p.added[:0], memo: p.memo,
		classes: p.classes.reset()}
}

func (p *Pool) parse(r *reader) {
	count := int(r.u2("constant_pool_count"))
	if r.err != nil {
		return
	}
	if count == 0 {
		r.err = &SyntaxError{r.pos - 2, "constant_pool_count is 0", ErrFormat}
		return
	}
	p.grow(count)
	data, pos := r.data, r.pos
	for i := 1; i < count; i++ {
		if pos+3 > len(data) {
			r.pos = min(pos, len(data))
			r.fail("constant pool")
			return
		}
		tag := Tag(data[pos])
		p.offsets[i] = uint32(pos)
		switch size := int(constantSize[tag]); {
		case tag == TagUtf8:
			n := int(binary.BigEndian.Uint16(data[pos+1:]))
			if pos+3+n > len(data) {
				r.pos = pos
				r.fail("CONSTANT_Utf8")
				return
			}
			p.known[i] = attributeNamed(data[pos+3 : pos+3+n])
			pos += 3 + n
		case size == 0:
			r.err = &SyntaxError{pos, fmt.Sprintf("constant #%d has the unknown tag %d", i, tag), ErrFormat}
			return
		default:
			pos += 1 + size
			if tag == TagLong || tag == TagDouble {
				i++ // JVMS §4.4.5: the next index is unusable
			}
		}
	}
	if pos > len(data) {
		r.pos = len(data)
		r.fail("constant pool")
		return
	}
	r.pos, p.end = pos, pos
}

// grow makes the per-index tables hold count zeroed entries.
func (p *Pool) grow(count int) {
	if cap(p.offsets) < count {
		p.offsets = make([]uint32, count, count+count/4)
		p.known = make([]Attribute, count, count+count/4)
		return
	}
	p.offsets, p.known = p.offsets[:count], p.known[:count]
	clear(p.offsets)
	clear(p.known)
}

// Count is the constant_pool_count: one more than the largest index.
func (p *Pool) Count() int { return len(p.offsets) }

// Original is the constant_pool_count as it was parsed, and the span of the pool's constants in the class file.
func (p *Pool) Original() Span { return Span{10, p.end} }

// Room is how many indices are still free (a long takes two).
func (p *Pool) Room() int { return maxPool - len(p.offsets) }

// constant returns the bytes from the constant's tag on; nil where the index has no constant.
func (p *Pool) constant(i uint16) []byte {
	if int(i) >= len(p.offsets) || p.offsets[i] == 0 {
		return nil
	}
	off := int(p.offsets[i])
	if off < p.end {
		return p.data[off:p.end]
	}
	return p.added[off-p.end:]
}

// Tag is the kind of the constant at an index; 0 where there is none.
func (p *Pool) Tag(i uint16) Tag {
	if c := p.constant(i); c != nil {
		return Tag(c[0])
	}
	return 0
}

// Constant returns a constant's bytes, tag included; nil where the index has no constant.
func (p *Pool) Constant(i uint16) []byte {
	c := p.constant(i)
	if c == nil {
		return nil
	}
	if Tag(c[0]) == TagUtf8 {
		return c[:3+int(binary.BigEndian.Uint16(c[1:]))]
	}
	return c[:1+int(constantSize[c[0]])]
}

// Utf8 returns the bytes of a CONSTANT_Utf8, in the modified UTF-8 of JVMS §4.4.7; nil where the index isn't one.
func (p *Pool) Utf8(i uint16) []byte {
	c := p.constant(i)
	if c == nil || Tag(c[0]) != TagUtf8 {
		return nil
	}
	return c[3 : 3+int(binary.BigEndian.Uint16(c[1:])) : 3+int(binary.BigEndian.Uint16(c[1:]))]
}

// ClassName returns the internal name in a CONSTANT_Class; nil where the index isn't one.
func (p *Pool) ClassName(i uint16) []byte {
	c := p.constant(i)
	if c == nil || Tag(c[0]) != TagClass {
		return nil
	}
	return p.Utf8(binary.BigEndian.Uint16(c[1:]))
}

// Pair returns the two u2 of a Fieldref, Methodref, InterfaceMethodref, NameAndType, Dynamic or InvokeDynamic.
func (p *Pool) Pair(i uint16) (a, b uint16, ok bool) {
	c := p.constant(i)
	if c == nil {
		return 0, 0, false
	}
	switch Tag(c[0]) {
	case TagFieldref, TagMethodref, TagInterfaceMethodref, TagNameAndType, TagDynamic, TagInvokeDynamic:
		return binary.BigEndian.Uint16(c[1:]), binary.BigEndian.Uint16(c[3:]), true
	}
	return 0, 0, false
}

// Ref is a symbolic reference to a field or method (JVMS §4.4.2).
type Ref struct{ Class, Name, Desc []byte }

// Ref resolves a Fieldref, Methodref or InterfaceMethodref; ok is false where the index isn't a whole one.
func (p *Pool) Ref(i uint16) (ref Ref, ok bool) {
	switch p.Tag(i) {
	case TagFieldref, TagMethodref, TagInterfaceMethodref:
	default:
		return Ref{}, false
	}
	class, nt, _ := p.Pair(i)
	if p.Tag(nt) != TagNameAndType {
		return Ref{}, false
	}
	name, desc, _ := p.Pair(nt)
	ref = Ref{p.ClassName(class), p.Utf8(name), p.Utf8(desc)}
	return ref, ref.Class != nil && ref.Name != nil && ref.Desc != nil
}

// add appends a constant that is not there among the added ones yet. Constants of the original pool are not searched:
// a handful of doubles is cheaper than an index over every class's pool. The caller has made sure of Room.
func (p *Pool) add(constant []byte, slots int) uint16 {
	if i, ok := p.memo[string(constant)]; ok {
		return i
	}
	if p.memo == nil {
		p.memo = make(map[string]uint16)
	}
	i := uint16(len(p.offsets))
	p.memo[string(constant)] = i
	p.append(constant, slots)
	return i
}

func (p *Pool) append(constant []byte, slots int) uint16 {
	i := uint16(len(p.offsets))
	p.offsets = append(p.offsets, uint32(p.end+len(p.added)))
	known := AttrUnknown
	if Tag(constant[0]) == TagUtf8 {
		known = attributeNamed(constant[3:])
	}
	p.known = append(p.known, known)
	if slots == 2 {
		p.offsets, p.known = append(p.offsets, 0), append(p.known, AttrUnknown)
	}
	p.added = append(p.added, constant...)
	return i
}

// AddUtf8 returns the index of an added CONSTANT_Utf8. The string is in modified UTF-8.
func (p *Pool) AddUtf8(s string) uint16 {
	c := binary.BigEndian.AppendUint16([]byte{byte(TagUtf8)}, uint16(len(s)))
	return p.add(append(c, s...), 1)
}

// AddClass returns the index of a CONSTANT_Class with an internal name, adding it if the class file has none yet. Room
// for two constants must be there.
func (p *Pool) AddClass(name string) uint16 {
	if i := p.classes.find(p, name); i != 0 {
		return i
	}
	return p.add(binary.BigEndian.AppendUint16([]byte{byte(TagClass)}, p.AddUtf8(name)), 1)
}

// FindClass returns the index of the parsed CONSTANT_Class with an internal name; 0 where there is none.
func (p *Pool) FindClass(name string) uint16 { return p.classes.find(p, name) }

// AddMethodref returns the index of an added CONSTANT_Methodref.
func (p *Pool) AddMethodref(class, name, desc string) uint16 {
	nt := binary.BigEndian.AppendUint16([]byte{byte(TagNameAndType)}, p.AddUtf8(name))
	nt = binary.BigEndian.AppendUint16(nt, p.AddUtf8(desc))
	ref := binary.BigEndian.AppendUint16([]byte{byte(TagMethodref)}, p.AddClass(class))
	return p.add(binary.BigEndian.AppendUint16(ref, p.add(nt, 1)), 1)
}

// AddLong appends a CONSTANT_Long, which takes two indices, and returns the first.
func (p *Pool) AddLong(v int64) uint16 {
	var c [9]byte
	c[0] = byte(TagLong)
	binary.BigEndian.PutUint64(c[1:], uint64(v))
	return p.append(c[:], 2)
}

// Mark remembers how much has been added, for Rollback.
type Mark struct{ count, bytes int }

// Mark returns the present end of the pool.
func (p *Pool) Mark() Mark { return Mark{len(p.offsets), len(p.added)} }

// Rollback takes back what was added since the mark, for a method that turned out not to be rewritable.
func (p *Pool) Rollback(m Mark) {
	if len(p.offsets) == m.count {
		return
	}
	p.offsets, p.known, p.added = p.offsets[:m.count], p.known[:m.count], p.added[:m.bytes]
	for c, i := range p.memo {
		if int(i) >= m.count {
			delete(p.memo, c)
		}
	}
}
