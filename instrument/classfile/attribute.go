package classfile

// Attribute is one of the attribute names that somebody in jiffy has to understand. Everything else is AttrUnknown and
// is carried over raw, or dropped where it may hold code offsets that are no longer true.
type Attribute uint8

// The attributes of JVMS §4.7 that matter when code moves, and those that somebody asks for.
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
	AttrBootstrapMethods
	attributeKinds
)

var attributeNames = [attributeKinds]string{
	AttrCode:                            "Code",
	AttrStackMapTable:                   "StackMapTable",
	AttrStackMap:                        "StackMap",
	AttrLineNumberTable:                 "LineNumberTable",
	AttrLocalVariableTable:              "LocalVariableTable",
	AttrLocalVariableTypeTable:          "LocalVariableTypeTable",
	AttrRuntimeVisibleTypeAnnotations:   "RuntimeVisibleTypeAnnotations",
	AttrRuntimeInvisibleTypeAnnotations: "RuntimeInvisibleTypeAnnotations",
	AttrSourceFile:                      "SourceFile",
	AttrBootstrapMethods:                "BootstrapMethods",
}

// byLength finds the only attribute that a name of some length can be.
var byLength = func() (t [32]Attribute) {
	for a, name := range attributeNames {
		t[len(name)] = Attribute(a)
	}
	return t
}()

// attributeNamed tells attributes by their names. It runs for every CONSTANT_Utf8, so the length decides first.
func attributeNamed(name []byte) Attribute {
	if len(name) >= len(byLength) {
		return AttrUnknown
	}
	if a := byLength[len(name)]; a != AttrUnknown && string(name) == attributeNames[a] {
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
