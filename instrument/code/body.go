package code

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jiffyperf/jiffy/instrument/classfile"
)

// Errors that say why a method body can't be rewritten; its bytes are then left as they are.
var (
	ErrMalformed  = errors.New("malformed Code attribute")
	ErrSubroutine = errors.New("jsr/ret subroutine")
	ErrTooLarge   = errors.New("over 65,535 bytes after rewriting")
	ErrBranch     = errors.New("a branch would outgrow 16 bits")
	ErrFrame      = errors.New("unknown StackMapTable frame")
	ErrNoFrames   = errors.New("branches without a StackMapTable")
	ErrPoolFull   = errors.New("constant pool full")
)

// maxCode is the largest code_length (JVMS §4.7.3: less than 65536).
const maxCode = 65535

// PCError is an error at an instruction.
type PCError struct {
	PC   int
	What string
	Err  error
}

func (e *PCError) Error() string { return fmt.Sprintf("%v: %s at pc %d", e.Err, e.What, e.PC) }
func (e *PCError) Unwrap() error { return e.Err }

// Point is an instruction that matters when code moves: a branch, a switch or a return.
type Point struct {
	PC int32
	Op Opcode
}

// Body is a parsed Code attribute (JVMS §4.7.3). The zero value is ready for Parse, which reuses its memory.
type Body struct {
	MaxStack, MaxLocals int
	Code                []byte
	Points              []Point
	Constants           []ConstantUse // in the order of the code
	// Subroutines tells that the method has jsr or ret instructions.
	Subroutines bool

	name       uint16 // attribute_name_index
	handlers   []byte // exception_table, 8 bytes a row
	attributes []attribute
	starts     []uint64 // a bit for each byte of Code where an instruction starts
}

// ConstantUse is an instruction's constant-pool operand.
type ConstantUse struct {
	Index uint16
	At    uint16 // its offset in Code
	Width uint8  // in bytes: 1 for ldc, else 2
}

type attribute struct {
	name uint16
	kind classfile.Attribute
	info []byte
}

// Parse reads a Code attribute, header included, and walks its instructions.
func (b *Body) Parse(data []byte, pool *classfile.Pool) error {
	*b = Body{Points: b.Points[:0], attributes: b.attributes[:0], Constants: b.Constants[:0], starts: b.starts[:0]}
	if len(data) < 14 {
		return &PCError{0, "attribute is truncated", ErrMalformed}
	}
	b.name = binary.BigEndian.Uint16(data)
	b.MaxStack, b.MaxLocals = int(binary.BigEndian.Uint16(data[6:])), int(binary.BigEndian.Uint16(data[8:]))
	n := int(binary.BigEndian.Uint32(data[10:]))
	rest := data[14:]
	if n == 0 || n > maxCode || n > len(rest) {
		return &PCError{0, fmt.Sprintf("code_length %d", n), ErrMalformed}
	}
	b.Code, rest = rest[:n], rest[n:]
	if err := b.parseTables(rest, pool); err != nil {
		return err
	}
	return b.walk()
}

func (b *Body) parseTables(rest []byte, pool *classfile.Pool) error {
	truncated := func() error { return &PCError{len(b.Code), "tables are truncated", ErrMalformed} }
	if len(rest) < 2 {
		return truncated()
	}
	n := 8 * int(binary.BigEndian.Uint16(rest))
	if rest = rest[2:]; n+2 > len(rest) {
		return truncated()
	}
	b.handlers, rest = rest[:n], rest[n:]
	count := int(binary.BigEndian.Uint16(rest))
	rest = rest[2:]
	for ; count > 0; count-- {
		if len(rest) < 6 {
			return truncated()
		}
		name, size := binary.BigEndian.Uint16(rest), int(binary.BigEndian.Uint32(rest[2:]))
		if rest = rest[6:]; size > len(rest) {
			return truncated()
		}
		b.attributes = append(b.attributes, attribute{name, pool.Attribute(name), rest[:size]})
		rest = rest[size:]
	}
	if len(rest) != 0 {
		return &PCError{len(b.Code), "bytes behind the last attribute", ErrMalformed}
	}
	return nil
}

// walk finds where instructions start, and the points.
func (b *Body) walk() error {
	words := len(b.Code)/64 + 1
	if cap(b.starts) < words {
		b.starts = make([]uint64, words, 2*words)
	} else {
		b.starts = b.starts[:words]
		clear(b.starts)
	}
	code := b.Code
	for pc := 0; pc < len(code); {
		b.starts[pc>>6] |= 1 << (pc & 63)
		op := code[pc]
		f := formats[op]
		switch f.operand {
		case plain:
		case pool1:
			if pc+1 < len(code) {
				b.Constants = append(b.Constants, ConstantUse{uint16(code[pc+1]), uint16(pc + 1), 1})
			}
		case pool2:
			if pc+2 < len(code) {
				b.Constants = append(b.Constants, ConstantUse{binary.BigEndian.Uint16(code[pc+1:]), uint16(pc + 1), 2})
			}
		case branch16, branch32, exit:
			b.Points = append(b.Points, Point{int32(pc), op})
			b.Subroutines = b.Subroutines || op == OpJsr || op == OpJsrW
		case ret:
			b.Subroutines = true
		case table, lookup, wide:
			n, err := b.variableLength(pc)
			if err != nil {
				return err
			}
			if op != OpWide {
				b.Points = append(b.Points, Point{int32(pc), op})
			}
			pc += n
			continue
		default:
			return &PCError{pc, fmt.Sprintf("opcode %d", op), ErrMalformed}
		}
		if pc += int(f.length); pc > len(code) {
			return &PCError{len(code), "the last instruction is cut off", ErrMalformed}
		}
	}
	return nil
}

