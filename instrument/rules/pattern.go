package rules

import (
	"fmt"
	"math/bits"
	"strings"
)

// A Pattern selects classes, or methods of classes:
//
//	com.acme.Foo          the class, and the classes nested in it
//	com.acme.*            the classes of one package
//	com.acme.**           the classes of a package and of all below it
//	com.acme.**.*Test     * is any part of one name, ? one character; **. is any number of packages, none included
//	com.acme.Foo#bar      all methods of that name
//	com.acme.Foo#bar(I)V  one method
//	**#on*                methods of all classes
//
// Class names may be written with slashes, too.
type Pattern struct {
	text       string
	class      glob
	method     glob // not set if descriptor and method are absent
	descriptor glob
	ofMethods  bool // there is a # part
	anyDesc    bool // there is no descriptor
}

// String returns the pattern as it was written.
func (p *Pattern) String() string { return p.text }

// OfMethods reports whether the pattern has a method part.
func (p *Pattern) OfMethods() bool { return p.ofMethods }

// MatchClass reports whether the class of an internal name (JVMS §4.2.1), or a class that it is nested in, matches the
// pattern's class part.
func (p *Pattern) MatchClass(internalName []byte) bool {
	return p.class.match(internalName, '$')
}

// MatchMethod reports whether name and descriptor match the pattern's method part. A pattern without one matches all.
func (p *Pattern) MatchMethod(name, desc []byte) bool {
	if !p.ofMethods {
		return true
	}
	return p.method.match(name, 0) && (p.anyDesc || p.descriptor.match(desc, 0))
}

// A PatternError says what is wrong with a pattern, and where.
type PatternError struct {
	Pattern string
	Offset  int // in bytes
	Problem string
}

func (e *PatternError) Error() string {
	return fmt.Sprintf("pattern %q, character %d: %s", e.Pattern, len([]rune(e.Pattern[:e.Offset]))+1, e.Problem)
}

// Parse parses a pattern.
func Parse(text string) (*Pattern, error) {
	p := &Pattern{text: text}
	class, rest, ofMethods := strings.Cut(text, "#")
	fail := func(offset int, problem string) (*Pattern, error) {
		return nil, &PatternError{text, offset, problem}
	}
	if offset, problem := checkClass(class); problem != "" {
		return fail(offset, problem)
	}
	var problem string
	if p.class, problem = compile(strings.ReplaceAll(class, ".", "/"), true); problem != "" {
		return fail(0, problem)
	}
	if !ofMethods {
		return p, nil
	}
	p.ofMethods = true
	start := len(class) + 1
	name, desc := rest, ""
	if open := strings.IndexByte(rest, '('); open >= 0 {
		name, desc = rest[:open], rest[open:]
	}
	if offset, problem := checkMethod(name); problem != "" {
		return fail(start+offset, problem)
	}
	if p.method, problem = compile(name, false); problem != "" {
		return fail(start, problem)
	}
	p.anyDesc = desc == ""
	if offset, problem := checkDescriptor(desc); problem != "" {
		return fail(start+len(name)+offset, problem)
	}
	if p.descriptor, problem = compile(strings.ReplaceAll(desc, ".", "/"), false); problem != "" {
		return fail(start+len(name), problem)
	}
	return p, nil
}

// checkClass looks for what can't be in the name of a class (JVMS §4.2.1) and for likely slips. It returns the offset
// and the problem, "" if there is none.
func checkClass(class string) (int, string) {
	if class == "" {
		return 0, "a class is missing; ** stands for all"
	}
	for i := range len(class) {
		switch c := class[i]; {
		case strings.IndexByte(";[<>:,!()", c) >= 0 || c <= ' ':
			return i, fmt.Sprintf("a class name can't hold %q", c)
		case (c == '.' || c == '/') && i == 0:
			return i, "a package name is missing before the dot"
		case (c == '.' || c == '/') && (class[i-1] == '.' || class[i-1] == '/'):
			return i, "a package name is missing between two dots"
		case c == '*' && strings.HasSuffix(class[:i], "**"):
			return i, "*** means nothing; * is any part of one name, ** crosses dots"
		}
	}
	if last := class[len(class)-1]; last == '.' || last == '/' {
		return len(class) - 1, fmt.Sprintf("it ends in a dot; %s** is a package and all below it", class)
	}
	if strings.HasSuffix(class, ".class") {
		return len(class) - len(".class"), "it names a file; leave out .class"
	}
	return 0, ""
}

// checkMethod is checkClass for the name of a method (JVMS §4.2.2).
func checkMethod(name string) (int, string) {
	if name == "" {
		return 0, "a method name is missing; * stands for all"
	}
	if name == "<init>" || name == "<clinit>" {
		return 0, ""
	}
	for i := range len(name) {
		if c := name[i]; strings.IndexByte(".;[/<>:#)", c) >= 0 || c <= ' ' {
			return i, fmt.Sprintf("a method name can't hold %q", c)
		}
		if strings.HasPrefix(name[i:], "**") {
			return i, "** is for classes; * stands for any part of a method name"
		}
	}
	return 0, ""
}

// checkDescriptor checks a method descriptor (JVMS §4.3.3) in which * may stand for anything.
func checkDescriptor(desc string) (int, string) {
	if desc == "" {
		return 0, ""
	}
	const form = "a descriptor is written as in the class file, such as (ILjava/lang/String;)V"
	closing := strings.IndexByte(desc, ')')
	if closing < 0 {
		return 0, "the ) is missing; " + form
	}
	if at := fieldTypes(desc[1:closing]); at >= 0 {
		return 1 + at, form
	}
	result := desc[closing+1:]
	if result == "" {
		return closing, "the return type is missing; " + form
	}
	if at := fieldTypes(result); at >= 0 && result != "V" {
		return closing + 1 + at, form
	}
	return 0, ""
}

