package probe

import (
	"bytes"
	"encoding/binary"

	"github.com/jiffyperf/jiffy/instrument/classfile"
	"github.com/jiffyperf/jiffy/instrument/code"
)

// shape looks at what a method does, to tell code that somebody wrote from code that a compiler put in between.
type shape struct {
	class  *classfile.Class
	method *classfile.Member
	body   *code.Body
}

func (s *shape) is(flag uint16) bool { return s.method.Access&flag == flag }
func (s *shape) name() []byte        { return s.class.Pool.Utf8(s.method.Name) }

// forwards reports whether the method only hands its arguments on: timing it would count the call twice. The shape
// decides, never ACC_SYNTHETIC alone, which the bodies of lambdas have too.
func (s *shape) forwards() bool {
	switch {
	case s.is(classfile.AccBridge):
		return s.oneCall(nil)
	case s.is(classfile.AccSynthetic|classfile.AccStatic) && bytes.HasPrefix(s.name(), []byte("access$")):
		return s.straight()
	case s.is(classfile.AccSynthetic|classfile.AccStatic) && bytes.HasSuffix(s.name(), []byte("$default")):
		return s.callsLast(bytes.TrimSuffix(s.name(), []byte("$default")))
	case s.is(classfile.AccStatic) && string(s.name()) == "values" && s.class.Access&classfile.AccEnum != 0:
		return s.oneCall(func(ref classfile.Ref) bool { return string(ref.Name) == "clone" })
	}
	return s.defaultImpls()
}

var defaultImpls = []byte("$DefaultImpls")

// defaultImpls recognises what Kotlin makes of interface methods with bodies: a class's method that calls the static one
// in Iface$DefaultImpls, and a static one in there that calls the interface's.
func (s *shape) defaultImpls() bool {
	inside := bytes.HasSuffix(s.class.Name(), defaultImpls)
	return s.oneCall(func(ref classfile.Ref) bool {
		sameName := bytes.Equal(ref.Name, s.name()) ||
			bytes.HasPrefix(ref.Name, []byte("access$")) && bytes.Equal(s.accessed(ref.Name), s.name())
		if inside {
			return sameName && bytes.Equal(ref.Class, bytes.TrimSuffix(s.class.Name(), defaultImpls))
		}
		return sameName && bytes.HasSuffix(ref.Class, defaultImpls)
	})
}

// accessed is foo for access$foo$jd.
func (s *shape) accessed(name []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimPrefix(name, []byte("access$")), []byte("$jd"))
}

// oneCall reports whether the body loads things, calls one method (that fits), and returns what it gave.
func (s *shape) oneCall(fits func(classfile.Ref) bool) bool {
	calls, ok := 0, true
	s.each(func(pc int, op code.Opcode) bool {
		switch {
		case isLoad(op), op == code.OpCheckcast, op == code.OpGetstatic, code.IsReturn(op):
		case op >= code.OpInvokevirtual && op <= code.OpInvokeinterface:
			calls++
			ref, known := s.class.Pool.Ref(binary.BigEndian.Uint16(s.body.Code[pc+1:]))
			ok = known && (fits == nil || fits(ref))
		default:
			ok = false
		}
		return ok
	})
	return ok && calls == 1
}

// straight reports whether the body is one line of loads, at most one call or field access, and a return.
func (s *shape) straight() bool {
	accesses, ok := 0, true
	s.each(func(_ int, op code.Opcode) bool {
		switch {
		case isLoad(op), op == code.OpCheckcast, code.IsReturn(op), op >= 87 && op <= 95: // pop … swap
		case op >= code.OpGetstatic && op <= code.OpInvokeinterface:
			accesses++
		default:
			ok = false
		}
		return ok
	})
	return ok && accesses <= 2 // a compound assignment reads and writes
}

// callsLast reports whether the last call of the body is one of the named method.
func (s *shape) callsLast(name []byte) bool {
	var last classfile.Ref
	s.each(func(pc int, op code.Opcode) bool {
		if op >= code.OpInvokevirtual && op <= code.OpInvokeinterface {
			last, _ = s.class.Pool.Ref(binary.BigEndian.Uint16(s.body.Code[pc+1:]))
		}
		return true
	})
	return bytes.Equal(last.Name, name)
}

// trivial reports whether the body is empty, a constant, a getter or a setter. What loops or calls is never trivial.
func (s *shape) trivial() bool {
	accesses, ok := 0, true
	s.each(func(_ int, op code.Opcode) bool {
		switch {
		case op <= code.OpLdc2W, isLoad(op), op == code.OpCheckcast, code.IsReturn(op):
		case op >= code.OpGetstatic && op <= code.OpPutfield:
			accesses++
		default:
			ok = false
		}
		return ok
	})
	return ok && accesses <= 1
}

// isLoad reports whether an opcode pushes a local variable.
func isLoad(op code.Opcode) bool { return op >= code.OpIload && op <= code.OpAload3 }

// each calls visit for every instruction until it returns false.
func (s *shape) each(visit func(pc int, op code.Opcode) bool) {
	for pc := 0; pc < len(s.body.Code); pc += s.body.Length(pc) {
		if !visit(pc, s.body.Code[pc]) {
			return
		}
	}
}
