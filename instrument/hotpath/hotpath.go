// Package hotpath finds the part of the Java library that the runtime's hot path runs through. A probe in there would call
// itself without end, so these classes are never instrumented.
package hotpath

import (
	"slices"
	"strings"

	"github.com/jiffyperf/jiffy/instrument/classfile"
	"github.com/jiffyperf/jiffy/instrument/code"
)

// Find returns the bytes of a class by its internal name, or nil.
type Find func(internalName string) []byte

// Classes follows every call from the public static methods of an entry class, as far as find knows the classes, and returns the
// names of the java.* and jdk.internal.* classes it came through, sorted.
//
// Calls are resolved as they are written: to the class named in the instruction, or the nearest class above that has the
// method (JVMS §5.4.3.3). Overriding methods are not looked for, except in the entry class's own package, where there are
// few: the runtime keeps to final classes and static methods of the library for that reason.
func Classes(entry string, find Find) []string {
	w := &walk{find: find, classes: map[string]*loaded{}, seen: map[method]bool{}}
	if c := w.load(entry); c != nil {
		for _, m := range c.entries {
			w.reach(entry, m.name, m.desc)
		}
	}
	for len(w.todo) > 0 {
		m := w.todo[len(w.todo)-1]
		w.todo = w.todo[:len(w.todo)-1]
		w.follow(m)
	}
	var names []string
	for name, c := range w.classes {
		if c != nil && c.reached && isLibrary(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func isLibrary(name string) bool {
	return strings.HasPrefix(name, "java/") || strings.HasPrefix(name, "jdk/internal/") || strings.HasPrefix(name, "sun/")
}

type method struct{ class, name, desc string }

type signature struct{ name, desc string }

// loaded is what has to be known of a class.
type loaded struct {
	super   string
	bodies  map[signature][]method // the calls in each method
	entries []signature            // its public static methods
	reached bool
}

type walk struct {
	find    Find
	classes map[string]*loaded
	seen    map[method]bool
	todo    []method
}

// reach adds the method that a call of class.name:desc resolves to.
func (w *walk) reach(class, name, desc string) {
	for class != "" {
		c := w.load(class)
		if c == nil {
			return
		}
		if _, ok := c.bodies[signature{name, desc}]; ok {
			m := method{class, name, desc}
			if !w.seen[m] {
				w.seen[m] = true
				c.reached = true
				w.todo = append(w.todo, m)
			}
			return
		}
		class = c.super
	}
}

func (w *walk) follow(m method) {
	for _, call := range w.classes[m.class].bodies[signature{m.name, m.desc}] {
		if !w.cold(call) {
			w.reach(call.class, call.name, call.desc)
		}
	}
}

// cold reports whether a call is not part of the hot path: the runtime's slow paths, whose names end in Slowly, are safe
// against being entered again, and what makes an exception is on its way out.
func (w *walk) cold(call method) bool {
	if !isLibrary(call.class) {
		return strings.HasSuffix(call.name, "Slowly")
	}
	return call.name == "<init>" && w.isThrowable(call.class)
}

func (w *walk) isThrowable(class string) bool {
	for class != "" {
		if class == "java/lang/Throwable" {
			return true
		}
		c := w.load(class)
		if c == nil {
			return false
		}
		class = c.super
	}
	return false
}

func (w *walk) load(name string) *loaded {
	if c, ok := w.classes[name]; ok {
		return c
	}
	w.classes[name] = nil
	data := w.find(name)
	var class classfile.Class
	if data == nil || class.Parse(data) != nil {
		return nil
	}
	c := &loaded{super: string(class.SuperName()), bodies: map[signature][]method{}}
	var body code.Body
	for i := range class.Methods {
		m := &class.Methods[i]
		s := signature{string(class.Pool.Utf8(m.Name)), string(class.Pool.Utf8(m.Desc))}
		c.bodies[s] = nil
		if m.Access&classfile.AccStatic != 0 && m.Access&classfile.AccPublic != 0 {
			c.entries = append(c.entries, s)
		}
		if !m.Code.Empty() && body.Parse(class.Bytes(m.Code), &class.Pool) == nil {
			c.bodies[s] = calls(&body, &class.Pool)
		}
	}
	w.classes[name] = c
	return c
}

// calls lists the methods that a body names in its invoke instructions.
func calls(b *code.Body, pool *classfile.Pool) []method {
	var all []method
	for _, use := range b.Constants {
		if op := b.Code[use.At-1]; op < code.OpInvokevirtual || op > code.OpInvokeinterface {
			continue
		}
		if ref, ok := pool.Ref(use.Index); ok {
			all = append(all, method{string(ref.Class), string(ref.Name), string(ref.Desc)})
		}
	}
	return all
}
