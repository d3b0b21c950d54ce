package probe_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/jiffyperf/jiffy/instrument/classfile"
	"github.com/jiffyperf/jiffy/instrument/code"
	"github.com/jiffyperf/jiffy/instrument/dump"
	"github.com/jiffyperf/jiffy/instrument/probe"
)

// FuzzClass instruments anything that parses, with options made from a byte.
func FuzzClass(f *testing.F) {
	for _, file := range fixtureClasses(f) {
		data := read(f, file)
		f.Add(data, byte(0))
		f.Add(data, byte(0xFF))
	}
	f.Fuzz(func(t *testing.T, data []byte, options byte) {
		if err := checkClass(data, options); err != nil {
			t.Fatal(err)
		}
	})
}

// TestMutatedClasses changes every byte of the fixture classes in turn.
func TestMutatedClasses(t *testing.T) {
	for i, file := range fixtureClasses(t) {
		data := read(t, file)
		for at, old := range data {
			for _, value := range []byte{0xFF, old + 1} {
				data[at] = value
				if err := checkClass(data, byte(i)); err != nil {
					t.Fatalf("%s: byte %d: %#x instead of %#x: %v", file, at, value, old, err)
				}
			}
			data[at] = old
		}
	}
}

// checkClass instruments a class. What comes out must be a class file whose methods can be read and printed, with every
// method either probed or listed, and must be refused the second time.
func checkClass(data []byte, options byte) error {
	in := probe.New(probe.Options{
		Match: everything{},
		Clock: probe.Clock(options & 3), Exits: probe.Exits(options >> 2 & 1),
		Huge: options>>3&1 != 0, SkipTrivial: options>>4&1 != 0,
	})
	var before, after classfile.Class
	res, err := in.Class(data)
	if parseErr := before.Parse(data); (err == nil) != (parseErr == nil) {
		return fmt.Errorf("instrument: %v, parse: %v", err, parseErr)
	}
	switch {
	case err != nil || !res.Matched:
		return nil
	case !res.Changed:
		if res.Out != nil || len(res.Probes) > 0 {
			return fmt.Errorf("not changed, but %d bytes and %d probes", len(res.Out), len(res.Probes))
		}
		return nil
	case len(res.Out) > 64<<20:
		return fmt.Errorf("%d bytes from %d", len(res.Out), len(data))
	case len(res.Probes)+len(res.Skipped) != len(before.Methods):
		return fmt.Errorf("%d methods, %d probed, %d listed", len(before.Methods), len(res.Probes), len(res.Skipped))
	}
	out := bytes.Clone(res.Out)
	if err := after.Parse(out); err != nil {
		return fmt.Errorf("instrumented to what can't be parsed: %w", err)
	}
	if err := readBodies(&before, &after); err != nil {
		return err
	}
	if err := dump.Write(io.Discard, out); err != nil {
		return err
	}
	if res, err := in.Class(out); err != nil || res.Changed || res.Skipped[0].Reason != probe.ReasonTwice {
		return fmt.Errorf("instrumented twice: changed %v, %v, %v", res.Changed, res.Skipped, err)
	}
	return nil
}

// readBodies parses all method bodies of the class after it was instrumented that could be parsed before.
func readBodies(before, after *classfile.Class) error {
	var b code.Body
	for i := range after.Methods {
		old, now := &before.Methods[i], &after.Methods[i]
		if old.Code.Empty() || b.Parse(before.Bytes(old.Code), &before.Pool) != nil {
			continue
		}
		if err := b.Parse(after.Bytes(now.Code), &after.Pool); err != nil {
			return fmt.Errorf("%s: %w", after.Pool.Utf8(now.Name), err)
		}
	}
	return nil
}
