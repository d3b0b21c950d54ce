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
	shared  []uint16               // added constants that may be asked for again, classes aside
	classes classIndex             // every CONSTANT_Class
	names   [attributeKinds]uint16 // parsed CONSTANT_Utf8 by the attribute that they name
}

func (p Pool) reset(data []byte) Pool {
	return Pool{data: data, offsets: p.offsets[:0], known: p.known[:0], added: p.added[:0], shared: p.shared[:0],
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
			if a := attributeNamed(data[pos+3 : pos+3+n]); a != AttrUnknown {
				p.known[i], p.names[a] = a, uint16(i)
			}
			pos += 3 + n
		case size == 0:
			r.err = &SyntaxError{pos, fmt.Sprintf("constant #%d has the unknown tag %d", i, tag), ErrFormat}
			return
		default:
			pos += 1 + size
			if tag == TagLong || tag == TagDouble {
				if i++; i == count { // JVMS §4.4.5: the next index is unusable
					r.err = &SyntaxError{pos, fmt.Sprintf("constant #%d has no second index", i-1), ErrFormat}
					return
				}
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
	if min(cap(p.offsets), cap(p.known)) < count { // they grow apart when constants are added
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

// add appends a constant, or finds it among those that were added this way. There are a dozen a class, so that looking
// through them beats hashing; and constants of the original pool are not searched, since an index over every class's pool
// costs more than a handful of doubles. The caller has made sure of Room.
func (p *Pool) add(tag Tag, head []byte, tail string) uint16 {
	for _, i := range p.shared {
		if c := p.added[int(p.offsets[i])-p.end:]; Tag(c[0]) == tag && len(c) > len(head)+len(tail) &&
			string(c[1:1+len(head)]) == string(head) && string(c[1+len(head):1+len(head)+len(tail)]) == tail {
			return i
		}
	}
	i := p.append(tag, head, tail)
	p.shared = append(p.shared, i)
	return i
}

func (p *Pool) append(tag Tag, head []byte, tail string) uint16 {
	i := uint16(len(p.offsets))
	p.offsets = append(p.offsets, uint32(p.end+len(p.added)))
	known := AttrUnknown
	if tag == TagUtf8 {
		known = attributeNamed([]byte(tail))
	}
	p.known = append(p.known, known)
	p.added = append(append(append(p.added, byte(tag)), head...), tail...)
	return i
}

// AddUtf8 returns the index of an added CONSTANT_Utf8. The string is in modified UTF-8.
func (p *Pool) AddUtf8(s string) uint16 {
	return p.add(TagUtf8, pair(uint16(len(s))), s)
}

func pair(words ...uint16) []byte {
	b := make([]byte, 0, 4)
	for _, w := range words {
		b = binary.BigEndian.AppendUint16(b, w)
	}
	return b
}

// AttributeName returns the index of a CONSTANT_Utf8 with an attribute's name, adding it if there is none yet.
func (p *Pool) AttributeName(a Attribute) uint16 {
	if i := p.names[a]; i != 0 {
		return i
	}
	return p.AddUtf8(attributeNames[a])
}

// FindClass returns the index of a CONSTANT_Class with an internal name; 0 where there is none.
func (p *Pool) FindClass(name string) uint16 { return find(&p.classes, p, name) }

// AddClass returns the index of a CONSTANT_Class with an internal name, adding it if there is none yet. Room for two
// constants must be there.
func (p *Pool) AddClass(name string) uint16 {
	if i := find(&p.classes, p, name); i != 0 {
		return i
	}
	return p.appendClass(name)
}

// AddClassBytes is AddClass for a name in bytes, which are only copied where the class is new.
func (p *Pool) AddClassBytes(name []byte) uint16 {
	if i := find(&p.classes, p, name); i != 0 {
		return i
	}
	return p.appendClass(string(name))
}

func (p *Pool) appendClass(name string) uint16 {
	utf8 := p.append(TagUtf8, pair(uint16(len(name))), name)
	i := p.append(TagClass, pair(utf8), "")
	p.classes.add(p, i)
	return i
}

// AddMethodref returns the index of an added CONSTANT_Methodref.
func (p *Pool) AddMethodref(class, name, desc string) uint16 {
	nt := p.add(TagNameAndType, pair(p.AddUtf8(name), p.AddUtf8(desc)), "")
	return p.add(TagMethodref, pair(p.AddClass(class), nt), "")
}

// AddLong appends a CONSTANT_Long, which takes two indices, and returns the first.
func (p *Pool) AddLong(v int64) uint16 {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(v))
	i := p.append(TagLong, b[:], "")
	p.offsets, p.known = append(p.offsets, 0), append(p.known, AttrUnknown)
	return i
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
	p.classes.built = false
	for len(p.shared) > 0 && int(p.shared[len(p.shared)-1]) >= m.count {
		p.shared = p.shared[:len(p.shared)-1]
	}
}
