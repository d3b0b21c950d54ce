// Package verify checks method bodies as the type checker of JVMS §4.10.1 does: instructions, the operand stack and the
// local variables against the StackMapTable, exception handlers, uninitialised objects, branch and switch targets.
//
// It sees one class at a time. Whether one class can be assigned to another, and whether a protected member is in reach, is
// assumed to be fine wherever the answer needs a class that isn't there. Within what is certain it is as strict as HotSpot.
//
// Two more kinds of finding are about code that links but still causes trouble: frames that R8 rejects, and locks that are
// not structured (JVMS §2.11.10), which virtual machines run slowly.
package verify

import (
	"fmt"

	"github.com/jiffyperf/jiffy/instrument/classfile"
)

// Kind is what a finding means for the class.
type Kind uint8

// The kinds of findings.
const (
	// Refused is what a virtual machine refuses to link: VerifyError or ClassFormatError.
	Refused Kind = iota
	// Unchecked is code whose types were not checked: only its instructions, its targets and the depth of its stack were.
	Unchecked
	// Frames is a StackMapTable that links and that R8 rejects.
	Frames
	// Locking is a monitor that isn't released on every way out.
	Locking
)

var kindNames = [...]string{"refused", "not type-checked", "frames", "locking"}

func (k Kind) String() string { return kindNames[k] }

// Finding is one thing that was found in a class.
type Finding struct {
	Kind   Kind
	Method string // name and descriptor; empty where it is about the class
	PC     int    // of the instruction; -1 where it is about the method
	What   string
}

func (f Finding) String() string {
	at := ""
	if f.PC >= 0 {
		at = fmt.Sprintf(" at pc %d", f.PC)
	}
	if f.Method == "" {
		return fmt.Sprintf("%v: %s%s", f.Kind, f.What, at)
	}
	return fmt.Sprintf("%s: %v%s: %s", f.Method, f.Kind, at, f.What)
}

// Error says why a method body is refused, or, where Kind is Unchecked, why its types could not be checked: the frames of a
// method in a class of version 50 do not hold, which a virtual machine forgives (JVMS §4.10), or they are too large.
type Error struct {
	Kind Kind
	PC   int // -1 where it is about the method
	What string
}

func (e *Error) Error() string {
	if e.PC < 0 {
		return e.What
	}
	return fmt.Sprintf("at pc %d: %s", e.PC, e.What)
}

// The class-file versions that decide how a method is checked (JVMS §4.10).
const (
	framesSince   = 50 // older classes have no StackMapTable
	framesBinding = 51 // a class of version 50 whose frames don't hold is checked without them
	indySince     = 51
	staticInIface = 52 // invokestatic and invokespecial take an InterfaceMethodref
)

// Class returns what there is to find in a class file. The error says why data is no class file at all.
func Class(data []byte) ([]Finding, error) {
	var c classfile.Class
	if err := c.Parse(data); err != nil {
		return nil, err
	}
	var v Verifier
	return v.Class(nil, &c), nil
}

// Verifier checks one method after the other and reuses its memory. The zero value is ready. It is not safe for concurrent
// use.
type Verifier struct {
	class       *classfile.Class
	method      *classfile.Member
	pool        *classfile.Pool
	this, super vtype

	body
	frameTable
	state
	args    []vtype // slots of the parameters of the descriptor that was read last
	result  []vtype // slots of what it returns
	returns []vtype // slots of what the method returns
	walk    walk
	work    int // types compared so far
	err     *Error
}

// Class appends what there is to find in a class to dst.
func (v *Verifier) Class(dst []Finding, c *classfile.Class) []Finding {
	for i := range c.Methods {
		m := &c.Methods[i]
		if f, ok := misplacedCode(c, m); ok {
			dst = append(dst, f)
			continue
		}
		if !m.Code.Empty() {
			dst = v.Findings(dst, c, m, c.Bytes(m.Code))
		}
	}
	return dst
}

