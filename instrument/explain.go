package instrument

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jiffyperf/jiffy/instrument/archive"
	"github.com/jiffyperf/jiffy/instrument/classfile"
	"github.com/jiffyperf/jiffy/instrument/dump"
	"github.com/jiffyperf/jiffy/instrument/probe"
	"github.com/jiffyperf/jiffy/instrument/rules"
)

// Explain shows the methods that a pattern selects as they are and as they would become, side by side, or the reason why one is left as
// it is. It looks at the inputs and writes no output.
func Explain(ctx context.Context, o Options, p *rules.Pattern, w io.Writer) error {
	in, err := archive.Open(o.Inputs)
	if err != nil {
		return err
	}
	defer in.Close()
	if o.Rules == nil {
		o.Rules = new(rules.Rules)
	}
	j := &job{options: o, inputs: in, explains: true}
	if j.hot, err = hotClasses(in, o.Runtime); err != nil {
		return err
	}
	x := &explainer{job: j, pattern: p, w: w, instrumenter: j.newInstrumenter()}
	var names []string
	for _, e := range in.Entries() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !e.IsClass() {
			continue
		}
		names = append(names, classNameOf(e.Name))
		if !x.mayHold(e.Name) {
			continue
		}
		if err := x.entry(e); err != nil {
			return err
		}
	}
	switch {
	case x.methods > 0:
		return nil
	case x.classes > 0:
		return fmt.Errorf("--explain %s matches %s, but none of their methods", p, count(x.classes, "class"))
	}
	return fmt.Errorf("--explain %s matches no class; the closest is %s", p, p.Closest(names))
}

// explainer explains methods of one class after the other.
type explainer struct {
	job              *job
	pattern          *rules.Pattern
	w                io.Writer
	instrumenter     *probe.Instrumenter
	classes, methods int // that the pattern matched
}

// mayHold reports whether an entry's path ends as the name of a class would that matches.
func (x *explainer) mayHold(entry string) bool {
	for name := strings.TrimSuffix(entry, ".class"); ; {
		if x.pattern.MatchClass([]byte(name)) {
			return true
		}
		_, below, ok := strings.Cut(name, "/")
		if !ok {
			return false
		}
		name = below
	}
}

func (x *explainer) entry(e *archive.Entry) error {
	content, err := e.Content()
	if err != nil {
		return fmt.Errorf("%s: %w", e.Place(), err)
	}
	var c classfile.Class
	if err := c.Parse(content); err != nil {
		return fmt.Errorf("%s: %w", e.Place(), err)
	}
	if !x.pattern.MatchClass(c.Name()) {
		return nil
	}
	x.classes++
	r, err := x.instrumenter.Class(content)
	if err != nil {
		return fmt.Errorf("%s: %w", e.Place(), err)
	}
	for i := range c.Methods {
		name, desc := c.Pool.Utf8(c.Methods[i].Name), c.Pool.Utf8(c.Methods[i].Desc)
		if !x.pattern.MatchMethod(name, desc) {
			continue
		}
		x.methods++
		if err := x.method(e, content, &r, classfile.Text(name), classfile.Text(desc)); err != nil {
			return err
		}
	}
	return nil
}

// method explains one method. Two methods are set apart by an empty line.
func (x *explainer) method(e *archive.Entry, content []byte, r *probe.Result, name, desc string) error {
	before, err := dump.Method(content, name, desc)
	if err != nil {
		return err
	}
	m, reason := x.fate(r, name, desc)
	var b strings.Builder
	if x.methods > 1 {
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "%s#%s%s in %s\n", r.Class, name, desc, e.Place())
	if reason != "" {
		fmt.Fprintf(&b, "left as it is: %s\n%s", reason, before)
		_, err = io.WriteString(x.w, b.String())
		return err
	}
	fmt.Fprintf(&b, "instrumented: %s; bytecode from %d to %d bytes\n", m.Inserted, m.Before, m.After)
	after, err := dump.Method(r.Out, name, desc)
	if err != nil {
		return err
	}
	sideBySide(&b, splitLines(before), splitLines(after))
	_, err = io.WriteString(x.w, b.String())
	return err
}

// fate finds out what happened to a method: what was done to it, or the reason why nothing was.
func (x *explainer) fate(r *probe.Result, name, desc string) (m probe.Method, reason string) {
	at := slices.IndexFunc(r.Methods, func(m probe.Method) bool { return m.Name == name && m.Desc == desc })
	switch {
	case x.job.hot.has(r.Class):
		return m, string(reasonHot)
	case at < 0 && len(r.Skipped) > 0 && r.Skipped[0].Method == "":
		return m, string(r.Skipped[0].Reason)
	case at < 0:
		return m, "the include and exclude patterns don't select it"
	}
	m = r.Methods[at]
	if m.Reason == "" {
		return m, ""
	}
	if m.Detail != "" {
		return m, string(m.Reason) + ": " + m.Detail
	}
	return m, string(m.Reason)
}

func splitLines(text string) []string {
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
