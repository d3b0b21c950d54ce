package eventlog

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math/bits"
)

// FoldRow is what a thread's folded calls of one method add up to. Times in ns.
type FoldRow struct {
	Thread    uint32
	ID        uint64
	Calls     int64 // returned and thrown
	Thrown    int64
	Suspended int64
	Total     int64 // recursion once per outermost call
	Self      int64
	Max       int64
	Children  int64 // direct instrumented children
	First     int64 // start of the first call, in Clock
	Last      int64 // end of the last call, in Clock
	Clock     Clock
	// SelfApprox is set where Self is not exact.
	SelfApprox bool
	// Histogram of the durations of the calls. It is valid until the next row.
	Histogram []BucketCount
}

// BucketCount is one bucket of a histogram of durations.
type BucketCount struct {
	Bucket uint16
	Count  int64
}

// Bucket returns the bucket of a duration in ns. Buckets are one ns wide below
// 16 ns, and at most 12.5 % of their lower bound above.
func Bucket(d int64) uint16 {
	if d < 8 {
		return uint16(max(d, 0))
	}
	e := bits.Len64(uint64(d)) - 1
	return uint16((e-2)*8) + uint16(d>>(e-3)&7)
}

// Bounds returns the first and the last duration of a bucket, ns. Buckets
// beyond the last possible one (487) have the bounds of the last.
func Bounds(bucket uint16) (low, high int64) {
	if bucket < 8 {
		return int64(bucket), int64(bucket)
	}
	bucket = min(bucket, 487)
	e := int(bucket/8) + 2
	width := int64(1) << (e - 3)
	low = (8 + int64(bucket%8)) * width
	return low, low + (width - 1)
}

// Folded returns a thread's rows of the log's FOLD chunks. A row that is cut short
// ends its chunk with an error; rows of other chunks still follow.
func (l *Log) Folded(thread uint32) iter.Seq2[*FoldRow, error] {
	return func(yield func(*FoldRow, error) bool) {
		var buf []byte
		var row FoldRow
		for _, c := range l.chunks {
			if c.typ != ChunkFold || c.thread != thread {
				continue
			}
			p, err := l.payload(c, buf)
			if err != nil {
				yield(nil, err)
				return
			}
			buf = p
			for len(p) > 0 {
				n := row.parse(p)
				if n == 0 {
					err := fmt.Errorf("%s: chunk at %d: a folded row is cut short", l.Path, c.offset)
					if !yield(nil, err) {
						return
					}
					break
				}
				p = p[n:]
				row.Thread, row.Clock = c.thread, c.clock
				if !yield(&row, nil) {
					return
				}
			}
		}
	}
}

// parse reads a row and returns its length in bytes, 0 if it is cut short.
func (r *FoldRow) parse(p []byte) int {
	if len(p) < foldRowWords*8 {
		return 0
	}
	word := func(i int) int64 { return int64(binary.LittleEndian.Uint64(p[i*8:])) }
	n := word(11)
	if n < 0 || n > int64(len(p)/8-foldRowWords) {
		return 0
	}
	*r = FoldRow{
		ID:         uint64(word(0)) & (1<<IDBits - 1),
		Calls:      word(1),
		Thrown:     word(2),
		Suspended:  word(3),
		Total:      word(4),
		Self:       word(5),
		Max:        word(6),
		Children:   word(7),
		First:      word(8),
		Last:       word(9),
		SelfApprox: word(10)&1 != 0,
		Histogram:  r.Histogram[:0],
	}
	for i := range int(n) {
		w := uint64(word(foldRowWords + i))
		r.Histogram = append(r.Histogram, BucketCount{Bucket: uint16(w >> 48), Count: int64(w & (1<<48 - 1))})
	}
	return (foldRowWords + int(n)) * 8
}

// OpenSnapshot opens the newest whole snapshot among the given folded files: a
// process that is killed while it writes one slot leaves the other. Where none
// is whole it returns nil, and the first error if a file could not be opened.
func OpenSnapshot(paths ...string) (*Log, error) {
	var best *Log
	var firstErr error
	for _, path := range paths {
		l, err := Open(path)
		if err != nil {
			if firstErr == nil {
				firstErr = err
			}
			continue
		}
		if !l.whole() || best != nil && best.End.Mono >= l.End.Mono {
			l.Close()
			continue
		}
		if best != nil {
			best.Close()
		}
		best = l
	}
	if best == nil {
		return nil, firstErr
	}
	return best, nil
}

// whole tells whether a snapshot is complete and of one piece: what is left of
// an older one behind or between its chunks would break the sequence or turn the
// clock back.
func (l *Log) whole() bool {
	if l.End == nil || l.Header.Damaged || len(l.Damage) > 0 || l.Missing > 0 {
		return false
	}
	for i := 1; i < len(l.pairings); i++ {
		if l.pairings[i].Mono < l.pairings[i-1].Mono {
			return false
		}
	}
	return true
}
