package instrument

import (
	"encoding/csv"
	"io"
	"strconv"
	"time"

	"github.com/jiffyperf/jiffy/instrument/probe"
)

// detail is what the report says of a class that could be read.
type detail struct {
	methods       []probe.Method
	before, after int // bytes of the class file
	spent         time.Duration
}

var reportColumns = []string{"class", "method", "descriptor", "action", "reason", "size_before", "size_after", "inserted", "time_ns"}

const (
	actionInstrumented = "instrumented"
	actionSkipped      = "skipped"
	actionFailed       = "failed"
)

// writeReport writes a row for every class that matches the rules, and for every one that could not be read, each followed by rows of its
// methods that match. Sizes are in bytes: of the class file, or of a method's bytecode, and empty where a method has none.
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
		return out.Write([]string{name, "", "", actionFailed, c.err.Error(), "", "", "", ""})
	}
	if c.detail == nil {
		return nil
	}
	d := c.detail
	action, reason := actionInstrumented, ""
	if !c.changed {
		action, reason = actionSkipped, c.leftBecause()
	}
	if err := out.Write([]string{
		c.name, "", "", action, reason, strconv.Itoa(d.before), strconv.Itoa(d.after), "", strconv.FormatInt(d.spent.Nanoseconds(), 10),
	}); err != nil {
		return err
	}
	for i := range d.methods {
		if err := out.Write(methodRow(c.name, &d.methods[i])); err != nil {
			return err
		}
	}
	return nil
}

// leftBecause says why a class as a whole has no probe.
func (c *class) leftBecause() string {
	if len(c.skipped) == 1 && c.skipped[0].Method == "" {
		return string(c.skipped[0].Reason)
	}
	return "no method was changed"
}

func methodRow(class string, m *probe.Method) []string {
	row := []string{
		class, m.Name, m.Desc, actionInstrumented, "", "", "", m.Inserted, strconv.FormatInt(m.Spent.Nanoseconds(), 10),
	}
	if m.Reason != "" {
		row[3], row[4] = actionSkipped, string(m.Reason)
		if m.Detail != "" {
			row[4] += ": " + m.Detail
		}
	}
	if m.Before > 0 {
		row[5], row[6] = strconv.Itoa(m.Before), strconv.Itoa(m.After)
	}
	return row
}
