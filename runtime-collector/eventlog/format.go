// Package eventlog reads the event log that the in-app runtime writes. The
// format is described in docs/event-log.md.
//
// Open walks a log once, checks every chunk's checksum and keeps an index of
// the good ones. Events stay in the file: a Cursor decodes them chunk by chunk,
// forward or backward, so that a log of several gigabytes needs only the memory
// of its index (under 100 bytes per chunk) and of one chunk per cursor.
package eventlog

import (
	"encoding/binary"
	"fmt"
)

// Version is the format version this package reads and writes.
const Version = 1

// Magic starts a file, ChunkMagic every chunk in it.
const (
	Magic      = "JIFFYLOG"
	ChunkMagic = "CHNK"
)

// Sizes in bytes.
const (
	HeaderPrefix   = 16           // magic, version, length of the properties
	HeaderSuffix   = 8            // checksum, zero
	ChunkHeader    = 64           // header of a chunk
	MaxPayload     = 1<<20 + 4096 // largest payload of a chunk
	maxProperties  = 1 << 24      // largest properties block a reader accepts
	eventSize      = 16
	escapeSize     = 32
	foldRowWords   = 12
	threadRowBytes = 32
)

// NoThread is the thread index of a chunk that belongs to no thread.
const NoThread = 0xFFFFFFFF

// IDBits is the width of a probe id.
const IDBits = 48

// ChunkType says what a chunk's payload is.
type ChunkType uint8

// Chunk types.
const (
	ChunkThread   ChunkType = 1
	ChunkEvents   ChunkType = 2
	ChunkShared   ChunkType = 3
	ChunkCounters ChunkType = 4
	ChunkCost     ChunkType = 5
	ChunkOpen     ChunkType = 6
	ChunkFold     ChunkType = 7
	ChunkPhase    ChunkType = 8
	ChunkEnd      ChunkType = 9
)

// Clock is the clock an event was taken with.
type Clock uint8

// Clocks.
const (
	ClockNone            Clock = 0
	NanoTime             Clock = 1 // System.nanoTime: CLOCK_MONOTONIC
	ElapsedRealtimeNanos Clock = 2 // SystemClock.elapsedRealtimeNanos: CLOCK_BOOTTIME
	ElapsedRealtime      Clock = 3 // SystemClock.elapsedRealtime: CLOCK_BOOTTIME in whole ms
)

func (c Clock) String() string {
	switch c {
	case ClockNone:
		return "none"
	case NanoTime:
		return "nanoTime"
	case ElapsedRealtimeNanos:
		return "elapsedRealtimeNanos"
	case ElapsedRealtime:
		return "elapsedRealtime"
	}
	return fmt.Sprintf("clock %d", uint8(c))
}

// Boottime tells whether the clock goes on while the system is suspended.
func (c Clock) Boottime() bool { return c == ElapsedRealtimeNanos || c == ElapsedRealtime }

// Outcome is how a call ended.
type Outcome uint8

// Outcomes. A suspended call is a coroutine's entry that returned
// COROUTINE_SUSPENDED: it will be entered again.
const (
	Returned  Outcome = 0
	Thrown    Outcome = 1
	Suspended Outcome = 2
	escape    Outcome = 3 // in the file only: the record has the long form
)

func (o Outcome) String() string {
	switch o {
	case Returned:
		return "returned"
	case Thrown:
		return "thrown"
	case Suspended:
		return "suspended"
	}
	return fmt.Sprintf("outcome %d", uint8(o))
}

// Kind tells calls from covers.
type Kind uint8

// Kinds.
const (
	// Call is one completed call.
	Call Kind = 0
	// Cover stands for folded calls directly below the call that follows.
	Cover Kind = 1
)

// Event is one record of the log.
type Event struct {
	ID         uint64 // probe id, 48 bits; 0 in a cover
	Start, End int64  // ns in the event's clock; End ≥ Start
	Covered    int64  // ns that folded calls took between Start and End; covers only
	JavaThread int64  // Java thread id of a virtual thread; 0 in a thread's own chunks
	Clock      Clock
	Outcome    Outcome
	Kind       Kind
}

// Duration is the event's length in ns.
func (e *Event) Duration() int64 { return e.End - e.Start }

// decodeEvents appends the events of a payload to dst, in the order of the
// file. It stops at a record that is cut short, and leaves out a record that
// can't be (an end before its start, an unknown kind); both count as bad.
func decodeEvents(payload []byte, shared bool, clock Clock, dst []Event) (events []Event, bad int) {
	if len(payload) < 8 {
		return dst, len(payload)
	}
	base := int64(binary.LittleEndian.Uint64(payload))
	p := payload[8:]
	for len(p) >= eventSize {
		w0 := binary.LittleEndian.Uint64(p)
		w1 := binary.LittleEndian.Uint64(p[8:])
		e := Event{ID: w0 >> 16, Clock: clock, Outcome: Outcome(w0 >> 14 & 3)}
		size, ok := eventSize, true
		if e.Outcome != escape {
			e.End = base + int64(w1&(1<<40-1))
			e.Start = e.End - int64(w0&(1<<14-1)<<24|w1>>40)
		} else {
			if size = escapeSize; len(p) < size {
				return dst, bad + 1
			}
			e.Kind = Kind(w0 >> 2 & 0xff)
			e.Outcome = Outcome(w0 & 3)
			e.Start = int64(w1)
			e.End = int64(binary.LittleEndian.Uint64(p[16:]))
			e.Covered = int64(binary.LittleEndian.Uint64(p[24:]))
			ok = e.validEscape(w0 >> 2 & (1<<12 - 1))
		}
		if shared {
			if len(p) < size+8 {
				return dst, bad + 1
			}
			e.JavaThread = int64(binary.LittleEndian.Uint64(p[size:]))
			size += 8
		}
		p = p[size:]
		// A difference that overflows is negative as well.
		if ok && e.End >= e.Start && e.End-e.Start >= 0 {
			dst = append(dst, e)
		} else {
			bad++
		}
	}
	if len(p) > 0 {
		bad++
	}
	return dst, bad
}

// validEscape checks what only the long form can get wrong, and clears the
// covered time of a call.
func (e *Event) validEscape(kind uint64) bool {
	switch Kind(kind) {
	case Call:
		e.Covered = 0
		return kind == uint64(Call) && e.Outcome != escape
	case Cover:
		return kind == uint64(Cover) && e.Covered >= 0 && e.Covered <= e.End-e.Start
	}
	return false
}
