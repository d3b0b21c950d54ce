// Package eventlogtest writes event logs for tests, after docs/event-log.md and
// without the reader's code.
package eventlogtest

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jiffyperf/jiffy/runtime-collector/eventlog"
)

// Writer builds a log in memory, chunk by chunk.
type Writer struct {
	// Pairing is written into every chunk that follows. Change it to let time
	// pass.
	Pairing eventlog.Pairing
	// Clock of the events in the chunks that follow.
	Clock eventlog.Clock

	out      []byte
	sequence int64
}

// Props are properties in the order they are written: key, value, key, value …
type Props []string

// New starts a log with a header.
func New(props ...string) *Writer {
	w := &Writer{
		Pairing: eventlog.Pairing{Mono: 1e9, Boot: 1e9, Wall: 1_700_000_000e9, Uncertainty: 1000},
		Clock:   eventlog.NanoTime,
	}
	text := properties(props)
	w.out = append(w.out, "JIFFYLOG"...)
	w.out = binary.LittleEndian.AppendUint32(w.out, 1)
	w.out = binary.LittleEndian.AppendUint32(w.out, uint32(len(text)))
	w.out = append(w.out, text...)
	w.out = binary.LittleEndian.AppendUint32(w.out, crc32.ChecksumIEEE(w.out))
	w.out = append(w.out, 0, 0, 0, 0)
	return w
}

