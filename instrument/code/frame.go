package code

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/jiffyperf/jiffy/instrument/classfile"
)

// vtype is a verification_type_info (JVMS §4.7.4): the tag in the low byte; above it the constant-pool index of an
// Object, or the pc of an Uninitialized's new instruction.
type vtype uint32

const (
	vTop               vtype = 0
	vInteger           vtype = 1
	vFloat             vtype = 2
	vDouble            vtype = 3
	vLong              vtype = 4
	vUninitializedThis vtype = 6
	vObject            vtype = 7
	vUninitialized     vtype = 8
)

func (t vtype) tag() vtype { return t & 0xFF }
func (t vtype) value() int { return int(t >> 8) }
func objectType(index uint16) vtype {
	return vObject | vtype(index)<<8
}

// slots is how many local variables the type takes.
func (t vtype) slots() int {
	if t == vLong || t == vDouble {
		return 2
	}
	return 1
}

// maxTable bounds a StackMapTable, in bytes: a frame of three bytes that takes a local back is padded to max_locals again,
// so that a small class file could ask for gigabytes.
const maxTable = 4 << 20

// frames re-encodes one StackMapTable. A frame's locals are kept as entries (a long is one), not slots.
type frames struct {
	old     []vtype // locals of the last decoded frame
	slots   int     // that old takes
	last    []vtype // locals of the last written frame
	now     []vtype // scratch: locals of the frame being written
	stack   []vtype
	lastPC  int // offset of the last written frame; -1 before the first
	out     []byte
	written int
}

// Method is what the implicit first frame is made from (JVMS §4.10.1.6).
type Method struct {
	This        uint16 // CONSTANT_Class of the class
	Static      bool
	Constructor bool
	Desc        []byte
}

// begin sets both sides to the method's implicit first frame.
func (f *frames) begin(m Method, pool *classfile.Pool, needed bool) error {
	*f = frames{old: f.old[:0], last: f.last[:0], now: f.now[:0], stack: f.stack[:0], lastPC: -1, out: f.out[:0]}
	if !needed {
		return nil
	}
	if !m.Static {
		this := objectType(m.This)
		if m.Constructor {
			this = vUninitializedThis
		}
		f.old = append(f.old, this)
	}
	if err := f.parameters(m.Desc, pool); err != nil {
		return err
	}
	for _, t := range f.old {
		f.slots += t.slots()
	}
	f.last = append(f.last, f.old...)
	return nil
}

// parameters appends the types of a method descriptor's parameters (JVMS §4.3.3).
func (f *frames) parameters(desc []byte, pool *classfile.Pool) error {
	bad := func() error { return &PCError{0, "method descriptor", ErrMalformed} }
	if len(desc) == 0 || desc[0] != '(' {
		return bad()
	}
	for i := 1; i < len(desc); {
		start := i
		for i < len(desc) && desc[i] == '[' {
			i++
		}
		if i >= len(desc) {
			return bad()
		}
		var name []byte
		if desc[i] == 'L' {
			end := i + bytes.IndexByte(desc[i:], ';')
			if end < i {
				return bad()
			}
			name = desc[start : end+1] // an array's constant has its descriptor, a class's its bare name
			if start == i {
				name = desc[start+1 : end]
			}
			i = end + 1
		} else {
			i++
			name = desc[start:i]
		}
		switch desc[start] {
		case ')':
			return nil
		case 'Z', 'B', 'C', 'S', 'I':
			f.old = append(f.old, vInteger)
		case 'F':
			f.old = append(f.old, vFloat)
		case 'J':
			f.old = append(f.old, vLong)
		case 'D':
			f.old = append(f.old, vDouble)
		case 'L', '[':
			if pool.Room() < 2 {
				return ErrPoolFull
			}
			f.old = append(f.old, objectType(pool.AddClassBytes(name)))
		default:
			return bad()
		}
	}
	return bad()
}

// rewrite moves every frame of a StackMapTable: each keeps its locals, padded with TOP up to the original max_locals, and
// gets the plan's longs behind them. Detours get frames in between.
func (f *frames) rewrite(info []byte, b *Body, l *layout, longs int) error {
	detours := l.detours
	var saved map[int]savedFrame
	if len(detours) > 0 {
		var err error
		if saved, err = f.saveTargets(info, b, l); err != nil {
			return err
		}
	}
	writeDetours := func(before int) {
		for len(detours) > 0 && detours[0].at < before {
			f.detour(saved[detours[0].target], detours[0].at, b.MaxLocals, longs)
			detours = detours[1:]
		}
	}
	err := f.each(info, b, l, func(pc int) {
		writeDetours(l.land(pc))
		f.write(l.land(pc), b.MaxLocals-f.slots, longs)
	})
	writeDetours(l.newLen)
	if err == nil && len(f.out) > maxTable {
		return &PCError{0, "StackMapTable over 4 MB", ErrTooLarge}
	}
	return err
}

// each decodes the frames one after another and visits each with its old pc.
func (f *frames) each(info []byte, b *Body, l *layout, visit func(pc int)) error {
	if len(info) < 2 {
		return &PCError{0, "StackMapTable is truncated", ErrMalformed}
	}
	d := frameDecoder{data: info[2:], body: b}
	pc := -1
	for n := int(binary.BigEndian.Uint16(info)); n > 0; n-- {
		delta, err := f.decode(&d, l)
		if err != nil {
			return err
		}
		pc += delta + 1
		if !b.StartsAt(pc) {
			return &PCError{pc, "StackMapTable frame between instructions", ErrMalformed}
		}
		if f.slots > b.MaxLocals {
			return &PCError{pc, "StackMapTable frame with more than max_locals", ErrMalformed}
		}
		visit(pc)
	}
	if len(d.data) != 0 {
		return &PCError{pc, "bytes behind the last StackMapTable frame", ErrMalformed}
	}
	return nil
}

