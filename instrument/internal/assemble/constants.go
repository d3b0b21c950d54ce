package assemble

import (
	"encoding/binary"
	"strconv"
	"strings"
)

// constants is the constant pool of an assembled class.
type constants struct {
	data  []byte
	index map[string]int
	count int
}

func (p *constants) add(constant []byte, slots int) int {
	if i, ok := p.index[string(constant)]; ok {
		return i
	}
	i := p.count
	p.index[string(constant)] = i
	p.data = append(p.data, constant...)
	p.count += slots
	return i
}

func (p *constants) utf8(s string) int { return p.add(append(u2([]byte{1}, len(s)), s...), 1) }
func (p *constants) class(name string) int {
	return p.add(u2([]byte{7}, p.utf8(name)), 1)
}

// of is the index of a constant as text has it: #12 an index, 5 an int, 5L a long, "text" a String, Foo a class, Foo.bar()V a
// method, Foo.bar:I a field, 6:Foo.bar()V a method handle of kind 6.
func (p *constants) of(text string) int {
	if text[0] == '"' {
		return p.add(u2([]byte{8}, p.utf8(strings.Trim(text, `"`))), 1)
	}
	if kind, ref, ok := strings.Cut(text, ":"); ok && len(kind) == 1 {
		return p.add(u2([]byte{15, kind[0] - '0'}, p.of(ref)), 1)
	}
	if index, ok := strings.CutPrefix(text, "#"); ok {
		i, _ := strconv.Atoi(index)
		return i
	}
	if i, err := strconv.Atoi(text); err == nil {
		return p.add(binary.BigEndian.AppendUint32([]byte{3}, uint32(i)), 1)
	}
	if v, err := strconv.ParseInt(strings.TrimSuffix(text, "L"), 10, 64); err == nil {
		return p.add(binary.BigEndian.AppendUint64([]byte{5}, uint64(v)), 2)
	}
	dot := strings.IndexByte(text, '.')
	if dot < 0 {
		return p.class(text)
	}
	tag, member := byte(10), text[dot+1:]
	at := strings.IndexByte(member, '(')
	name, desc := member, ""
	if at >= 0 {
		name, desc = member[:at], member[at:]
	} else {
		tag = 9
		name, desc, _ = strings.Cut(member, ":")
	}
	nt := p.add(u2(u2([]byte{12}, p.utf8(name)), p.utf8(desc)), 1)
	return p.add(u2(u2([]byte{tag}, p.class(text[:dot])), nt), 1)
}

// Opcodes are the instructions by name (JVMS chapter 7).
var Opcodes = func() map[string]byte {
	ops := map[string]byte{}
	for i, name := range strings.Fields(`
nop aconst_null iconst_m1 iconst_0 iconst_1 iconst_2 iconst_3 iconst_4 iconst_5 lconst_0 lconst_1 fconst_0 fconst_1
fconst_2 dconst_0 dconst_1 bipush sipush ldc ldc_w ldc2_w iload lload fload dload aload iload_0 iload_1 iload_2 iload_3
lload_0 lload_1 lload_2 lload_3 fload_0 fload_1 fload_2 fload_3 dload_0 dload_1 dload_2 dload_3 aload_0 aload_1 aload_2
aload_3 iaload laload faload daload aaload baload caload saload istore lstore fstore dstore astore istore_0 istore_1
istore_2 istore_3 lstore_0 lstore_1 lstore_2 lstore_3 fstore_0 fstore_1 fstore_2 fstore_3 dstore_0 dstore_1 dstore_2
dstore_3 astore_0 astore_1 astore_2 astore_3 iastore lastore fastore dastore aastore bastore castore sastore pop pop2
dup dup_x1 dup_x2 dup2 dup2_x1 dup2_x2 swap iadd ladd fadd dadd isub lsub fsub dsub imul lmul fmul dmul idiv ldiv fdiv
ddiv irem lrem frem drem ineg lneg fneg dneg ishl lshl ishr lshr iushr lushr iand land ior lor ixor lxor iinc i2l i2f
i2d l2i l2f l2d f2i f2l f2d d2i d2l d2f i2b i2c i2s lcmp fcmpl fcmpg dcmpl dcmpg ifeq ifne iflt ifge ifgt ifle
if_icmpeq if_icmpne if_icmplt if_icmpge if_icmpgt if_icmple if_acmpeq if_acmpne goto jsr ret tableswitch lookupswitch
ireturn lreturn freturn dreturn areturn return getstatic putstatic getfield putfield invokevirtual invokespecial
invokestatic invokeinterface invokedynamic new newarray anewarray arraylength athrow checkcast instanceof monitorenter
monitorexit wide multianewarray ifnull ifnonnull goto_w jsr_w`) {
		ops[name] = byte(i)
	}
	return ops
}()
