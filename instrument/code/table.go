package code

import (
	"bytes"
	"encoding/binary"

	"github.com/jiffyperf/jiffy/instrument/classfile"
)

// appendHandlers writes the exception table: the rows there were, in their order, and behind them those of the plan's
// handlers, so that whatever the method catches itself is caught as before.
func (l *layout) appendHandlers(dst []byte, b *Body, own []coveredRange) ([]byte, error) {
	countAt, split := len(dst), unlocks(b)
	dst = append(dst, 0, 0)
	for row := b.handlers; len(row) > 0; row = row[8:] {
		start, end := int(binary.BigEndian.Uint16(row)), int(binary.BigEndian.Uint16(row[2:]))
		to := int(binary.BigEndian.Uint16(row[4:]))
		if start >= end || !b.StartsAt(start) || end != len(b.Code) && !b.StartsAt(end) || !b.StartsAt(to) {
			return nil, &PCError{start, "exception table row", ErrMalformed}
		}
		kind := row[6:8]
		l.kept = append(l.kept[:0], l.boundary(start), l.rangeEnd(end))
		if kind[0]|kind[1] == 0 && split {
			l.kept = l.withoutExits(b, Range{start, end}, l.kept)
		}
		for kept := l.kept; len(kept) > 0; kept = kept[2:] {
			dst = append(appendRow(dst, kept[0], kept[1], l.land(to)), kind...)
		}
	}
	for _, c := range own {
		dst = appendRow(dst, c.start, c.end, c.handler)
		dst = append(dst, 0, 0) // catch_type 0: any
	}
	count := (len(dst) - countAt - 2) / 8
	if count > 0xFFFF {
		return nil, ErrTooLarge
	}
	binary.BigEndian.PutUint16(dst[countAt:], uint16(count))
	return dst, nil
}

// unlocks reports whether the method may release a lock, and has no type annotations, which count rows. An operand can look like
// a monitorexit; that does no harm.
func unlocks(b *Body) bool {
	return len(b.handlers) > 0 && bytes.IndexByte(b.Code, OpMonitorexit) >= 0 &&
		b.attribute(classfile.AttrRuntimeVisibleTypeAnnotations) == nil && b.attribute(classfile.AttrRuntimeInvisibleTypeAnnotations) == nil
}

// withoutExits takes bare code and the return behind it out of the new range of an old catch-any row. Compilers up to javac 1.3 have a
// synchronized block's return, which comes after the monitorexit, inside the range whose handler unlocks. A return can't throw,
// but the call that is now before it can, for want of stack: that handler would release the lock twice. A range of nothing else stays.
func (l *layout) withoutExits(b *Body, old Range, whole []int) []int {
	start, end := whole[0], whole[1]
	to := whole[:0]
	for i := range l.stops {
		s := &l.stops[i]
		if s.bare == 0 || s.pc < old.Start || s.pc >= old.End || !l.reports(s) {
			continue
		}
		if start < s.at {
			to = append(to, start, s.at)
		}
		start = s.at + s.before + l.newLength(b, s)
	}
	if start < end {
		to = append(to, start, end)
	}
	if len(to) == 0 {
		return append(to, l.boundary(old.Start), end)
	}
	return to
}

// reports reports whether bare code stands before a stop's instruction, which is then an exit.
func (l *layout) reports(s *stop) bool {
	for _, e := range l.order[s.first : s.first+s.edits] {
		if e.Place == Before && e.Bare != 0 {
			return true
		}
	}
	return false
}

func appendRow(dst []byte, start, end, handler int) []byte {
	dst = binary.BigEndian.AppendUint16(dst, uint16(start))
	dst = binary.BigEndian.AppendUint16(dst, uint16(end))
	return binary.BigEndian.AppendUint16(dst, uint16(handler))
}