// fieldTypes returns the offset of what is no field type (JVMS §4.3.2), or -1.
func fieldTypes(s string) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case 'B', 'C', 'D', 'F', 'I', 'J', 'S', 'Z', '*':
		case '[':
			if i+1 == len(s) {
				return i
			}
		case 'L':
			n := strings.IndexAny(s[i:], ";*")
			if n < 2 && !strings.HasPrefix(s[i:], "L*") {
				return i
			}
			i += n
			if s[i] == '*' { // what follows may be the rest of the name, or of the parameters
				if end := strings.IndexByte(s[i:], ';'); end >= 0 {
					i += end
				}
			}
		default:
			return i
		}
	}
	return -1
}

// glob is a compiled wildcard expression: literal bytes, and after them tokens if there is a wildcard.
type glob struct {
	prefix string
	tokens []token
	rest   bool // the only token is **, so that the prefix decides
}

type token struct {
	kind kind
	byte byte
}

type kind uint8

const (
	literal  kind = iota // one byte
	anyByte              // ?: a byte, but no slash
	anyName              // *: any bytes but slashes
	anyBytes             // **: any bytes
	segments             // **/ at the start of a name: any number of names, each with its slash …
	inside               // … and the state within one of them
)

// maxTokens bounds a pattern's length after its first wildcard, so that the matcher's states fit into its stack frame.
const maxTokens = 64*4 - 1

// compile turns text into a glob. Names are separated by slashes if classes is set.
func compile(text string, classes bool) (g glob, problem string) {
	wild := strings.IndexAny(text, "*?")
	if wild < 0 {
		return glob{prefix: text}, ""
	}
	g.prefix = text[:wild]
	for i := wild; i < len(text); i++ {
		start := i == 0 || text[i-1] == '/'
		switch {
		case classes && start && strings.HasPrefix(text[i:], "**/"):
			g.tokens = append(g.tokens, token{kind: segments}, token{kind: inside})
			i += 2
		case classes && strings.HasPrefix(text[i:], "**"):
			g.tokens = append(g.tokens, token{kind: anyBytes})
			i++
		case text[i] == '*' && classes:
			g.tokens = append(g.tokens, token{kind: anyName})
		case text[i] == '*':
			g.tokens = append(g.tokens, token{kind: anyBytes})
		case text[i] == '?':
			g.tokens = append(g.tokens, token{kind: anyByte})
		default:
			g.tokens = append(g.tokens, token{literal, text[i]})
		}
	}
	if len(g.tokens) > maxTokens {
		return g, fmt.Sprintf("it has more than %d characters after its first wildcard", maxTokens)
	}
	g.rest = len(g.tokens) == 1 && g.tokens[0].kind == anyBytes
	return g, ""
}

// match reports whether name matches. With end set, a part of it that is followed by end suffices: com/acme/Foo matches
// com/acme/Foo$Bar.
func (g *glob) match(name []byte, end byte) bool {
	if len(name) < len(g.prefix) || string(name[:len(g.prefix)]) != g.prefix {
		return false
	}
	name = name[len(g.prefix):]
	if g.tokens == nil {
		return len(name) == 0 || end != 0 && name[0] == end
	}
	if g.rest {
		return true
	}
	return g.run(name, end)
}

// states is a set of positions in the tokens.
type states [4]uint64

func (s *states) has(i int) bool { return s[i>>6]&(1<<(i&63)) != 0 }
func (s *states) add(i int)      { s[i>>6] |= 1 << (i & 63) }

// run matches the tokens against name as a non-deterministic automaton: in time of the length of both, whatever the pattern.
func (g *glob) run(name []byte, end byte) bool {
	var now states
	g.enter(&now, 0)
	for _, c := range name {
		if end != 0 && c == end && now.has(len(g.tokens)) {
			return true
		}
		var next states
		alive := false
		for w, word := range now {
			for ; word != 0; word &= word - 1 {
				if i := w<<6 + bits.TrailingZeros64(word); i < len(g.tokens) {
					alive = g.step(&next, i, c) || alive
				}
			}
		}
		if !alive {
			return false
		}
		now = next
	}
	return now.has(len(g.tokens))
}

// enter adds state i, and those that can be reached from it without a byte.
func (g *glob) enter(s *states, i int) {
	for ; ; i++ {
		s.add(i)
		if i == len(g.tokens) {
			return
		}
		switch g.tokens[i].kind {
		case anyName, anyBytes:
		case segments:
			i++ // over inside
		default:
			return
		}
	}
}

// step adds the states that follow state i after byte c, and reports whether there are any.
func (g *glob) step(next *states, i int, c byte) bool {
	switch t := g.tokens[i]; {
	case t.kind == literal && c == t.byte, t.kind == anyByte && c != '/':
		g.enter(next, i+1)
	case t.kind == anyName && c != '/', t.kind == anyBytes:
		g.enter(next, i)
	case t.kind == segments && c != '/':
		next.add(i + 1)
	case t.kind == inside && c != '/':
		next.add(i)
	case t.kind == inside:
		g.enter(next, i-1)
	default:
		return false
	}
	return true
}
