// Package probe decides what is put into a class and where. Each probe looks at a method and makes a plan of edits, which
// package code applies. This package holds the methods probe: a clock read at entry, one complete event at every exit.
package probe

import (
	"strings"

	"github.com/jiffyperf/jiffy/instrument/classfile"
	"github.com/jiffyperf/jiffy/instrument/code"
	"github.com/jiffyperf/jiffy/instrument/mapping"
	"github.com/jiffyperf/jiffy/instrument/verify"
)

// Runtime is the internal name of the class that probes call. docs/runtime.md lists its methods.
const Runtime = "io/github/jiffyperf/runtime/Probes"

// Exits says which exits of a method report an event.
type Exits int

const (
	// ExitsAll reports returns, and exceptions that leave the method.
	ExitsAll Exits = iota
	// ExitsNormal reports returns only, which makes smaller code; thrown calls are then not recorded.
	ExitsNormal
)

func (e Exits) String() string {
	if e == ExitsNormal {
		return "normal"
	}
	return "all"
}

// Matcher says what is to be instrumented. Names are internal names, descriptors as in JVMS §4.3.
type Matcher interface {
	// MatchClass reports whether all methods of a class match, or at least some, so that MatchMethod has to be asked.
	MatchClass(class []byte) (all, some bool)
	MatchMethod(class, method, desc []byte) bool
}

// Options are the same for every class of a build.
type Options struct {
	Clock Clock
	Exits Exits
	// Salt changes every probe id, for the rare build in which two methods have one id.
	Salt string
	// Huge instruments methods that cross 8,000 bytes by it, which HotSpot then no longer compiles.
	Huge bool
	// SkipTrivial leaves getters, setters, constants and empty bodies alone.
	SkipTrivial bool
	// Verify checks every rewritten method before it is written, and restores the original of one that fails.
	Verify bool
	// Detail asks for Result.Methods.
	Detail bool
	Match  Matcher
}

// hugeMethod is the size in bytes above which HotSpot doesn't compile a method (HugeMethodLimit); ART's limit is near.
const hugeMethod = 8000

// maxBodies bounds the method bodies of one class, in bytes: what code.ErrTooLarge allows each method adds up.
const maxBodies = 256 << 20

// Skip is a method that matches the rules and was left as it is.
type Skip struct {
	Method, Desc string
	Reason       Reason
	// Detail says where, for malformed code.
	Detail string
}

// Result is what happened to one class.
type Result struct {
	Class   string // binary name, such as java.util.Map$Entry
	Matched bool   // the rules select at least a part of it
	Changed bool
	// Out is the rewritten class where Changed, else nil. It is valid until the next call.
	Out     []byte
	Probes  []mapping.Row
	Skipped []Skip
	// Methods are all methods that the rules select, in their order. Only with Options.Detail.
	Methods []Method
	// Dropped counts Code attributes that nobody here understands and that were left out, since they may hold offsets.
	Dropped int
}

// Instrumenter rewrites classes, one after another. It reuses its memory and is not safe for concurrent use.
type Instrumenter struct {
	opts     Options
	class    classfile.Class
	body     code.Body
	rewriter code.Rewriter
	plan     code.Plan
	flow     code.Flow
	ranges   []code.Range // that the handler covers
	refs     refs
	names    []byte // scratch for hashing
	seq      []byte // the inserted instructions of one method
	bodies   []byte // the new Code attributes of one class
	ends     []int  // of each of replaced in bodies
	replaced []classfile.Replacement
	hasher   bodyHasher
	verifier verify.Verifier
	findings []verify.Finding // scratch
	file     string           // SourceFile of the class
	out      []byte
}

// New returns an Instrumenter.
func New(opts Options) *Instrumenter { return &Instrumenter{opts: opts} }

// Class instruments one class file. The error says why it can't be read; the class is then to be copied as it is.
func (in *Instrumenter) Class(data []byte) (Result, error) {
	c := &in.class
	if err := c.Parse(data); err != nil {
		return Result{}, err
	}
	res := Result{Class: binaryName(c.Name())}
	all, some := in.opts.Match.MatchClass(c.Name())
	if !all && !some || c.Access&classfile.AccModule != 0 {
		return res, nil
	}
	res.Matched = true
	if instrumented(c) {
		res.Skipped = append(res.Skipped, Skip{Reason: ReasonTwice})
		return res, nil
	}
	in.beginClass()
	if all {
		res.Probes = make([]mapping.Row, 0, len(c.Methods))
	}
	for i := range c.Methods {
		m := &c.Methods[i]
		if !all && !in.opts.Match.MatchMethod(c.Name(), c.Pool.Utf8(m.Name), c.Pool.Utf8(m.Desc)) {
			continue
		}
		if in.opts.Detail {
			in.detailed(m, &res)
			continue
		}
		in.method(m, &res)
	}
	in.finishClass(&res)
	return res, nil
}

