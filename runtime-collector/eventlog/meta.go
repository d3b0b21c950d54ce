package eventlog

import (
	"encoding/binary"
	"strconv"
	"strings"
)

// ThreadFlags describe a thread.
type ThreadFlags uint32

// Flags of a thread.
const (
	MainThread ThreadFlags = 1 // Android: tid = pid; JVM: the thread named main
	Stripe     ThreadFlags = 2 // a buffer shared by virtual threads
	Daemon     ThreadFlags = 4
	OwnThread  ThreadFlags = 8 // jiffy's own
)

// Thread is a thread of the log.
type Thread struct {
	Index     uint32
	JavaID    int64
	TID       int64 // kernel thread id; 0 not known
	StartTime int64 // of the kernel thread, ticks since boot; 0 not known
	Flags     ThreadFlags
	Name      string
	// Unknown is set when the chunk that describes the thread is missing.
	Unknown bool
}

// Counters are what the runtime counted since its start; -1 not known.
type Counters struct {
	Events, Dropped, DiscardedOwn, Folded    int64
	Threads, Blocks, BytesWritten, WriterCPU int64 // WriterCPU in ns
}

// Cost is one calibration of a probe.
type Cost struct {
	When   string // start or export
	Clock  string
	Pairs  int64
	PairNS float64 // a probe pair's whole cost, ns
	// InnerNS is the part of it that lies inside the measured duration, ns.
	InnerNS float64
}

// Stack is the stack of a thread whose calls had not ended.
type Stack struct {
	Thread uint32 // thread index; NoThread if the thread recorded nothing
	Taken  int64  // CLOCK_MONOTONIC, ns
	JavaID int64
	Name   string // of the thread; empty if the log doesn't say
	State  string
	Depth  int     // frames the thread had, of which Frames may hold fewer
	Frames []Frame // innermost first
}

// Frame is one frame of a stack.
type Frame struct {
	Class, Method string
	Line          int // -1 not known
}

// Phase says from when on calls were folded.
type Phase struct {
	ExactUntil int64 // ns, in Clock
	Clock      Clock
	Reason     string
}

// End is the log's closing record.
type End struct {
	Reason  string
	Message string // of a write error
	Mono    int64  // CLOCK_MONOTONIC at writing, ns
}

// meta takes a chunk that holds no events.
func (s *scanner) meta(c chunk, payload []byte) {
	l := s.log
	switch c.typ {
	case ChunkThread:
		if t, ok := parseThread(c.thread, payload); ok {
			s.threads[c.thread] = t
		}
	case ChunkCounters:
		l.Counters = parseCounters(ParseProperties(payload))
	case ChunkCost:
		if cost, ok := parseCost(ParseProperties(payload)); ok {
			l.Costs = append(l.Costs, cost)
		}
	case ChunkOpen:
		stack := parseStack(c.thread, ParseProperties(payload))
		l.Stacks = append(l.Stacks, stack)
	case ChunkPhase:
		props := ParseProperties(payload)
		if until, err := strconv.ParseInt(props["exact_until_ns"], 10, 64); err == nil && l.Phase == nil {
			l.Phase = &Phase{ExactUntil: until, Clock: c.clock, Reason: props["reason"]}
		}
	case ChunkEnd:
		props := ParseProperties(payload)
		l.End = &End{Reason: props["reason"], Message: props["message"], Mono: c.mono}
	}
}

func parseThread(index uint32, payload []byte) (Thread, bool) {
	if len(payload) < threadRowBytes {
		return Thread{}, false
	}
	i64 := func(at int) int64 { return int64(binary.LittleEndian.Uint64(payload[at:])) }
	t := Thread{
		Index:     index,
		JavaID:    i64(0),
		TID:       i64(8),
		StartTime: i64(16),
		Flags:     ThreadFlags(binary.LittleEndian.Uint32(payload[24:])),
	}
	name := payload[threadRowBytes:]
	n := binary.LittleEndian.Uint32(payload[28:])
	name = name[:min(uint64(n), uint64(len(name)))]
	t.Name = strings.ToValidUTF8(string(name), "\uFFFD")
	return t, true
}

func parseCounters(props map[string]string) Counters {
	number := func(key string) int64 {
		n, err := strconv.ParseInt(props[key], 10, 64)
		if err != nil || n < 0 {
			return -1
		}
		return n
	}
	return Counters{
		Events:       number("events"),
		Dropped:      number("dropped"),
		DiscardedOwn: number("discarded_own"),
		Folded:       number("folded"),
		Threads:      number("threads"),
		Blocks:       number("blocks"),
		BytesWritten: number("bytes_written"),
		WriterCPU:    number("writer_cpu_ns"),
	}
}

func parseCost(props map[string]string) (Cost, bool) {
	pair, err1 := strconv.ParseFloat(props["pair_ns"], 64)
	inner, err2 := strconv.ParseFloat(props["inner_ns"], 64)
	// A comparison with NaN is false, so NaN is refused here too.
	if err1 != nil || err2 != nil || !(inner >= 0 && pair >= inner && pair < 1e9) {
		return Cost{}, false
	}
	pairs, _ := strconv.ParseInt(props["pairs"], 10, 64)
	return Cost{When: props["when"], Clock: props["clock"], Pairs: pairs, PairNS: pair, InnerNS: inner}, true
}

// maxFrames bounds what a stack may hold in a damaged or hostile log.
const maxFrames = 1 << 16

func parseStack(thread uint32, props map[string]string) Stack {
	number := func(key string) int64 {
		n, _ := strconv.ParseInt(props[key], 10, 64)
		return n
	}
	stack := Stack{
		Thread: thread,
		Taken:  number("taken_ns"),
		JavaID: number("java_id"),
		Name:   props["name"],
		State:  props["state"],
		Depth:  int(number("depth")),
	}
	for i := range maxFrames {
		text, ok := props["frame"+strconv.Itoa(i)]
		if !ok {
			break
		}
		stack.Frames = append(stack.Frames, parseFrame(text))
	}
	return stack
}

// parseFrame reads `class#method:line`.
func parseFrame(text string) Frame {
	f := Frame{Line: -1}
	if i := strings.LastIndexByte(text, ':'); i >= 0 {
		if line, err := strconv.Atoi(text[i+1:]); err == nil {
			text = text[:i]
			if line > 0 {
				f.Line = line
			}
		}
	}
	f.Class, f.Method, _ = strings.Cut(text, "#")
	return f
}

// Cost returns the probe's cost to charge: the calibration at export, where the
// process reached it, else the one at start.
func (l *Log) Cost() (Cost, bool) {
	for _, when := range []string{"export", "start"} {
		for i := len(l.Costs) - 1; i >= 0; i-- {
			if l.Costs[i].When == when {
				return l.Costs[i], true
			}
		}
	}
	return Cost{}, false
}

// Thread returns a thread by its index.
func (l *Log) Thread(index uint32) (Thread, bool) {
	for _, t := range l.Threads {
		if t.Index == index {
			return t, true
		}
	}
	return Thread{}, false
}
