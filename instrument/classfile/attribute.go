package classfile

// Attribute is one of the attribute names that somebody in jiffy has to understand. Everything else is AttrUnknown and
// is carried over raw, or dropped where it may hold code offsets that are no longer true.
type Attribute uint8

// The attributes of JVMS §4.7 that matter when code moves, and two that name things.
const (
	AttrUnknown Attribute = iota
	AttrCode
	AttrStackMapTable
	AttrStackMap // CLDC's predecessor of StackMapTable
	AttrLineNumberTable
	AttrLocalVariableTable
	AttrLocalVariableTypeTable
	AttrRuntimeVisibleTypeAnnotations
	AttrRuntimeInvisibleTypeAnnotations
	AttrSourceFile
)

// attributeNamed tells attributes by their names. It runs for every CONSTANT_Utf8, so the length decides first.
func attributeNamed(name []byte) Attribute {
	switch len(name) {
	case 4:
		return when(string(name) == "Code", AttrCode)
	case 8:
		return when(string(name) == "StackMap", AttrStackMap)
	case 10:
		return when(string(name) == "SourceFile", AttrSourceFile)
	case 13:
		return when(string(name) == "StackMapTable", AttrStackMapTable)
	case 15:
		return when(string(name) == "LineNumberTable", AttrLineNumberTable)
	case 18:
		return when(string(name) == "LocalVariableTable", AttrLocalVariableTable)
	case 22:
		return when(string(name) == "LocalVariableTypeTable", AttrLocalVariableTypeTable)
	case 29:
		return when(string(name) == "RuntimeVisibleTypeAnnotations", AttrRuntimeVisibleTypeAnnotations)
	case 31:
		return when(string(name) == "RuntimeInvisibleTypeAnnotations", AttrRuntimeInvisibleTypeAnnotations)
	}
	return AttrUnknown
}

func when(is bool, a Attribute) Attribute {
	if is {
		return a
	}
	return AttrUnknown
}

// Attribute tells which attribute a CONSTANT_Utf8 names.
func (p *Pool) Attribute(name uint16) Attribute {
	if int(name) >= len(p.known) {
		return AttrUnknown
	}
	return p.known[name]
}
