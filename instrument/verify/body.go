package verify

import (
	"encoding/binary"

	"github.com/jiffyperf/jiffy/instrument/classfile"
)

// body is a Code attribute (JVMS §4.7.3), taken apart.
type body struct {
	code                []byte
	maxStack, maxLocals int
	rows                []byte   // exception_table, 8 bytes a row
	catches             []vtype  // by row: the type that its handler finds on the stack
	frameInfo           []byte   // of the StackMapTable
	debugInfo           []debug  // of the tables that say where lines and local variables are
	starts              []uint64 // a bit for each byte of code where an instruction starts
	pc                  int      // of the instruction that is looked at
	hasFrames           bool
	annotated           bool // has type annotations, which can point anywhere into the code
	subroutines         bool // has jsr or ret
	branches            bool // control can flow other than straight on, or doesn't get everywhere
	monitors            bool
}

// debug is a LineNumberTable, LocalVariableTable or LocalVariableTypeTable.
type debug struct {
	kind classfile.Attribute
	rows []byte
}

func u2(b []byte, at int) int { return int(binary.BigEndian.Uint16(b[at:])) }
func s4(b []byte, at int) int { return int(int32(binary.BigEndian.Uint32(b[at:]))) }

// parseBody reads a Code attribute, header included, and checks everything about it that needs no types.
func (v *Verifier) parseBody(data []byte) bool {
	b := &v.body
	*b = body{catches: b.catches[:0], debugInfo: b.debugInfo[:0], starts: b.starts, pc: -1}
	if len(data) < 14 {
		return v.fail("the Code attribute is cut off")
	}
	b.maxStack, b.maxLocals = u2(data, 6), u2(data, 8)
	n := s4(data, 10)
	if data = data[14:]; n <= 0 || n > 0xFFFF || n > len(data) {
		return v.fail("code_length %d is not from 1 to 65535, or more than there is", uint32(n))
	}
	b.code, data = data[:n], data[n:]
	if len(data) < 2 || len(data) < 4+8*u2(data, 0) {
		return v.fail("the exception table is cut off")
	}
	n = 8 * u2(data, 0)
	b.rows, data = data[2:2+n], data[2+n:]
	if !v.parseAttributes(data) {
		return false
	}
	if v.slots() > b.maxLocals {
		return v.fail("the parameters take %d locals, max_locals is %d", v.slots(), b.maxLocals)
	}
	return v.parseInstructions() && v.parseHandlers() && v.checkDebug()
}

// slots is how many locals the parameters take, this included.
func (v *Verifier) slots() int {
	if v.static() {
		return len(v.args)
	}
	return len(v.args) + 1
}

// static reports whether the method runs without an object: before version 51 a class initialiser's flags don't matter.
func (v *Verifier) static() bool {
	return v.method.Access&classfile.AccStatic != 0 || string(v.pool.Utf8(v.method.Name)) == "<clinit>"
}

func (v *Verifier) parseAttributes(data []byte) bool {
	n := u2(data, 0)
	for data = data[2:]; n > 0; n-- {
		if len(data) < 6 {
			return v.fail("the attributes of the code are cut off")
		}
		size := int(binary.BigEndian.Uint32(data[2:]))
		name, info := uint16(u2(data, 0)), data[6:]
		if size > len(info) {
			return v.fail("the attributes of the code are cut off")
		}
		info, data = info[:size], info[size:]
		switch kind := v.pool.Attribute(name); kind {
		case classfile.AttrStackMapTable:
			if v.class.Major < framesSince {
				break
			}
			if v.hasFrames {
				return v.fail("there are two StackMapTables")
			}
			v.hasFrames, v.frameInfo = true, info
		case classfile.AttrLineNumberTable, classfile.AttrLocalVariableTable, classfile.AttrLocalVariableTypeTable:
			v.debugInfo = append(v.debugInfo, debug{kind, info})
		case classfile.AttrRuntimeVisibleTypeAnnotations, classfile.AttrRuntimeInvisibleTypeAnnotations:
			v.annotated = true
		}
	}
	if len(data) > 0 {
		return v.fail("there are %d bytes behind the last attribute of the code", len(data))
	}
	return true
}

// startsAt reports whether an instruction starts at pc.
func (b *body) startsAt(pc int) bool {
	return uint(pc) < uint(len(b.code)) && b.starts[pc>>6]&(1<<(pc&63)) != 0
}

// parseInstructions finds where instructions start.
func (v *Verifier) parseInstructions() bool {
	b := &v.body
	code := b.code
	b.starts = zeroed(b.starts, len(code)/64+1)
	for pc := 0; pc < len(code); {
		b.starts[pc>>6] |= 1 << (pc & 63)
		in := &instructions[code[pc]]
		n := int(in.length)
		switch in.shape {
		case illegal:
			v.pc = pc
			return v.fail("there is no instruction %d", code[pc])
		case jsr, ret:
			b.subroutines, b.branches = true, true
		case branch, branchRef, jump:
			b.branches = true
		case exit, throw:
			b.branches = b.branches || pc+n < len(code)
		case monitor:
			b.monitors = true
		case table, lookup, wide:
			b.branches = b.branches || in.shape != wide
			if n = v.variableLength(pc, in.shape); n == 0 {
				return false
			}
		}
		if pc+n > len(code) {
			v.pc = pc
			return v.fail("%s is cut off", in.name)
		}
		pc += n
	}
	return true
}

