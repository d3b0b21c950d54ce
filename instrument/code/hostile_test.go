package code_test

import (
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jiffyperf/jiffy/instrument/classfile"
	"github.com/jiffyperf/jiffy/instrument/code"
)

// Small class files that make a careless rewriter take minutes or gigabytes. Refusing them is as good as rewriting them.
func TestHostileMethods(t *testing.T) {
	const (
		seconds   = 20
		allocated = 256 << 20
	)
	tests := []struct {
		name string
		r    rewriting
	}{{
		name: "frames that come and go over 65,533 locals",
		r: rewriting{longs: 1, method: method{desc: "()V", access: static, major: java17, stack: 1, locals: 65533,
			text: nopLines(20000) + "return\n" + alternatingFrames(20000)}},
	}, {
		name: "thousands of conditions that all need detours",
		r: rewriting{edits: []edit{{at: "m", place: code.Before, code: strings.Repeat("nop ", 30000)}},
			method: method{desc: "(I)V", access: static, major: java17, stack: 1, locals: 1,
				text: "goto start\nnear: return\nstart: nop\n" + strings.Repeat("iload_0\nifne far\n", 7000) +
					"goto m\nm: nop\nfar: return\n.frame near same\n.frame start same\n.frame m same-ext\n.frame far same"}},
	}, {
		name: "thousands of conditions that go back too far",
		r: rewriting{edits: []edit{{at: "far", place: code.After, code: strings.Repeat("nop ", 30000)}},
			method: method{desc: "(I)V", access: static, major: java17, stack: 1, locals: 1,
				text: "far: nop\n" + strings.Repeat("iload_0\nifne far\n", 3500) + "goto b\na: return\nb: nop\n" + strings.Repeat("iload_0\nifne far\n", 3500) +
					"return\n.frame far same\n.frame a same-ext\n.frame b same"}},
	}, {
		name: "thousands of conditions that all need detours of their own",
		r: rewriting{edits: []edit{{at: "m", place: code.Before, code: strings.Repeat("nop ", 32000)}},
			method: method{desc: "(I)V", access: static, major: java17, stack: 1, locals: 1, text: ownTargets(2500)}},
	}}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			start, before := time.Now(), allocatedBytes()
			_, _, err := test.r.rewrite(t)
			took, size := time.Since(start), allocatedBytes()-before
			t.Logf("%v, %d MB, %v", took, size>>20, err)
			if took > seconds*time.Second || size > allocated {
				t.Errorf("%v and %d MB: %v", took, size>>20, err)
			}
		})
	}
}

// ownTargets has so many conditions, each with a target of its own behind the label m.
func ownTargets(n int) string {
	var jumps, targets, frames strings.Builder
	for i := range n {
		label := "t" + strconv.Itoa(i)
		jumps.WriteString("iload_0\nifne " + label + "\n")
		targets.WriteString(label + ": nop\n")
		frames.WriteString(".frame " + label + " same\n")
	}
	return "goto start\nnear: return\nstart: nop\n" + jumps.String() + "goto m\nm: nop\n" + targets.String() +
		"return\n.frame near same\n.frame start same\n.frame m same-ext\n" + frames.String()
}

// alternatingFrames appends a local at every second nop and takes it back at the next.
func alternatingFrames(n int) string {
	var text strings.Builder
	for pc := range n {
		if pc%2 == 0 {
			text.WriteString(".frame " + strconv.Itoa(pc) + " append int\n")
		} else {
			text.WriteString(".frame " + strconv.Itoa(pc) + " chop 1\n")
		}
	}
	return text.String()
}

// TestHostileConstructors follows the code before super() where it is made to branch everywhere.
func TestHostileConstructors(t *testing.T) {
	m := method{desc: "()V", major: java17, stack: 1, locals: 65533, text: strings.Repeat("iconst_0\nifne far\n", 8000) +
		"aload_0\ninvokespecial java/lang/Object.<init>()V\nfar: return\n"}
	data, _ := m.class(t)
	var c classfile.Class
	var b code.Body
	if err := c.Parse(data); err != nil {
		t.Fatal(err)
	}
	if err := b.Parse(c.Bytes(c.Methods[0].Code), &c.Pool); err != nil {
		t.Fatal(err)
	}
	var f code.Flow
	start, before := time.Now(), allocatedBytes()
	ranges, err := f.Initialised(nil, &b, &c.Pool)
	took, size := time.Since(start), allocatedBytes()-before
	t.Logf("%v, %d MB, %d ranges, %v", took, size>>20, len(ranges), err)
	if took > 20*time.Second || size > 256<<20 {
		t.Errorf("%v and %d MB", took, size>>20)
	}
}

func allocatedBytes() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
