package dump

import (
	"encoding/binary"

	"github.com/jiffyperf/jiffy/instrument/classfile"
)

// reader walks a structure; behind its end it gives zeros and is bad.
type reader struct {
	data []byte
	pos  int
	bad  bool
}

func (p *printer) reader(s classfile.Span) *reader { return &reader{data: p.class.Bytes(s)} }

func (r *reader) left() int { return len(r.data) - r.pos }

func (r *reader) take(n int) []byte {
	if n < 0 || n > r.left() {
		r.bad, r.pos = true, len(r.data)
		return make([]byte, min(max(n, 0), 8))
	}
	r.pos += n
	return r.data[r.pos-n : r.pos]
}

func (r *reader) u1() int    { return int(r.take(1)[0]) }
func (r *reader) u2() uint16 { return binary.BigEndian.Uint16(r.take(2)) }
func (r *reader) u4() uint32 { return binary.BigEndian.Uint32(r.take(4)) }
func (r *reader) s4() int    { return int(int32(r.u4())) }

// sub is a reader over the next n bytes.
func (r *reader) sub(n int) *reader {
	if n < 0 || n > r.left() {
		r.bad = true
		n = r.left()
	}
	return &reader{data: r.take(n)}
}
