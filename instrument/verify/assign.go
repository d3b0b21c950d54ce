package verify

import "github.com/jiffyperf/jiffy/instrument/classfile"

// wellKnown are classes, none of them an interface, whose superclasses are certain in every runtime. super is an index;
// superclasses come first. A final class has no subclass, so that nothing but itself can be assigned to it.
var wellKnown = [...]struct {
	name  string
	super int
	final bool
}{
	{"java/lang/Object", -1, false},
	{"java/lang/String", 0, true},
	{"java/lang/Class", 0, true},
	{"java/lang/Throwable", 0, false},
	{"java/lang/Exception", 3, false},
	{"java/lang/RuntimeException", 4, false},
	{"java/lang/Error", 3, false},
	{"java/lang/Number", 0, false},
	{"java/lang/Integer", 7, true},
	{"java/lang/Long", 7, true},
	{"java/lang/Float", 7, true},
	{"java/lang/Double", 7, true},
	{"java/lang/Boolean", 0, true},
	{"java/lang/Character", 0, true},
	{"java/lang/Thread", 0, false},
	{"java/lang/invoke/MethodHandle", 0, false},
	{"java/lang/invoke/MethodType", 0, true},
}

// wellKnownNames are the names above, one behind the other; wellKnownTypes point into it.
var (
	wellKnownNames []byte
	wellKnownTypes [len(wellKnown)]vtype
	typeObject     vtype
	typeString     vtype
	typeClass      vtype
	typeThrowable  vtype
	typeHandle     vtype
	typeMethodType vtype
)

func init() {
	for i, c := range wellKnown {
		wellKnownTypes[i] = named(0, len(wellKnownNames), len(c.name))
		wellKnownNames = append(wellKnownNames, c.name...)
	}
	find := func(name string) vtype { return wellKnownTypes[wellKnownIndex([]byte(name))] }
	typeObject, typeString, typeClass = find("java/lang/Object"), find("java/lang/String"), find("java/lang/Class")
	typeThrowable = find("java/lang/Throwable")
	typeHandle, typeMethodType = find("java/lang/invoke/MethodHandle"), find("java/lang/invoke/MethodType")
}

// wellKnownIndex returns the place of a class in wellKnown, or -1.
func wellKnownIndex(name []byte) int {
	const prefix = "java/lang/"
	if len(name) < len(prefix)+4 || string(name[:len(prefix)]) != prefix {
		return -1
	}
	for i := range wellKnown {
		if wellKnown[i].name == string(name) {
			return i
		}
	}
	return -1
}

// assignable reports whether a value of one type may be used as another (JVMS §4.10.1.2), as far as that is certain.
func (v *Verifier) assignable(from, to vtype) bool {
	if from == to {
		return true
	}
	switch to.kind() {
	case kindTop:
		return true
	case kindObject:
		switch from.kind() {
		case kindNull:
			return true
		case kindObject:
			return v.classAssignable(from, to)
		case kindArray:
			return v.superOfArrays(to)
		}
	case kindArray:
		switch from.kind() {
		case kindNull:
			return true
		case kindArray:
			return v.arrayAssignable(from, to)
		}
	}
	return false
}

// superOfArrays reports whether a class or interface is a supertype of every array (JLS §4.10.3).
func (v *Verifier) superOfArrays(t vtype) bool {
	switch string(v.name(t)) {
	case "java/lang/Object", "java/lang/Cloneable", "java/io/Serializable":
		return true
	}
	return false
}

func (v *Verifier) arrayAssignable(from, to vtype) bool {
	switch {
	case from.dims() < to.dims():
		return false
	case to.ofPrimitives():
		return from.dims() == to.dims() && from.ofPrimitives() && from.offset() == to.offset()
	case from.dims() > to.dims():
		return v.superOfArrays(to)
	case from.ofPrimitives():
		return false
	}
	return v.classAssignable(from, to)
}

// classAssignable answers for two classes, or the elements of two arrays. What would need another class to be looked at is
// taken to be fine; so is every interface, as in HotSpot, which leaves those to the moment of the call.
func (v *Verifier) classAssignable(from, to vtype) bool {
	if uint32(from)>>16 == uint32(to)>>16 && from>>32 == to>>32 {
		return true
	}
	fromName, toName := v.name(from), v.name(to)
	if string(fromName) == string(toName) {
		return true
	}
	known, target := wellKnownIndex(fromName), wellKnownIndex(toName)
	if target == 0 {
		return true // Object
	}
	thisName := v.name(v.this)
	switch {
	case target >= 0 && wellKnown[target].final:
		return false
	case known >= 0:
		if target >= 0 {
			return inherits(known, target)
		}
		// The supers of a well-known class are well known, so that this class can't be one of them.
		return v.isInterface() || string(toName) != string(thisName)
	case v.super == 0:
		return true
	}
	superName := v.name(v.super)
	if string(toName) == string(thisName) && string(fromName) == string(superName) {
		return v.isInterface()
	}
	if super := wellKnownIndex(superName); super >= 0 && target >= 0 && string(fromName) == string(thisName) {
		return inherits(super, target)
	}
	return true
}

// inherits reports whether one well-known class is another or one of its subclasses.
func inherits(class, from int) bool {
	for ; class >= 0; class = wellKnown[class].super {
		if class == from {
			return true
		}
	}
	return false
}

func (v *Verifier) isInterface() bool { return v.class.Access&classfile.AccInterface != 0 }
