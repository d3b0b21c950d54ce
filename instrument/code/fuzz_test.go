package code_test

import (
	"encoding/binary"
	"testing"

	"github.com/jiffyperf/jiffy/fixtures"
	"github.com/jiffyperf/jiffy/instrument/classfile"
	"github.com/jiffyperf/jiffy/instrument/code"
)

// FuzzBody rewrites every method of anything that parses, with edits that the seed picks. What Rewrite accepts must be a
// Code attribute again, with all that was inserted in it, of a bounded size.
func FuzzBody(f *testing.F) {
	for _, data := range fixtures.Classes(f) {
		f.Add(data, uint64(0))
		f.Add(data, uint64(0x123456789ABCDEF))
	}
	var r code.Rewriter // reused, as it is in earnest
	var b, again code.Body
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		var c classfile.Class
		if c.Parse(data) != nil {
			return
		}
		for i := range c.Methods {
			m := &c.Methods[i]
			if m.Code.Empty() || b.Parse(c.Bytes(m.Code), &c.Pool) != nil {
				continue
			}
			plan, inserted := seededPlan(&b, seed)
			out, err := r.Rewrite(nil, &b, &plan, code.Target{Pool: &c.Pool, Major: c.Major, Method: code.Method{
				This: c.This, Static: m.Access&classfile.AccStatic != 0, Desc: c.Pool.Utf8(m.Desc)}})
			if err != nil {
				if len(out) != 0 {
					t.Fatalf("%v, and %d bytes all the same", err, len(out))
				}
				continue
			}
			if err := again.Parse(out, &c.Pool); err != nil {
				t.Fatalf("rewritten to what can't be read: %v", err)
			}
			if got := nops(&again) - nops(&b); got != inserted {
				t.Fatalf("%d nops inserted, not %d", got, inserted)
			}
			if got := int(binary.BigEndian.Uint32(out[2:])); got != len(out)-6 {
				t.Fatalf("attribute_length %d, but %d bytes", got, len(out)-6)
			}
			if len(out) > 64<<20 {
				t.Fatalf("%d bytes from %d", len(out), len(data))
			}
		}
	})
}

// seededPlan puts nops around instructions, and says how many. A seed of 0 is a plan without edits, odd ones have a handler.
func seededPlan(b *code.Body, seed uint64) (plan code.Plan, inserted int) {
	if seed == 0 {
		return plan, 0
	}
	add := func(e code.Edit) {
		plan.Edits = append(plan.Edits, e)
		for _, op := range e.Code {
			if op == code.OpNop {
				inserted++
			}
		}
	}
	const lconst0 = 9
	plan.Longs = 1
	lstore := []byte{lconst0, code.OpWide, code.OpLstore, byte(b.MaxLocals >> 8), byte(b.MaxLocals)}
	plan.Edits = append(plan.Edits, code.Edit{Place: code.Entry, Code: lstore, Stack: 2})
	for range seed & 3 {
		plan.Handlers = append(plan.Handlers, code.Handler{Ranges: []code.Range{{Start: 0, End: len(b.Code)}}, Code: []byte{code.OpAthrow}, Stack: 1})
	}
	for pc := 0; pc < len(b.Code); pc += b.Length(pc) {
		seed = seed*6364136223846793005 + 1442695040888963407
		nops := make([]byte, 1+seed>>60&3)
		switch seed >> 33 & 7 {
		case 0:
			if b.FallsThrough(pc) {
				add(code.Edit{PC: pc, Place: code.After, Code: nops})
			}
		case 1:
			add(code.Edit{PC: pc, Place: code.Before, Code: nops})
		case 2:
			add(code.Edit{PC: pc, Place: code.Before, Code: nops, Bare: code.HandlerSet(seed >> 40)})
		case 3:
			if b.FallsThrough(pc) && b.Code[pc] != code.OpNop {
				add(code.Edit{PC: pc, Place: code.Instead, Code: nops})
			}
		}
	}
	return plan, inserted
}

// nops counts the nop instructions.
func nops(b *code.Body) (n int) {
	for pc := 0; pc < len(b.Code); pc += b.Length(pc) {
		if b.Code[pc] == code.OpNop {
			n++
		}
	}
	return n
}