// misplacedCode checks that a method has code exactly if it should (JVMS §4.7.3), and that only those run without an object
// that may (§2.9).
func misplacedCode(c *classfile.Class, m *classfile.Member) (Finding, bool) {
	f := Finding{Kind: Refused, Method: methodName(c, m), PC: -1}
	bodiless := m.Access&(classfile.AccAbstract|classfile.AccNative) != 0
	static := m.Access&classfile.AccStatic != 0
	name := string(c.Pool.Utf8(m.Name))
	switch {
	case bodiless && !m.Code.Empty():
		f.What = "an abstract or native method has code"
	case !bodiless && m.Code.Empty():
		f.What = "a method that is neither abstract nor native has no code"
	case name == "<init>" && static:
		f.What = "a constructor is static"
	case name == "<clinit>" && !static && c.Major >= framesBinding:
		f.What = "a class initialiser is not static"
	default:
		return f, false
	}
	return f, true
}

func methodName(c *classfile.Class, m *classfile.Member) string {
	return classfile.Text(c.Pool.Utf8(m.Name)) + classfile.Text(c.Pool.Utf8(m.Desc))
}

// Findings appends what there is to find in a method with the given Code attribute, header included, to dst.
func (v *Verifier) Findings(dst []Finding, c *classfile.Class, m *classfile.Member, code []byte) []Finding {
	add := func(kind Kind, pc int, what string) {
		dst = append(dst, Finding{Kind: kind, Method: methodName(c, m), PC: pc, What: what})
	}
	typed, err := v.check(c, m, code)
	if err != nil && err.Kind == Unchecked {
		if flow := v.checkDepths(); flow != nil {
			err = flow
		} else {
			add(Unchecked, err.PC, err.What)
			err, typed = nil, true
		}
	}
	if err != nil {
		add(err.Kind, err.PC, err.What)
		return dst
	}
	if !typed {
		add(Unchecked, -1, fmt.Sprintf("no frames (class-file version %d)", c.Major))
	}
	if pc, what := v.strayFrame(); what != "" {
		add(Frames, pc, what)
	}
	if pc, what := v.unstructuredLock(); what != "" {
		add(Locking, pc, what)
	}
	return dst
}

// Method checks a method with the given Code attribute, header included, that may use constants added to the class's
// pool. It returns nil or an *Error. A method that can't be type-checked, since it has no frames, passes if the rest holds.
func (v *Verifier) Method(c *classfile.Class, m *classfile.Member, code []byte) error {
	if _, err := v.check(c, m, code); err != nil {
		return err
	}
	return nil
}

// check checks a method and tells whether its types were checked.
func (v *Verifier) check(c *classfile.Class, m *classfile.Member, code []byte) (typed bool, err *Error) {
	v.class, v.method, v.pool, v.err = c, m, &c.Pool, nil
	v.work, v.pc = 0, -1
	v.frames = v.frames[:0]
	if !v.begin() || !v.parseBody(code) {
		return false, v.err
	}
	if !v.hasTypes() {
		return false, v.checkDepths()
	}
	if !v.readFrames() || !v.flow() {
		if v.err.Kind == Refused && v.hasFrames && c.Major < framesBinding {
			v.err.Kind = Unchecked
			v.err.What = "the frames do not hold, so that a virtual machine would infer types: " + v.err.What
		}
		return true, v.err
	}
	return true, nil
}

// hasTypes tells whether there is anything to check types against.
func (v *Verifier) hasTypes() bool {
	if v.class.Major >= framesBinding {
		return true
	}
	return v.class.Major == framesSince && !v.subroutines && (v.hasFrames || !v.branches)
}

// begin reads what the method's class and descriptor say.
func (v *Verifier) begin() bool {
	c := v.class
	v.this, _ = v.classType(c.This)
	v.super, _ = v.classType(c.Super)
	desc := v.pool.Utf8(v.method.Desc)
	if !v.methodType(v.method.Desc, desc) {
		return v.fail("the method has the malformed descriptor %q", desc)
	}
	v.returns = append(v.returns[:0], v.result...)
	return true
}

// fail keeps the first error and returns false.
func (v *Verifier) fail(format string, args ...any) bool {
	if v.err == nil {
		v.err = &Error{Kind: Refused, PC: v.pc, What: fmt.Sprintf(format, args...)}
	}
	return false
}

// maxWork bounds how many types are compared in one method: frames of 65,535 locals at every branch would take minutes.
const maxWork = 1 << 28

// spend counts work and fails where there is too much of it.
func (v *Verifier) spend(n int) bool {
	if v.work += n; v.work <= maxWork {
		return true
	}
	if v.err == nil {
		v.err = &Error{Kind: Unchecked, PC: v.pc, What: "the frames are too large to be compared"}
	}
	return false
}