func properties(pairs Props) []byte {
	var b strings.Builder
	escape := strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`)
	for i := 0; i+1 < len(pairs); i += 2 {
		fmt.Fprintf(&b, "%s=%s\n", pairs[i], escape.Replace(pairs[i+1]))
	}
	for b.Len()%8 != 0 {
		b.WriteByte('\n')
	}
	return []byte(b.String())
}

// Chunk appends a chunk with a payload whose length is a multiple of 8.
func (w *Writer) Chunk(typ eventlog.ChunkType, thread, count uint32, payload []byte) *Writer {
	start := len(w.out)
	clock := w.Clock
	switch typ {
	case eventlog.ChunkEvents, eventlog.ChunkShared, eventlog.ChunkFold, eventlog.ChunkPhase:
	default:
		clock = eventlog.ClockNone
	}
	w.out = append(w.out, 'C', 'H', 'N', 'K', byte(typ), byte(clock), 0, 0)
	w.out = binary.LittleEndian.AppendUint32(w.out, uint32(len(payload)))
	w.out = append(w.out, 0, 0, 0, 0)
	w.out = appendWords(w.out, w.sequence, w.Pairing.Mono, w.Pairing.Boot, w.Pairing.Wall, w.Pairing.Uncertainty)
	w.out = binary.LittleEndian.AppendUint32(w.out, thread)
	w.out = binary.LittleEndian.AppendUint32(w.out, count)
	w.out = append(w.out, payload...)
	binary.LittleEndian.PutUint32(w.out[start+12:], crc32.ChecksumIEEE(w.out[start:]))
	w.sequence++
	return w
}

func appendWords(b []byte, words ...int64) []byte {
	for _, word := range words {
		b = binary.LittleEndian.AppendUint64(b, uint64(word))
	}
	return b
}

func (w *Writer) properties(typ eventlog.ChunkType, thread uint32, props Props) *Writer {
	return w.Chunk(typ, thread, uint32(len(props)/2), properties(props))
}

// Thread writes a THREAD chunk.
func (w *Writer) Thread(t eventlog.Thread) *Writer {
	p := appendWords(nil, t.JavaID, t.TID, t.StartTime)
	p = binary.LittleEndian.AppendUint32(p, uint32(t.Flags))
	p = binary.LittleEndian.AppendUint32(p, uint32(len(t.Name)))
	p = append(p, t.Name...)
	for len(p)%8 != 0 {
		p = append(p, 0)
	}
	return w.Chunk(eventlog.ChunkThread, t.Index, 1, p)
}

// Events writes an EVENTS chunk; the events must be in end order.
func (w *Writer) Events(thread uint32, events ...eventlog.Event) *Writer {
	return w.events(eventlog.ChunkEvents, thread, events)
}

// Shared writes a SHARED chunk of virtual threads' events.
func (w *Writer) Shared(thread uint32, events ...eventlog.Event) *Writer {
	return w.events(eventlog.ChunkShared, thread, events)
}

func (w *Writer) events(typ eventlog.ChunkType, thread uint32, events []eventlog.Event) *Writer {
	var base int64
	if len(events) > 0 {
		base = events[0].End
	}
	p := appendWords(nil, base)
	for _, e := range events {
		p = appendRecord(p, base, e)
		if typ == eventlog.ChunkShared {
			p = appendWords(p, e.JavaThread)
		}
	}
	return w.Chunk(typ, thread, uint32(len(events)), p)
}

func appendRecord(p []byte, base int64, e eventlog.Event) []byte {
	duration, offset := e.End-e.Start, e.End-base
	if e.Kind == eventlog.Call && duration < 1<<38 && offset >= 0 && offset < 1<<40 {
		return appendWords(p,
			int64(e.ID<<16|uint64(e.Outcome)<<14|uint64(duration>>24)),
			duration<<40|offset)
	}
	return appendWords(p, int64(e.ID<<16|3<<14|uint64(e.Kind)<<2|uint64(e.Outcome)), e.Start, e.End, e.Covered)
}

// Counters writes a COUNTERS chunk.
func (w *Writer) Counters(props ...string) *Writer {
	return w.properties(eventlog.ChunkCounters, eventlog.NoThread, props)
}

// Cost writes a COST chunk.
func (w *Writer) Cost(when string, pair, inner float64) *Writer {
	return w.properties(eventlog.ChunkCost, eventlog.NoThread, Props{
		"when", when, "clock", "nanoTime", "pairs", "10000",
		"pair_ns", fmt.Sprint(pair), "inner_ns", fmt.Sprint(inner),
	})
}

// Open writes an OPEN chunk.
func (w *Writer) Open(thread uint32, props ...string) *Writer {
	return w.properties(eventlog.ChunkOpen, thread, props)
}

// Phase writes a PHASE chunk.
func (w *Writer) Phase(exactUntil int64, reason string) *Writer {
	return w.properties(eventlog.ChunkPhase, eventlog.NoThread,
		Props{"exact_until_ns", fmt.Sprint(exactUntil), "reason", reason})
}

// End writes an END chunk.
func (w *Writer) End(reason string) *Writer {
	return w.properties(eventlog.ChunkEnd, eventlog.NoThread, Props{"reason", reason})
}

// Fold writes a FOLD chunk of one thread's rows.
func (w *Writer) Fold(thread uint32, rows ...eventlog.FoldRow) *Writer {
	var p []byte
	for _, r := range rows {
		var flags int64
		if r.SelfApprox {
			flags = 1
		}
		p = appendWords(p, int64(r.ID), r.Calls, r.Thrown, r.Suspended, r.Total, r.Self, r.Max,
			r.Children, r.First, r.Last, flags, int64(len(r.Histogram)))
		for _, b := range r.Histogram {
			p = appendWords(p, int64(b.Bucket)<<48|b.Count)
		}
	}
	return w.Chunk(eventlog.ChunkFold, thread, uint32(len(rows)), p)
}

// Bytes returns the log so far.
func (w *Writer) Bytes() []byte { return w.out }

// WriteFile writes the log to a file and returns its path.
func (w *Writer) WriteFile(t testing.TB, elem ...string) string {
	t.Helper()
	path := filepath.Join(elem...)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, w.out, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// WriteBytes writes content to a file and returns its path.
func WriteBytes(t testing.TB, content []byte, elem ...string) string {
	t.Helper()
	return (&Writer{out: content}).WriteFile(t, elem...)
}

// SealHeader puts the right checksum into a file header, if its length allows.
func SealHeader(log []byte) []byte {
	if len(log) < 16 {
		return log
	}
	end := 16 + int64(binary.LittleEndian.Uint32(log[12:]))
	if end+4 <= int64(len(log)) {
		binary.LittleEndian.PutUint32(log[end:], crc32.ChecksumIEEE(log[:end]))
	}
	return log
}

// Seal puts the right checksums into the header and every chunk of a log whose
// lengths allow it, so that a fuzzer gets past them.
func Seal(log []byte) []byte {
	SealHeader(log)
	for i := 0; i+64 <= len(log); i += 8 {
		if string(log[i:i+4]) != "CHNK" {
			continue
		}
		end := int64(i) + 64 + int64(binary.LittleEndian.Uint32(log[i+8:]))
		if end <= int64(len(log)) {
			clear(log[i+12 : i+16])
			binary.LittleEndian.PutUint32(log[i+12:], crc32.ChecksumIEEE(log[i:end]))
		}
	}
	return log
}
