package verify

import (
	"strconv"
	"strings"
)

// shape is how an instruction is checked.
type shape uint8

const (
	illegal    shape = iota
	simple           // primitives from the stack, primitives onto it
	load             // a local variable onto the stack
	store            // and back
	element          // an array element onto the stack
	setElement       // and back
	shuffle          // pop, dup, swap and their kin
	branch           // if… on ints
	branchRef        // if… on references
	jump             // goto
	exit             // return
	table            // tableswitch
	lookup           // lookupswitch
	object           // new
	array            // newarray, anewarray, multianewarray
	length           // arraylength
	throw            // athrow
	cast             // checkcast, instanceof
	constant         // ldc
	iinc
	jsr
	ret
	field
	invoke
	monitor
	wide
)

var shapes = map[string]shape{
	"simple": simple, "load": load, "store": store, "iinc": iinc, "element": element, "setElement": setElement,
	"shuffle": shuffle, "branch": branch, "branchRef": branchRef, "jump": jump, "jsr": jsr, "ret": ret, "table": table,
	"lookup": lookup, "exit": exit, "field": field, "invoke": invoke, "object": object, "array": array, "length": length,
	"throw": throw, "cast": cast, "monitor": monitor, "constant": constant, "wide": wide,
}

// instruction is what the table of opcodes says about one.
type instruction struct {
	shape  shape
	length uint8    // in bytes; 0 where it varies
	pops   uint8    // slots that it takes from the stack; what varies is not in it
	pushes uint8    // slots that it puts there
	pop    [4]vtype // their types, lowest first; kindTop where any reference will do
	push   [4]vtype
	local  int8 // the local variable in the mnemonic; -1 where it is an operand
	name   string
}

var instructions = parseInstructions(opcodes)

// The opcodes that are looked at one by one (JVMS chapter 7).
const (
	opLdc2W           = 20
	opIaload          = 46
	opAaload          = 50
	opIastore         = 79
	opAastore         = 83
	opPop             = 87
	opDup             = 89
	opGetstatic       = 178
	opPutstatic       = 179
	opGetfield        = 180
	opPutfield        = 181
	opInvokevirtual   = 182
	opInvokespecial   = 183
	opInvokestatic    = 184
	opInvokeinterface = 185
	opInvokedynamic   = 186
	opNew             = 187
	opNewarray        = 188
	opAnewarray       = 189
	opCheckcast       = 192
	opMonitorenter    = 194
	opMonitorexit     = 195
	opMultianewarray  = 197
	opGotoW           = 200
)

