package probe

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"github.com/jiffyperf/jiffy/instrument/classfile"
)

// A rewriter with a defect can't be had on purpose, so its result is damaged here instead.
func TestDamagedResultsAreTakenBack(t *testing.T) {
	data, err := os.ReadFile("../../fixtures/classes/locks/Locks.class")
	if err != nil {
		t.Fatal(err)
	}
	maxStack := func(attribute []byte) { attribute[6], attribute[7] = 0, 0 }
	handlers := func(attribute []byte) { // the rows that unlock cover nothing any more
		at := 14 + codeLength(attribute) + 2
		for ; at+8 <= len(attribute) && attribute[at+6]|attribute[at+7] == 0 && attribute[at+2]|attribute[at+3] != 0; at += 8 {
			attribute[at+3] = attribute[at+1] + 1
		}
	}
	for name, test := range map[string]struct {
		original, rewritten func([]byte)
		want                error
	}{
		"nothing":                          {nil, nil, nil},
		"max_stack":                        {nil, maxStack, errDefect},
		"max_stack of the original too":    {maxStack, maxStack, errUnverified},
		"what unlocks":                     {nil, handlers, errDefect},
		"what unlocks in the original too": {handlers, handlers, nil},
	} {
		t.Run(name, func(t *testing.T) {
			in := New(Options{Verify: true})
			m := parseMethod(t, in, bytes.Clone(data), "block")
			attribute := in.class.Data[m.Code.Start:m.Code.End]
			if test.original != nil {
				test.original(attribute)
			}
			rewritten := bytes.Clone(attribute)
			if test.rewritten != nil && test.original == nil {
				test.rewritten(rewritten)
			}
			if err := in.verify(m, rewritten); !errors.Is(err, test.want) {
				t.Errorf("%v, want %v", err, test.want)
			} else if err != nil && (detail(err) == "" || reasonOf(err) == ReasonMalformed) {
				t.Errorf("%v: detail %q, reason %q", err, detail(err), reasonOf(err))
			}
		})
	}
}

func parseMethod(t *testing.T, in *Instrumenter, data []byte, name string) *classfile.Member {
	t.Helper()
	if err := in.class.Parse(data); err != nil {
		t.Fatal(err)
	}
	for i := range in.class.Methods {
		m := &in.class.Methods[i]
		if string(in.class.Pool.Utf8(m.Name)) == name {
			if err := in.body.Parse(in.class.Bytes(m.Code), &in.class.Pool); err != nil {
				t.Fatal(err)
			}
			return m
		}
	}
	t.Fatalf("no method %s", name)
	return nil
}