// appendAttributes writes attributes_count and the attributes of the Code attribute.
func (r *Rewriter) appendAttributes(dst []byte, b *Body, pool *classfile.Pool) ([]byte, error) {
	countAt, count := len(dst), 0
	dst = append(dst, 0, 0)
	framesLeft := r.frames.written > 0
	for i := range b.attributes {
		a := &b.attributes[i]
		at := len(dst)
		dst = binary.BigEndian.AppendUint16(dst, a.name)
		dst = append(dst, 0, 0, 0, 0)
		keep := true
		if a.kind == classfile.AttrStackMapTable {
			if keep = framesLeft; keep {
				dst, framesLeft = r.appendFrames(dst), false
			}
		} else {
			dst, keep = r.appendMoved(dst, a)
		}
		if !keep {
			dst = dst[:at]
			continue
		}
		binary.BigEndian.PutUint32(dst[at+2:], uint32(len(dst)-at-6))
		count++
	}
	if framesLeft {
		if pool.Room() < 1 {
			return nil, ErrPoolFull
		}
		at := len(dst)
		dst = binary.BigEndian.AppendUint16(dst, pool.AttributeName(classfile.AttrStackMapTable))
		dst = r.appendFrames(append(dst, 0, 0, 0, 0))
		binary.BigEndian.PutUint32(dst[at+2:], uint32(len(dst)-at-6))
		count++
	}
	binary.BigEndian.PutUint16(dst[countAt:], uint16(count))
	return dst, nil
}

func (r *Rewriter) appendFrames(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint16(dst, uint16(r.frames.written))
	return append(dst, r.frames.out...)
}

// appendMoved writes an attribute's info with its offsets moved; keep is false where the attribute is to be left out.
func (r *Rewriter) appendMoved(dst []byte, a *attribute) (_ []byte, keep bool) {
	switch a.kind {
	case classfile.AttrLineNumberTable:
		return r.layout.appendLines(dst, a.info)
	case classfile.AttrLocalVariableTable, classfile.AttrLocalVariableTypeTable:
		return r.layout.appendVariables(dst, a.info)
	case classfile.AttrRuntimeVisibleTypeAnnotations, classfile.AttrRuntimeInvisibleTypeAnnotations:
		at := len(dst)
		dst = append(dst, a.info...)
		if keep = r.layout.moveTypeAnnotations(dst[at:]); !keep {
			r.Dropped++
		}
		return dst, keep
	case classfile.AttrStackMap: // CLDC's; the classes of these versions need no frames
		return dst, false
	}
	r.Dropped++
	return dst, false
}

// appendLines moves a LineNumberTable (JVMS §4.7.12). The first line stays at 0, so that inserted entry code belongs to it.
func (l *layout) appendLines(dst, info []byte) ([]byte, bool) {
	if len(info) < 2 || len(info) != 2+4*int(binary.BigEndian.Uint16(info)) {
		return dst, false
	}
	countAt, count := len(dst), 0
	dst = append(dst, 0, 0)
	for row := info[2:]; len(row) > 0; row = row[4:] {
		pc := int(binary.BigEndian.Uint16(row))
		if pc >= l.oldLen {
			continue
		}
		if pc != 0 {
			pc = l.land(pc)
		}
		dst = binary.BigEndian.AppendUint16(dst, uint16(pc))
		dst = append(dst, row[2:4]...)
		count++
	}
	binary.BigEndian.PutUint16(dst[countAt:], uint16(count))
	return dst, true
}

// appendVariables moves a LocalVariableTable or LocalVariableTypeTable (JVMS §4.7.13, §4.7.14). Rows that are invalid
// already are dropped, since they could become something else; rows that start at 0 are parameters and stay there.
func (l *layout) appendVariables(dst, info []byte) ([]byte, bool) {
	if len(info) < 2 || len(info) != 2+10*int(binary.BigEndian.Uint16(info)) {
		return dst, false
	}
	countAt, count := len(dst), 0
	dst = append(dst, 0, 0)
	for row := info[2:]; len(row) > 0; row = row[10:] {
		start, length, ok := l.moveRange(row)
		if !ok {
			continue
		}
		dst = binary.BigEndian.AppendUint16(dst, uint16(start))
		dst = binary.BigEndian.AppendUint16(dst, uint16(length))
		dst = append(dst, row[4:10]...)
		count++
	}
	binary.BigEndian.PutUint16(dst[countAt:], uint16(count))
	return dst, true
}

// moveRange moves a start_pc and length, as debug tables and annotations have them.
func (l *layout) moveRange(row []byte) (start, length int, ok bool) {
	from := int(binary.BigEndian.Uint16(row))
	to := from + int(binary.BigEndian.Uint16(row[2:]))
	if from >= l.oldLen || to > l.oldLen {
		return 0, 0, false
	}
	if from != 0 {
		start = l.land(from)
	}
	if to == from {
		return start, 0, true
	}
	// A variable that ends at an instruction ends before what was inserted there.
	return start, max(0, l.rangeEnd(to)-start), true
}