// opcodes is JVMS chapter 6 as a table, in the order of the opcodes: mnemonic, length, shape, and the stack before and
// after. Letters are those of descriptors, N is null and A any reference; - is nothing.
const opcodes = `
nop 1 simple - -
aconst_null 1 simple - N
iconst_m1 1 simple - I
iconst_0 1 simple - I
iconst_1 1 simple - I
iconst_2 1 simple - I
iconst_3 1 simple - I
iconst_4 1 simple - I
iconst_5 1 simple - I
lconst_0 1 simple - J
lconst_1 1 simple - J
fconst_0 1 simple - F
fconst_1 1 simple - F
fconst_2 1 simple - F
dconst_0 1 simple - D
dconst_1 1 simple - D
bipush 2 simple - I
sipush 3 simple - I
ldc 2 constant - -
ldc_w 3 constant - -
ldc2_w 3 constant - -
iload 2 load - I
lload 2 load - J
fload 2 load - F
dload 2 load - D
aload 2 load - A
iload_0 1 load - I
iload_1 1 load - I
iload_2 1 load - I
iload_3 1 load - I
lload_0 1 load - J
lload_1 1 load - J
lload_2 1 load - J
lload_3 1 load - J
fload_0 1 load - F
fload_1 1 load - F
fload_2 1 load - F
fload_3 1 load - F
dload_0 1 load - D
dload_1 1 load - D
dload_2 1 load - D
dload_3 1 load - D
aload_0 1 load - A
aload_1 1 load - A
aload_2 1 load - A
aload_3 1 load - A
iaload 1 element AI I
laload 1 element AI J
faload 1 element AI F
daload 1 element AI D
aaload 1 element AI A
baload 1 element AI I
caload 1 element AI I
saload 1 element AI I
istore 2 store I -
lstore 2 store J -
fstore 2 store F -
dstore 2 store D -
astore 2 store A -
istore_0 1 store I -
istore_1 1 store I -
istore_2 1 store I -
istore_3 1 store I -
lstore_0 1 store J -
lstore_1 1 store J -
lstore_2 1 store J -
lstore_3 1 store J -
fstore_0 1 store F -
fstore_1 1 store F -
fstore_2 1 store F -
fstore_3 1 store F -
dstore_0 1 store D -
dstore_1 1 store D -
dstore_2 1 store D -
dstore_3 1 store D -
astore_0 1 store A -
astore_1 1 store A -
astore_2 1 store A -
astore_3 1 store A -
iastore 1 setElement AII -
lastore 1 setElement AIJ -
fastore 1 setElement AIF -
dastore 1 setElement AID -
aastore 1 setElement AIA -
bastore 1 setElement AII -
castore 1 setElement AII -
sastore 1 setElement AII -
pop 1 shuffle - -
pop2 1 shuffle - -
dup 1 shuffle - -
dup_x1 1 shuffle - -
dup_x2 1 shuffle - -
dup2 1 shuffle - -
dup2_x1 1 shuffle - -
dup2_x2 1 shuffle - -
swap 1 shuffle - -
iadd 1 simple II I
ladd 1 simple JJ J
fadd 1 simple FF F
dadd 1 simple DD D
isub 1 simple II I
lsub 1 simple JJ J
fsub 1 simple FF F
dsub 1 simple DD D
imul 1 simple II I
lmul 1 simple JJ J
fmul 1 simple FF F
dmul 1 simple DD D
idiv 1 simple II I
ldiv 1 simple JJ J
fdiv 1 simple FF F
ddiv 1 simple DD D
irem 1 simple II I
lrem 1 simple JJ J
frem 1 simple FF F
drem 1 simple DD D
ineg 1 simple I I
lneg 1 simple J J
fneg 1 simple F F
dneg 1 simple D D
ishl 1 simple II I
lshl 1 simple JI J
ishr 1 simple II I
lshr 1 simple JI J
iushr 1 simple II I
lushr 1 simple JI J
iand 1 simple II I
land 1 simple JJ J
ior 1 simple II I
lor 1 simple JJ J
ixor 1 simple II I
lxor 1 simple JJ J
iinc 3 iinc - -
i2l 1 simple I J
i2f 1 simple I F
i2d 1 simple I D
l2i 1 simple J I
l2f 1 simple J F
l2d 1 simple J D
f2i 1 simple F I
f2l 1 simple F J
f2d 1 simple F D
d2i 1 simple D I
d2l 1 simple D J
d2f 1 simple D F
i2b 1 simple I I
i2c 1 simple I I
i2s 1 simple I I
lcmp 1 simple JJ I
fcmpl 1 simple FF I
fcmpg 1 simple FF I
dcmpl 1 simple DD I
dcmpg 1 simple DD I
ifeq 3 branch I -
ifne 3 branch I -
iflt 3 branch I -
ifge 3 branch I -
ifgt 3 branch I -
ifle 3 branch I -
if_icmpeq 3 branch II -
if_icmpne 3 branch II -
if_icmplt 3 branch II -
if_icmpge 3 branch II -
if_icmpgt 3 branch II -
if_icmple 3 branch II -
if_acmpeq 3 branchRef AA -
if_acmpne 3 branchRef AA -
goto 3 jump - -
jsr 3 jsr - -
ret 2 ret - -
tableswitch 0 table I -
lookupswitch 0 lookup I -
ireturn 1 exit I -
lreturn 1 exit J -
freturn 1 exit F -
dreturn 1 exit D -
areturn 1 exit A -
return 1 exit - -
getstatic 3 field - -
putstatic 3 field - -
getfield 3 field - -
putfield 3 field - -
invokevirtual 3 invoke - -
invokespecial 3 invoke - -
invokestatic 3 invoke - -
invokeinterface 5 invoke - -
invokedynamic 5 invoke - -
new 3 object - A
newarray 2 array I A
anewarray 3 array I A
arraylength 1 length A I
athrow 1 throw A -
checkcast 3 cast A A
instanceof 3 cast A I
monitorenter 1 monitor A -
monitorexit 1 monitor A -
wide 0 wide - -
multianewarray 4 array - -
ifnull 3 branchRef A -
ifnonnull 3 branchRef A -
goto_w 5 jump - -
jsr_w 5 jsr - -
`

func parseInstructions(text string) (all [256]instruction) {
	op := 0
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		size, _ := strconv.Atoi(f[1])
		in := instruction{name: f[0], length: uint8(size), shape: shapes[f[2]], local: -1}
		in.pops = slotsOf(&in.pop, f[3])
		in.pushes = slotsOf(&in.push, f[4])
		if n := len(f[0]); (in.shape == load || in.shape == store) && f[0][n-2] == '_' {
			in.local = int8(f[0][n-1] - '0')
		}
		all[op] = in
		op++
	}
	return all
}

var slotLetters = map[rune][]vtype{
	'I': {vtype(kindInt)}, 'J': {vtype(kindLong), vtype(kindLong2)}, 'F': {vtype(kindFloat)},
	'D': {vtype(kindDouble), vtype(kindDouble2)}, 'N': {vtype(kindNull)}, 'A': {vtype(kindTop)}, '-': nil,
}

// slotsOf writes the types that letters stand for and returns how many there are.
func slotsOf(to *[4]vtype, letters string) uint8 {
	n := 0
	for _, c := range letters {
		n += copy(to[n:], slotLetters[c])
	}
	return uint8(n)
}
