// Package code rewrites one method body: it walks the instructions of a Code attribute, applies edits, moves every
// offset that the edits shift, and re-encodes the exception table, the StackMapTable and the debug tables (JVMS §4.7).
//
// There are no instruction objects. A body is the bytes of its attribute and a list of the few instructions that matter
// when code moves; an edit is bytes at a place. What nobody edits is copied.
package code

// Opcode is an instruction's first byte (JVMS §6.5).
type Opcode = byte

// The opcodes that rewriting looks at (JVMS chapter 7).
const (
	OpNop             Opcode = 0
	OpLdc             Opcode = 18
	OpLdcW            Opcode = 19
	OpLdc2W           Opcode = 20
	OpIload           Opcode = 21
	OpLload           Opcode = 22
	OpAload           Opcode = 25
	OpLload0          Opcode = 30
	OpAload0          Opcode = 42
	OpAload3          Opcode = 45
	OpLstore          Opcode = 55
	OpLstore0         Opcode = 63
	OpDup             Opcode = 89
	OpIinc            Opcode = 132
	OpIfeq            Opcode = 153
	OpGoto            Opcode = 167
	OpJsr             Opcode = 168
	OpRet             Opcode = 169
	OpTableswitch     Opcode = 170
	OpIreturn         Opcode = 172
	OpAreturn         Opcode = 176
	OpGetstatic       Opcode = 178
	OpPutstatic       Opcode = 179
	OpGetfield        Opcode = 180
	OpPutfield        Opcode = 181
	OpInvokevirtual   Opcode = 182
	OpInvokespecial   Opcode = 183
	OpInvokestatic    Opcode = 184
	OpInvokeinterface Opcode = 185
	OpInvokedynamic   Opcode = 186
	OpNew             Opcode = 187
	OpAthrow          Opcode = 191
	OpCheckcast       Opcode = 192
	OpMonitorenter    Opcode = 194
	OpMonitorexit     Opcode = 195
	OpWide            Opcode = 196
	OpMultianewarray  Opcode = 197
	OpIfnull          Opcode = 198
	OpIfnonnull       Opcode = 199
	OpGotoW           Opcode = 200
	OpJsrW            Opcode = 201
)

// operand says what follows an opcode, as far as rewriting cares.
type operand uint8

const (
	plain    operand = iota
	pool1            // u1 constant-pool index; pool1 and pool2 are the index's width in bytes
	pool2            // u2 constant-pool index, then whatever fills the length
	branch16         // s2 offset
	branch32         // s4 offset
	table            // tableswitch
	lookup           // lookupswitch
	wide             // the next opcode takes a u2 local
	exit             // one of the return instructions
	ret              // ret: returns from a jsr
	illegal
)

// format is an opcode's length in bytes (0 where it varies) and operand.
type format struct {
	length  uint8
	operand operand
}

// formats is JVMS chapter 6 in a table.
var formats = makeFormats()

func makeFormats() (f [256]format) {
	set := func(from, to, length int, kind operand) {
		for i := from; i <= to; i++ {
			f[i] = format{uint8(length), kind}
		}
	}
	set(0, 255, 1, illegal)
	set(0, 201, 1, plain)
	set(16, 16, 2, plain) // bipush
	set(17, 17, 3, plain) // sipush
	set(18, 18, 2, pool1)
	set(19, 20, 3, pool2)
	set(21, 25, 2, plain)      // xload
	set(54, 58, 2, plain)      // xstore
	set(132, 132, 3, plain)    // iinc
	set(153, 168, 3, branch16) // if…, goto, jsr
	set(169, 169, 2, ret)
	set(170, 170, 0, table)
	set(171, 171, 0, lookup)
	set(172, 177, 1, exit)
	set(178, 184, 3, pool2) // fields, invokevirtual, invokespecial, invokestatic
	set(185, 186, 5, pool2) // invokeinterface, invokedynamic
	set(187, 187, 3, pool2) // new
	set(188, 188, 2, plain) // newarray
	set(189, 189, 3, pool2) // anewarray
	set(192, 193, 3, pool2) // checkcast, instanceof
	set(196, 196, 0, wide)
	set(197, 197, 4, pool2) // multianewarray
	set(198, 199, 3, branch16)
	set(200, 201, 5, branch32)
	return f
}