// variableLength is the length of a tableswitch, lookupswitch or wide instruction (JVMS §6.5); 0 where it has none.
func (v *Verifier) variableLength(pc int, s shape) int {
	v.pc = pc
	code := v.code
	if s == wide {
		if pc+1 >= len(code) {
			v.fail("wide is cut off")
			return 0
		}
		switch in := &instructions[code[pc+1]]; {
		case in.shape == iinc:
			return 6
		case (in.shape == load || in.shape == store) && in.local < 0:
			return 4
		case in.shape == ret:
			v.subroutines, v.branches = true, true
			return 4
		}
		v.fail("wide before instruction %d", code[pc+1])
		return 0
	}
	at := (pc + 4) &^ 3
	count, size := -1, 0
	switch {
	case s == table && at+12 <= len(code):
		if low, high := s4(code, at+4), s4(code, at+8); low <= high {
			count = high - low + 1
		}
		size = at + 12 - pc + 4*count
	case s == lookup && at+8 <= len(code):
		count = s4(code, at+4)
		size = at + 8 - pc + 8*count
	}
	if count < 0 || pc+size > len(code) {
		v.fail("%s is cut off, or has less than no cases", instructions[code[pc]].name)
		return 0
	}
	return size
}

// parseHandlers checks the exception table (JVMS §4.7.3).
func (v *Verifier) parseHandlers() bool {
	v.pc = -1
	v.branches = v.branches || len(v.rows) > 0
	for at := 0; at < len(v.rows); at += 8 {
		start, end, handler, catch := u2(v.rows, at), u2(v.rows, at+2), u2(v.rows, at+4), u2(v.rows, at+6)
		switch {
		case start >= end:
			return v.fail("exception table row %d: the range %d to %d is empty", at/8, start, end)
		case !v.startsAt(start) || end != len(v.code) && !v.startsAt(end):
			return v.fail("exception table row %d: %d to %d are no instructions", at/8, start, end)
		case !v.startsAt(handler):
			return v.fail("exception table row %d: the handler %d is no instruction", at/8, handler)
		}
		t, ok := typeThrowable, true
		if catch != 0 {
			if t, ok = v.classType(uint16(catch)); !ok {
				return v.fail("exception table row %d: constant #%d is no class", at/8, catch)
			}
			if !v.assignable(t, typeThrowable) {
				return v.fail("exception table row %d: %s is no Throwable", at/8, v.text(t))
			}
		}
		v.catches = append(v.catches, t)
	}
	return true
}

// checkDebug checks that debug tables point at instructions: they don't matter for running, but HotSpot refuses the class.
func (v *Verifier) checkDebug() bool {
	for _, d := range v.debugInfo {
		size := 10
		if d.kind == classfile.AttrLineNumberTable {
			size = 4
		}
		if len(d.rows) < 2 || len(d.rows) != 2+size*u2(d.rows, 0) {
			return v.fail("a debug table has another length than its count says")
		}
		for row := d.rows[2:]; len(row) > 0; row = row[size:] {
			start := u2(row, 0)
			if d.kind == classfile.AttrLineNumberTable {
				if start >= len(v.code) {
					return v.fail("the LineNumberTable says pc %d, the code has %d bytes", start, len(v.code))
				}
				continue
			}
			if !v.checkVariable(d.kind, start, start+u2(row, 2), u2(row, 8)) {
				return false
			}
		}
	}
	return true
}

// checkVariable checks a row of a LocalVariableTable or LocalVariableTypeTable.
func (v *Verifier) checkVariable(kind classfile.Attribute, start, end, index int) bool {
	if start >= len(v.code) || end > len(v.code) {
		return v.fail("a local variable is said to live from %d to %d, the code has %d bytes", start, end, len(v.code))
	}
	// HotSpot asks the LocalVariableTable, and only where it checks types, for instructions.
	strict := kind == classfile.AttrLocalVariableTable && v.class.Major >= framesBinding
	if strict && (!v.startsAt(start) || end != len(v.code) && !v.startsAt(end)) {
		return v.fail("a local variable is said to live from %d to %d, which are no instructions", start, end)
	}
	if index >= v.maxLocals {
		return v.fail("a debug table has local variable %d, max_locals is %d", index, v.maxLocals)
	}
	return true
}

// zeroed returns n zeroed elements, in the memory of a slice if it is large enough.
func zeroed[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/2)
	}
	s = s[:n]
	clear(s)
	return s
}
