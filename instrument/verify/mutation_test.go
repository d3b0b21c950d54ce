package verify

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jiffyperf/jiffy/fixtures"
	"github.com/jiffyperf/jiffy/instrument/classfile"
)

// A mutant is a class that is being broken. Its bytes are changed in place, so that lengths stay what they are.
type mutant struct {
	data  []byte
	class *classfile.Class
	body  *body
	code  int // offset of the instructions
	pcs   []int
	*rand.Rand
}

// mutations are the ways to break a class. Each reports whether it found something to break.
var mutations = map[string]func(m *mutant) bool{
	"another opcode":            (*mutant).opcode,
	"another byte of code":      (*mutant).codeByte,
	"another operand":           (*mutant).operand,
	"another constant":          (*mutant).constant,
	"two instructions swapped":  (*mutant).swap,
	"an instruction left out":   (*mutant).leaveOut,
	"another max_stack":         func(m *mutant) bool { return m.nudge(-8) },
	"another max_locals":        func(m *mutant) bool { return m.nudge(-6) },
	"another exception range":   (*mutant).handler,
	"another byte of frames":    (*mutant).frameByte,
	"another type in a frame":   (*mutant).frameType,
	"a frame dropped":           (*mutant).dropFrame,
	"no frames":                 (*mutant).noFrames,
	"static or not":             (*mutant).static,
	"another method descriptor": (*mutant).descriptor,
}

// mutate breaks a class once; nil if there was nothing to break.
func mutate(data []byte, kind string, seed uint64) []byte {
	m := &mutant{data: slices.Clone(data), class: new(classfile.Class), Rand: rand.New(rand.NewPCG(seed, 0x6A69666679))}
	if m.class.Parse(m.data) != nil {
		return nil
	}
	var v Verifier
	var methods []*classfile.Member
	for i := range m.class.Methods {
		if !m.class.Methods[i].Code.Empty() {
			methods = append(methods, &m.class.Methods[i])
		}
	}
	if len(methods) == 0 {
		return nil
	}
	method := methods[m.IntN(len(methods))]
	if _, err := v.check(m.class, method, m.class.Bytes(method.Code)); err != nil {
		return nil
	}
	v.method = method
	m.body, m.code = &v.body, method.Code.Start+14
	for pc := range m.body.code {
		if m.body.startsAt(pc) {
			m.pcs = append(m.pcs, pc)
		}
	}
	if kind == "static or not" || kind == "another method descriptor" {
		m.code = method.Span.Start // such mutations are of the method_info
	}
	if !mutations[kind](m) {
		return nil
	}
	return m.data
}

func pick[T any](m *mutant, from []T) T { return from[m.IntN(len(from))] }

// opcode puts another opcode of the same length in an instruction's place.
func (m *mutant) opcode() bool {
	pc := pick(m, m.pcs)
	var same []byte
	for op := range instructions {
		if n := instructions[op].length; n != 0 && n == instructions[m.body.code[pc]].length && byte(op) != m.body.code[pc] {
			same = append(same, byte(op))
		}
	}
	if len(same) == 0 {
		return false
	}
	m.data[m.code+pc] = pick(m, same)
	return true
}

func (m *mutant) codeByte() bool {
	m.data[m.code+m.IntN(len(m.body.code))] = byte(m.IntN(202))
	return true
}

// operand changes the last byte of an instruction a little.
func (m *mutant) operand() bool {
	pc := pick(m, m.pcs)
	n := int(instructions[m.body.code[pc]].length)
	if n < 2 {
		return false
	}
	m.data[m.code+pc+min(n, 3)-1] += byte(m.IntN(7) - 3)
	return true
}

// constant names another constant of the same kind.
func (m *mutant) constant() bool {
	pc := pick(m, m.pcs)
	switch instructions[m.body.code[pc]].shape {
	case field, invoke, object, cast:
	default:
		return false
	}
	at := m.code + pc + 1
	tag := m.class.Pool.Tag(uint16(u2(m.data, at)))
	var same []uint16
	for i := range m.class.Pool.Count() {
		if m.class.Pool.Tag(uint16(i)) == tag {
			same = append(same, uint16(i))
		}
	}
	binary.BigEndian.PutUint16(m.data[at:], pick(m, same))
	return true
}

func (m *mutant) swap() bool {
	i := m.IntN(len(m.pcs))
	if i+2 >= len(m.pcs) {
		return false
	}
	a, b, c := m.code+m.pcs[i], m.code+m.pcs[i+1], m.code+m.pcs[i+2]
	both := slices.Concat(m.data[b:c], m.data[a:b])
	copy(m.data[a:], both)
	return true
}

// leaveOut puts nops in an instruction's place.
func (m *mutant) leaveOut() bool {
	i := m.IntN(len(m.pcs))
	end := len(m.body.code)
	if i+1 < len(m.pcs) {
		end = m.pcs[i+1]
	}
	clear(m.data[m.code+m.pcs[i] : m.code+end])
	return true
}

// nudge changes a u2 relative to the instructions by one.
func (m *mutant) nudge(at int) bool {
	b := m.data[m.code+at:]
	binary.BigEndian.PutUint16(b, uint16(u2(b, 0)+2*m.IntN(2)-1))
	return true
}

