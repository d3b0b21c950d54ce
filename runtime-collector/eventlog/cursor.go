package eventlog

import (
	"fmt"
	"io"
)

// Cursor walks the events of one thread, or of one stripe of virtual threads,
// in end order or against it. It holds one chunk at a time.
type Cursor struct {
	log      *Log
	chunks   []int32 // what is left, in file order
	backward bool

	raw    []byte
	events []Event // of the current chunk, in file order
	pos    int     // of the next event
	floor  int64
	bad    int64
	err    error
}

// Forward returns a cursor over a thread's events in end order.
func (l *Log) Forward(thread uint32) *Cursor {
	return &Cursor{log: l, chunks: l.byThread[thread]}
}

// Backward returns a cursor over a thread's events, last ended first.
func (l *Log) Backward(thread uint32) *Cursor {
	return &Cursor{log: l, chunks: l.byThread[thread], backward: true, pos: -1}
}

// Next returns the next event. It is valid until the call after. At the end, or
// at an error, it returns nil; Err tells which.
func (c *Cursor) Next() *Event {
	for {
		if c.pos >= 0 && c.pos < len(c.events) {
			e := &c.events[c.pos]
			if c.backward {
				c.pos--
			} else {
				c.pos++
			}
			return e
		}
		if !c.load() {
			return nil
		}
	}
}

// Err is the error that stopped the cursor, if any.
func (c *Cursor) Err() error { return c.err }

// Bad counts records that could not be and were left out.
func (c *Cursor) Bad() int64 { return c.bad }

// Written is CLOCK_MONOTONIC at the writing of the current chunk, ns: no event
// of it, nor of the chunks before it in the file, ended later. -1 not known.
func (c *Cursor) Written() int64 { return c.floor }

func (c *Cursor) load() bool {
	if c.err != nil || len(c.chunks) == 0 {
		return false
	}
	i := c.chunks[0]
	if c.backward {
		i = c.chunks[len(c.chunks)-1]
		c.chunks = c.chunks[:len(c.chunks)-1]
	} else {
		c.chunks = c.chunks[1:]
	}
	k := c.log.chunks[i]
	if c.raw, c.err = c.log.payload(k, c.raw); c.err != nil {
		return false
	}
	var bad int
	c.events, bad = decodeEvents(c.raw, k.typ == ChunkShared, k.clock, c.events[:0])
	c.bad += int64(bad)
	c.floor = k.mono
	c.pos = 0
	if c.backward {
		c.pos = len(c.events) - 1
	}
	return true
}

// payload reads a chunk's payload into buf, which it grows.
func (l *Log) payload(c chunk, buf []byte) ([]byte, error) {
	if cap(buf) < int(c.payload) {
		buf = make([]byte, c.payload)
	}
	buf = buf[:c.payload]
	n, err := l.file.ReadAt(buf, c.offset+ChunkHeader)
	if n < len(buf) {
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("%s: chunk at %d: %w", l.Path, c.offset, err)
	}
	return buf, nil
}