// instrumented reports whether a class calls the runtime already.
func instrumented(c *classfile.Class) bool {
	// The class constants are few, and the index over them is needed for the frames anyway.
	return c.Pool.FindClass(Runtime) != 0
}

func (in *Instrumenter) beginClass() {
	in.bodies, in.ends, in.replaced = in.bodies[:0], in.ends[:0], in.replaced[:0]
	in.refs = refs{}
	in.rewriter.Dropped = 0
	in.file = classfile.Text(in.class.Pool.Utf8(in.class.SourceFile))
	in.hasher.reset(&in.class)
}

func (in *Instrumenter) finishClass(res *Result) {
	if len(in.replaced) == 0 {
		return
	}
	start := 0
	for i, end := range in.ends { // only now, since bodies may have moved while it grew
		in.replaced[i].New = in.bodies[start:end]
		start = end
	}
	in.out = in.class.Append(in.out[:0], in.replaced)
	res.Changed, res.Out, res.Dropped = true, in.out, in.rewriter.Dropped
}

// method instruments one method, or lists why not.
func (in *Instrumenter) method(m *classfile.Member, res *Result) {
	pool := &in.class.Pool
	mark, dropped := pool.Mark(), in.rewriter.Dropped
	row, err := in.rewrite(m, res.Class)
	if err == nil {
		res.Probes = append(res.Probes, row)
		return
	}
	pool.Rollback(mark)
	in.refs, in.rewriter.Dropped = refs{}, dropped
	skip := Skip{Method: classfile.Text(pool.Utf8(m.Name)), Desc: classfile.Text(pool.Utf8(m.Desc)), Reason: reasonOf(err)}
	skip.Detail = detail(err)
	res.Skipped = append(res.Skipped, skip)
}

func (in *Instrumenter) rewrite(m *classfile.Member, class string) (mapping.Row, error) {
	c, b := &in.class, &in.body
	if m.Code.Empty() {
		return mapping.Row{}, withoutCode(m)
	}
	if err := b.Parse(c.Bytes(m.Code), &c.Pool); err != nil {
		return mapping.Row{}, err
	}
	if err := in.leaveAlone(m); err != nil {
		return mapping.Row{}, err
	}
	row := in.row(m, class)
	if err := in.planMethod(m, row.ID); err != nil {
		return mapping.Row{}, err
	}
	start := len(in.bodies)
	out, err := in.rewriter.Rewrite(in.bodies, b, &in.plan, in.target(m))
	if err != nil {
		return mapping.Row{}, err
	}
	if newSize := codeLength(out[start:]); newSize > hugeMethod && len(b.Code) <= hugeMethod && !in.opts.Huge {
		return mapping.Row{}, errHuge
	}
	if len(out) > maxBodies {
		return mapping.Row{}, code.ErrTooLarge
	}
	if in.opts.Verify {
		if err := in.verify(m, out[start:]); err != nil {
			return mapping.Row{}, err
		}
	}
	in.bodies = out
	in.ends = append(in.ends, len(out))
	in.replaced = append(in.replaced, classfile.Replacement{Old: m.Code})
	return row, nil
}

func (in *Instrumenter) target(m *classfile.Member) code.Target {
	c := &in.class
	return code.Target{Pool: &c.Pool, Major: c.Major, Method: code.Method{
		This:        c.This,
		Static:      m.Access&classfile.AccStatic != 0,
		Constructor: isConstructor(c, m),
		Desc:        c.Pool.Utf8(m.Desc),
	}}
}

func isConstructor(c *classfile.Class, m *classfile.Member) bool {
	return string(c.Pool.Utf8(m.Name)) == "<init>"
}

// leaveAlone says which methods are not timed, though they could be.
func (in *Instrumenter) leaveAlone(m *classfile.Member) error {
	s := shape{class: &in.class, method: m, body: &in.body}
	switch {
	case s.forwards():
		return errForwards
	case in.opts.SkipTrivial && s.trivial():
		return errTrivial
	}
	return nil
}

// binaryName turns an internal name into a binary name (JLS §13.1).
func binaryName(internal []byte) string {
	return strings.ReplaceAll(classfile.Text(internal), "/", ".")
}
