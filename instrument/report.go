package instrument

import (
	"encoding/binary"
	"encoding/csv"
	"io"
	"strconv"

	"github.com/jiffyperf/jiffy/instrument/classfile"
)

// methodSize is how large a method's code is before and after.
type methodSize struct {
	method, desc  string
	before, after int // bytes of the code array
}

// sizer measures methods. It keeps its memory from one class to the next.
type sizer struct{ before, after classfile.Class }

// of returns the sizes of all methods that have code. Both classes have the same methods in the same order.
func (s *sizer) of(before, after []byte) []methodSize {
	if s.before.Parse(before) != nil || s.after.Parse(after) != nil || len(s.before.Methods) != len(s.after.Methods) {
		return nil
	}
	var sizes []methodSize
	for i := range s.before.Methods {
		m, n := &s.before.Methods[i], &s.after.Methods[i]
		if m.Code.Empty() || n.Code.Empty() {
			continue
		}
		sizes = append(sizes, methodSize{
			method: classfile.Text(s.before.Pool.Utf8(m.Name)),
			desc:   classfile.Text(s.before.Pool.Utf8(m.Desc)),
			before: codeLength(s.before.Bytes(m.Code)),
			after:  codeLength(s.after.Bytes(n.Code)),
		})
	}
	return sizes
}

// codeLength returns code_length of a Code attribute (JVMS §4.7.3), header included in code.
func codeLength(code []byte) int {
	if len(code) < 14 {
		return 0
	}
	return int(binary.BigEndian.Uint32(code[10:]))
}

var reportColumns = []string{"class", "method", "descriptor", "action", "reason", "size_before", "size_after"}

// writeReport writes a row for every method that matches the rules, and for every class that could not be read. Sizes are in bytes of
// bytecode; they are empty where a method has none.
func writeReport(w io.Writer, classes []class) error {
	out := csv.NewWriter(w)
	if err := out.Write(reportColumns); err != nil {
		return err
	}
	for i := range classes {
		if err := reportClass(out, &classes[i]); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func reportClass(out *csv.Writer, c *class) error {
	if c.err != nil {
		name := c.name
		if name == "" {
			name = c.place
		}
		return out.Write([]string{name, "", "", "failed", c.err.Error(), "", ""})
	}
	sizes := make(map[[2]string]methodSize, len(c.sizes))
	for _, s := range c.sizes {
		sizes[[2]string{s.method, s.desc}] = s
	}
	row := func(method, desc, action, reason string) error {
		record := []string{c.name, method, desc, action, reason, "", ""}
		if s, ok := sizes[[2]string{method, desc}]; ok {
			record[5], record[6] = strconv.Itoa(s.before), strconv.Itoa(s.after)
		}
		return out.Write(record)
	}
	for _, p := range c.probes {
		if err := row(p.Method, p.Descriptor, "instrumented", ""); err != nil {
			return err
		}
	}
	for _, s := range c.skipped {
		reason := string(s.Reason)
		if s.Detail != "" {
			reason += ": " + s.Detail
		}
		if err := row(s.Method, s.Desc, "skipped", reason); err != nil {
			return err
		}
	}
	return nil
}
