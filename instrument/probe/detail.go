package probe

import (
	"encoding/binary"
	"strconv"
	"strings"
	"time"

	"github.com/jiffyperf/jiffy/instrument/classfile"
	"github.com/jiffyperf/jiffy/instrument/code"
)

// Method is what happened to one method that the rules select.
type Method struct {
	Name, Desc string
	// Inserted says in words what was put in; "" where the method was left as it is, which Reason and Detail then explain.
	Inserted string
	Reason   Reason
	Detail   string
	// Before and After are the bytes of bytecode; 0 where there is none.
	Before, After int
	Spent         time.Duration
}

// detailed is method for a result that has Methods.
func (in *Instrumenter) detailed(m *classfile.Member, res *Result) {
	skipped, body, start := len(res.Skipped), len(in.bodies), time.Now()
	in.method(m, res)
	pool := &in.class.Pool
	d := Method{
		Name: classfile.Text(pool.Utf8(m.Name)), Desc: classfile.Text(pool.Utf8(m.Desc)),
		Before: sizeOf(in.class.Bytes(m.Code)), Spent: time.Since(start),
	}
	d.After = d.Before
	if len(res.Skipped) > skipped {
		d.Reason, d.Detail = res.Skipped[skipped].Reason, res.Skipped[skipped].Detail
	} else {
		d.Inserted, d.After = inserted(&in.plan, in.rewriter.Handlers() > 0), sizeOf(in.bodies[body:])
	}
	res.Methods = append(res.Methods, d)
}

// sizeOf is the code_length of a Code attribute, which may be missing or damaged.
func sizeOf(attribute []byte) int {
	if len(attribute) < 14 {
		return 0
	}
	return int(binary.BigEndian.Uint32(attribute[10:]))
}

// inserted describes a plan that was applied: "entry, 2 returns, handler".
func inserted(plan *code.Plan, handled bool) string {
	var parts []string
	returns := 0
	for i := range plan.Edits {
		if plan.Edits[i].Place == code.Entry {
			parts = append(parts, "entry")
			continue
		}
		returns++
	}
	switch returns {
	case 0:
	case 1:
		parts = append(parts, "1 return")
	default:
		parts = append(parts, strconv.Itoa(returns)+" returns")
	}
	if handled {
		parts = append(parts, "handler")
	}
	return strings.Join(parts, ", ")
}
