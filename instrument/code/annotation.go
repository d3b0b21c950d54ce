package code

import "encoding/binary"

// moveTypeAnnotations moves, in place, the offsets in a Runtime(In)VisibleTypeAnnotations attribute of a Code attribute
// (JVMS §4.7.20). It reports false where the attribute isn't well formed; it is then to be dropped.
func (l *layout) moveTypeAnnotations(info []byte) bool {
	w := annotationWalker{data: info}
	for n := w.u2(); n > 0 && !w.bad; n-- {
		l.moveTarget(&w)
		w.skip(2 * w.u1()) // target_path
		w.annotation(0)
	}
	return !w.bad && w.pos == len(info)
}

// moveTarget moves one target_info (JVMS §4.7.20.1). Only the kinds that can stand in a Code attribute are known.
func (l *layout) moveTarget(w *annotationWalker) {
	switch kind := w.u1(); {
	case kind == 0x40 || kind == 0x41: // localvar_target
		for n := w.u2(); n > 0 && !w.bad; n-- {
			row := w.take(6)
			if w.bad {
				return
			}
			start, length, ok := l.moveRange(row)
			if !ok {
				w.bad = true
				return
			}
			binary.BigEndian.PutUint16(row, uint16(start))
			binary.BigEndian.PutUint16(row[2:], uint16(length))
		}
	case kind == 0x42: // catch_target: a row of the exception table, which only grows at its end
		w.skip(2)
	case kind >= 0x43 && kind <= 0x4B: // offset_target, type_argument_target
		pc := w.take(2)
		if w.bad || int(binary.BigEndian.Uint16(pc)) >= l.oldLen {
			w.bad = true
			return
		}
		binary.BigEndian.PutUint16(pc, uint16(l.instruction(int(binary.BigEndian.Uint16(pc)))))
		if kind >= 0x47 {
			w.skip(1)
		}
	default:
		w.bad = true
	}
}

// annotationWalker steps over annotations; once bad it returns zeros.
type annotationWalker struct {
	data []byte
	pos  int
	bad  bool
}

// maxNesting bounds how deep annotations within annotations are followed.
const maxNesting = 64

func (w *annotationWalker) take(n int) []byte {
	if w.bad || n > len(w.data)-w.pos {
		w.bad = true
		return nil
	}
	w.pos += n
	return w.data[w.pos-n : w.pos]
}

func (w *annotationWalker) skip(n int) { w.take(n) }

func (w *annotationWalker) u1() int {
	if b := w.take(1); b != nil {
		return int(b[0])
	}
	return 0
}

func (w *annotationWalker) u2() int {
	if b := w.take(2); b != nil {
		return int(binary.BigEndian.Uint16(b))
	}
	return 0
}

// annotation steps over type_index and the element-value pairs.
func (w *annotationWalker) annotation(depth int) {
	w.skip(2)
	for n := w.u2(); n > 0 && !w.bad; n-- {
		w.skip(2)
		w.elementValue(depth)
	}
}

// elementValue steps over an element_value (JVMS §4.7.16.1).
func (w *annotationWalker) elementValue(depth int) {
	if depth > maxNesting {
		w.bad = true
		return
	}
	switch w.u1() {
	case 'e':
		w.skip(4)
	case '@':
		w.annotation(depth + 1)
	case '[':
		for n := w.u2(); n > 0 && !w.bad; n-- {
			w.elementValue(depth + 1)
		}
	default:
		w.skip(2)
	}
}