// handler writes the frame of an appended handler: nothing is known of the locals but the plan's longs.
func (f *frames) handler(pc, maxLocals, longs int, throwable vtype) {
	f.old, f.slots = f.old[:0], 0
	f.stack = append(f.stack[:0], throwable)
	f.write(pc, maxLocals, longs)
}

// frameDecoder reads verification types, and moves the pcs in them.
type frameDecoder struct {
	data []byte
	body *Body
	bad  bool
}

func (d *frameDecoder) u1() int {
	if len(d.data) < 1 {
		d.bad = true
		return 0
	}
	v := d.data[0]
	d.data = d.data[1:]
	return int(v)
}

func (d *frameDecoder) u2() int {
	if len(d.data) < 2 {
		d.bad = true
		return 0
	}
	v := binary.BigEndian.Uint16(d.data)
	d.data = d.data[2:]
	return int(v)
}

func (d *frameDecoder) types(to []vtype, n int, l *layout) []vtype {
	for ; n > 0 && !d.bad; n-- {
		t := vtype(d.u1())
		switch {
		case t == vObject:
			t |= vtype(d.u2()) << 8
		case t == vUninitialized:
			pc := d.u2()
			if !d.body.StartsAt(pc) {
				d.bad = true
				return to
			}
			t |= vtype(l.instruction(pc)) << 8 // HotSpot looks for the new instruction there
		case t > vUninitialized:
			d.bad = true
		}
		to = append(to, t)
	}
	return to
}

// decode reads one frame into old and stack, and returns its offset_delta.
func (f *frames) decode(d *frameDecoder, l *layout) (delta int, err error) {
	f.stack = f.stack[:0]
	switch tag := d.u1(); {
	case tag < 64: // same_frame
		delta = tag
	case tag < 128: // same_locals_1_stack_item_frame
		delta = tag - 64
		f.stack = d.types(f.stack, 1, l)
	case tag < 247:
		return 0, ErrFrame
	case tag == 247: // same_locals_1_stack_item_frame_extended
		delta = d.u2()
		f.stack = d.types(f.stack, 1, l)
	case tag < 251: // chop_frame
		delta = d.u2()
		if n := 251 - tag; n <= len(f.old) {
			f.drop(n)
		} else {
			d.bad = true
		}
	case tag == 251: // same_frame_extended
		delta = d.u2()
	case tag < 255: // append_frame
		delta = d.u2()
		f.grow(d, tag-251, l)
	default: // full_frame
		delta = d.u2()
		f.drop(len(f.old))
		f.grow(d, d.u2(), l)
		f.stack = d.types(f.stack, d.u2(), l)
	}
	if d.bad {
		return 0, &PCError{0, "StackMapTable", ErrMalformed}
	}
	return delta, nil
}

func (f *frames) drop(n int) {
	keep := len(f.old) - n
	for _, t := range f.old[keep:] {
		f.slots -= t.slots()
	}
	f.old = f.old[:keep]
}

func (f *frames) grow(d *frameDecoder, n int, l *layout) {
	from := len(f.old)
	f.old = d.types(f.old, n, l)
	for _, t := range f.old[from:] {
		f.slots += t.slots()
	}
}

// write encodes a frame at a new pc in the smallest form there is (JVMS §4.7.4).
func (f *frames) write(pc, tops, longs int) {
	if len(f.out) > maxTable {
		return
	}
	f.now = append(f.now[:0], f.old...)
	for ; tops > 0 && longs > 0; tops-- { // without longs behind them, TOPs say nothing
		f.now = append(f.now, vTop)
	}
	for ; longs > 0; longs-- {
		f.now = append(f.now, vLong)
	}
	delta := pc - f.lastPC - 1
	f.lastPC = pc
	f.written++
	now, last := f.now, f.last
	grown := len(now) - len(last)
	switch {
	case len(f.stack) <= 1 && slices.Equal(now, last):
		f.writeSame(delta)
	case len(f.stack) == 0 && grown > 0 && grown <= 3 && slices.Equal(now[:len(last)], last):
		f.head(251+grown, delta)
		f.types(now[len(last):])
	case len(f.stack) == 0 && grown < 0 && grown >= -3 && slices.Equal(now, last[:len(now)]):
		f.head(251+grown, delta)
	default:
		f.head(255, delta)
		f.out = binary.BigEndian.AppendUint16(f.out, uint16(len(now)))
		f.types(now)
		f.out = binary.BigEndian.AppendUint16(f.out, uint16(len(f.stack)))
		f.types(f.stack)
	}
	f.last, f.now = f.now, f.last
}

// writeSame writes a frame whose locals didn't change.
func (f *frames) writeSame(delta int) {
	switch {
	case delta < 64:
		f.out = append(f.out, byte(64*len(f.stack)+delta))
	case len(f.stack) == 0:
		f.head(251, delta)
	default:
		f.head(247, delta)
	}
	f.types(f.stack)
}

func (f *frames) head(tag, delta int) {
	f.out = append(f.out, byte(tag))
	f.out = binary.BigEndian.AppendUint16(f.out, uint16(delta))
}

func (f *frames) types(types []vtype) {
	for _, t := range types {
		f.out = append(f.out, byte(t.tag()))
		if t.tag() == vObject || t.tag() == vUninitialized {
			f.out = binary.BigEndian.AppendUint16(f.out, uint16(t.value()))
		}
	}
}