// handler changes a field of a row of the exception table.
func (m *mutant) handler() bool {
	if len(m.body.rows) == 0 {
		return false
	}
	at := m.code + len(m.body.code) + 2 + 8*m.IntN(len(m.body.rows)/8) + 2*m.IntN(4)
	binary.BigEndian.PutUint16(m.data[at:], uint16(pick(m, m.pcs)))
	return true
}

// frames returns the offset of the StackMapTable's info, and its length; 0 where there is none.
func (m *mutant) frames() (at, n int) {
	if n = len(m.body.frameInfo); n <= 2 {
		return 0, 0
	}
	// The body's slices are parts of the class's bytes.
	return cap(m.data) - cap(m.body.frameInfo), n
}

func (m *mutant) frameByte() bool {
	at, n := m.frames()
	if n == 0 {
		return false
	}
	m.data[at+m.IntN(n)] += byte(1 + m.IntN(8))
	return true
}

// frameType looks for a byte that may be a type, and puts another one of the same length there.
func (m *mutant) frameType() bool {
	at, n := m.frames()
	for range 20 {
		if n == 0 {
			return false
		}
		if i := at + 2 + m.IntN(n-2); m.data[i] < 7 {
			m.data[i] = byte(m.IntN(7))
			return true
		}
	}
	return false
}

// dropFrame looks for two bytes that may be same frames, and makes them one at the place of the second.
func (m *mutant) dropFrame() bool {
	at, n := m.frames()
	for i := at + 2; i+1 < at+n; i++ {
		if m.data[i] >= 63 || m.data[i+1] >= 63-m.data[i] || m.IntN(3) > 0 {
			continue
		}
		m.data[i+1] += m.data[i] + 1
		copy(m.data[i:], m.data[i+1:at+n])
		binary.BigEndian.PutUint16(m.data[at:], uint16(u2(m.data, at)-1))
		m.shorten(at, n)
		return true
	}
	return false
}

// shorten takes the last byte of the StackMapTable away.
func (m *mutant) shorten(at, n int) {
	for _, length := range []int{at - 4, m.code - 12} {
		size := binary.BigEndian.Uint32(m.data[length:])
		binary.BigEndian.PutUint32(m.data[length:], size-1)
	}
	m.data = slices.Delete(m.data, at+n-1, at+n)
}

// noFrames renames the StackMapTable.
func (m *mutant) noFrames() bool {
	at, n := m.frames()
	if n == 0 {
		return false
	}
	for i := range m.class.Pool.Count() {
		if m.class.Pool.Utf8(uint16(i)) != nil && m.class.Pool.Attribute(uint16(i)) == classfile.AttrUnknown {
			binary.BigEndian.PutUint16(m.data[at-6:], uint16(i))
			return true
		}
	}
	return false
}

func (m *mutant) static() bool {
	m.data[m.code+1] ^= classfile.AccStatic
	return true
}

// descriptor gives the method another method's descriptor, unless the class then has two that are the same.
func (m *mutant) descriptor() bool {
	desc, name := pick(m, m.class.Methods).Desc, uint16(u2(m.data, m.code+2))
	for _, other := range m.class.Methods {
		if other.Name == name && other.Desc == desc {
			return false
		}
	}
	binary.BigEndian.PutUint16(m.data[m.code+4:], desc)
	return true
}

// seeds are the classes that get broken: the fixtures, or those of the jar that JIFFY_MUTATE names.
func seeds(t *testing.T) []trial {
	t.Helper()
	w := &world{map[string][]byte{}}
	add := func(data []byte) {
		var c classfile.Class
		if c.Parse(data) == nil && c.Access&classfile.AccModule == 0 {
			w.classes[strings.ReplaceAll(string(c.Name()), "/", ".")] = data
		}
	}
	if jar := os.Getenv("JIFFY_MUTATE"); jar != "" {
		eachClass(t, jar, func(_ string, data []byte) { add(data) })
	} else {
		for _, data := range fixtures.Classes(t) {
			add(data)
		}
	}
	if len(w.classes) < 10 {
		t.Fatalf("only %d classes to break", len(w.classes))
	}
	var all []trial
	for _, name := range slices.Sorted(maps.Keys(w.classes)) {
		all = append(all, trial{name: name, class: name, data: w.classes[name], world: w})
	}
	return all
}

// Broken classes are refused where HotSpot refuses them, and nowhere else.
func TestMutationsAreJudgedAsByHotSpot(t *testing.T) {
	count := 600
	if text := os.Getenv("JIFFY_MUTATIONS"); text != "" {
		count, _ = strconv.Atoi(text)
	}
	all := allJDKs(t)
	classes := seeds(t)
	kinds := slices.Sorted(maps.Keys(mutations))
	var trials []trial
	for seed := uint64(1); len(trials) < count; seed++ {
		c, kind := classes[seed*2654435761%uint64(len(classes))], kinds[seed%uint64(len(kinds))]
		if data := mutate(c.data, kind, seed); data != nil {
			c.name = fmt.Sprintf("%s with %s (seed %d)", c.class, kind, seed)
			c.data = data
			trials = append(trials, c)
		}
	}
	judge(t, trials, hotspot(t, all[len(all)-1], trials))
}