// Length is the length in bytes of the instruction at pc, which must be one of the body's.
func (b *Body) Length(pc int) int {
	if n := formats[b.Code[pc]].length; n != 0 {
		return int(n)
	}
	n, _ := b.variableLength(pc)
	return n
}

// variableLength is the length of a tableswitch, lookupswitch or wide instruction (JVMS §6.5).
func (b *Body) variableLength(pc int) (int, error) {
	code := b.Code
	cutOff := func() error { return &PCError{pc, "the instruction is cut off", ErrMalformed} }
	if code[pc] == OpWide {
		if pc+1 >= len(code) {
			return 0, cutOff()
		}
		n := 4
		switch op := code[pc+1]; {
		case op == OpIinc:
			n = 6
		case op >= OpIload && op <= OpAload, op >= 54 && op <= 58:
		case op == OpRet:
			b.Subroutines = true
		default:
			return 0, &PCError{pc, fmt.Sprintf("wide before opcode %d", op), ErrMalformed}
		}
		if pc+n > len(code) {
			return 0, cutOff()
		}
		return n, nil
	}
	at := (pc + 4) &^ 3 // operands are aligned to four bytes from the method's start
	var n int64
	if code[pc] == OpTableswitch {
		if at+12 > len(code) {
			return 0, cutOff()
		}
		low, high := int32At(code, at+4), int32At(code, at+8)
		n = 12 + 4*(int64(high)-int64(low)+1)
		if low > high {
			return 0, &PCError{pc, "tableswitch with low above high", ErrMalformed}
		}
	} else {
		if at+8 > len(code) {
			return 0, cutOff()
		}
		pairs := int32At(code, at+4)
		n = 8 + 8*int64(pairs)
		if pairs < 0 {
			return 0, &PCError{pc, "lookupswitch with a negative count", ErrMalformed}
		}
	}
	if n > int64(len(code)-at) {
		return 0, cutOff()
	}
	return at - pc + int(n), nil
}

// StartsAt reports whether an instruction starts at pc.
func (b *Body) StartsAt(pc int) bool {
	return pc >= 0 && pc < len(b.Code) && b.starts[pc>>6]&(1<<(pc&63)) != 0
}

// Branches reports whether control can flow other than straight on, by a branch, a switch or an exception handler: only
// then the code needs a StackMapTable.
func (b *Body) Branches() bool {
	if len(b.handlers) > 0 {
		return true
	}
	for _, p := range b.Points {
		if formats[p.Op].operand != exit {
			return true
		}
	}
	return false
}

// Handlers is how many rows the exception table has, and HandlerRange the instructions that row i covers.
func (b *Body) Handlers() int { return len(b.handlers) / 8 }

// HandlerRange is the range of instructions, start inclusive and end exclusive, that row i of the exception table covers.
func (b *Body) HandlerRange(i int) (start, end int) {
	row := b.handlers[8*i:]
	return int(binary.BigEndian.Uint16(row)), int(binary.BigEndian.Uint16(row[2:]))
}

// ExceptionTable is the exception_table, eight bytes a row (JVMS §4.7.3).
func (b *Body) ExceptionTable() []byte { return b.handlers }

// HasFrames reports whether the body has a StackMapTable.
func (b *Body) HasFrames() bool { return b.attribute(classfile.AttrStackMapTable) != nil }

func (b *Body) attribute(kind classfile.Attribute) *attribute {
	for i := range b.attributes {
		if b.attributes[i].kind == kind {
			return &b.attributes[i]
		}
	}
	return nil
}

// FirstLine is the line number of the first row of the LineNumberTable; 0 where there is none.
func (b *Body) FirstLine() int {
	if a := b.attribute(classfile.AttrLineNumberTable); a != nil && len(a.info) >= 6 {
		return int(binary.BigEndian.Uint16(a.info[4:]))
	}
	return 0
}

// IsReturn reports whether an opcode is one of the six return instructions.
func IsReturn(op Opcode) bool { return formats[op].operand == exit }

func int32At(b []byte, at int) int32 { return int32(binary.BigEndian.Uint32(b[at:])) }

// FallsThrough reports whether control goes from the instruction at pc to the next one and nowhere else, exceptions aside.
func (b *Body) FallsThrough(pc int) bool {
	op := b.Code[pc]
	switch formats[op].operand {
	case plain, pool1, pool2:
		return op != OpAthrow
	case wide:
		return b.Code[pc+1] != OpRet
	}
	return false
}
