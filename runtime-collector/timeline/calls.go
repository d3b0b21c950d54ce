package timeline

import (
	"bufio"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
	"sync"

	"github.com/jiffyperf/jiffy/runtime-collector/eventlog"
)

// Call is one call with its place on the timeline.
type Call struct {
	Start, End int64 // CLOCK_MONOTONIC, ns
	ID         uint64
	JavaThread int64 // of a virtual thread; 0 otherwise
	Track      int32 // index into Timeline.Tracks
	Depth      int32 // 0 outermost
	Outcome    eventlog.Outcome
}

// callSize is the length of a call in a spill file, bytes.
const callSize = 5*8 + 1

// ByStart orders calls by their start; a call comes before those inside it.
func ByStart(a, b *Call) int {
	if a.Start != b.Start {
		return cmp.Compare(a.Start, b.Start)
	}
	return cmp.Or(cmp.Compare(b.End, a.End), cmp.Compare(a.Track, b.Track), cmp.Compare(a.JavaThread, b.JavaThread),
		cmp.Compare(a.Depth, b.Depth), cmp.Compare(a.ID, b.ID))
}

// ByThread orders calls by their thread, then as ByStart does.
func ByThread(a, b *Call) int {
	if a.Track != b.Track {
		return cmp.Compare(a.Track, b.Track)
	}
	return cmp.Or(cmp.Compare(a.JavaThread, b.JavaThread), ByStart(a, b))
}

// CallSorter sorts any number of calls with bounded memory: sorted runs go to a
// temporary file and are merged.
type CallSorter struct {
	order func(a, b *Call) int
	limit int // calls in one run

	mu   sync.Mutex
	file *os.File
	size int64
	runs []callRun
}

type callRun struct{ offset, length int64 } // bytes in the file

// runCalls is how many calls a run has: about 13 MB.
const runCalls = 1 << 18

// NewCallSorter makes a sorter that spills into a temporary file in dir. The
// caller closes it.
func NewCallSorter(dir string, order func(a, b *Call) int) (*CallSorter, error) {
	f, err := os.CreateTemp(dir, ".calls-*.tmp")
	if err != nil {
		return nil, err
	}
	// Where an open file can lose its name it does so now, and can't be left
	// behind.
	_ = os.Remove(f.Name())
	return &CallSorter{order: order, limit: runCalls, file: f}, nil
}

// Close gives the temporary file up.
func (s *CallSorter) Close() error {
	err := s.file.Close()
	if removed := os.Remove(s.file.Name()); err == nil && !errors.Is(removed, fs.ErrNotExist) {
		err = removed
	}
	return err
}

// callBuffer collects the calls of one goroutine.
type callBuffer struct {
	sorter *CallSorter
	calls  []Call
	out    []byte
}

func (s *CallSorter) buffer() *callBuffer { return &callBuffer{sorter: s} }

func (b *callBuffer) add(c Call) error {
	b.calls = append(b.calls, c)
	if len(b.calls) < b.sorter.limit {
		return nil
	}
	return b.spill()
}

// spill writes the buffer as a run.
func (b *callBuffer) spill() error {
	if len(b.calls) == 0 {
		return nil
	}
	slices.SortFunc(b.calls, func(x, y Call) int { return b.sorter.order(&x, &y) })
	b.out = b.out[:0]
	for i := range b.calls {
		b.out = b.calls[i].append(b.out)
	}
	b.calls = b.calls[:0]
	s := b.sorter
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.file.WriteAt(b.out, s.size); err != nil {
		return fmt.Errorf("sort calls: %w", err)
	}
	s.runs = append(s.runs, callRun{s.size, int64(len(b.out))})
	s.size += int64(len(b.out))
	return nil
}

func (c *Call) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(c.Start))
	b = binary.LittleEndian.AppendUint64(b, uint64(c.End))
	b = binary.LittleEndian.AppendUint64(b, c.ID)
	b = binary.LittleEndian.AppendUint64(b, uint64(c.JavaThread))
	b = binary.LittleEndian.AppendUint32(b, uint32(c.Track))
	b = binary.LittleEndian.AppendUint32(b, uint32(c.Depth))
	return append(b, byte(c.Outcome))
}

func (c *Call) read(b []byte) {
	c.Start = int64(binary.LittleEndian.Uint64(b))
	c.End = int64(binary.LittleEndian.Uint64(b[8:]))
	c.ID = binary.LittleEndian.Uint64(b[16:])
	c.JavaThread = int64(binary.LittleEndian.Uint64(b[24:]))
	c.Track = int32(binary.LittleEndian.Uint32(b[32:]))
	c.Depth = int32(binary.LittleEndian.Uint32(b[36:]))
	c.Outcome = eventlog.Outcome(b[40])
}

// Len is the number of calls.
func (s *CallSorter) Len() int64 { return s.size / callSize }

// Sorted gives all calls in order. A call is valid until the next. It may be
// used several times, one after the other.
func (s *CallSorter) Sorted() iter.Seq2[*Call, error] {
	return func(yield func(*Call, error) bool) {
		h := &runHeap{order: s.order}
		for _, r := range s.runs {
			in := &runReader{in: bufio.NewReaderSize(io.NewSectionReader(s.file, r.offset, r.length), 1<<16)}
			if err := in.next(); err != nil {
				yield(nil, fmt.Errorf("sort calls: %w", err))
				return
			}
			h.runs = append(h.runs, in)
		}
		heap.Init(h)
		for len(h.runs) > 0 {
			first := h.runs[0]
			if !yield(&first.call, nil) {
				return
			}
			switch err := first.next(); err {
			case nil:
				heap.Fix(h, 0)
			case io.EOF:
				heap.Pop(h)
			default:
				yield(nil, fmt.Errorf("sort calls: %w", err))
				return
			}
		}
	}
}

// AddAll takes over calls that come in another order.
func (s *CallSorter) AddAll(calls iter.Seq2[*Call, error]) error {
	buffer := s.buffer()
	for c, err := range calls {
		if err != nil {
			return err
		}
		if err := buffer.add(*c); err != nil {
			return err
		}
	}
	return buffer.spill()
}

// runReader reads one run.
type runReader struct {
	in   *bufio.Reader
	buf  [callSize]byte
	call Call
}

func (r *runReader) next() error {
	if _, err := io.ReadFull(r.in, r.buf[:]); err != nil {
		return err
	}
	r.call.read(r.buf[:])
	return nil
}

// runHeap holds the runs by their first call.
type runHeap struct {
	order func(a, b *Call) int
	runs  []*runReader
}

func (h *runHeap) Len() int           { return len(h.runs) }
func (h *runHeap) Less(i, j int) bool { return h.order(&h.runs[i].call, &h.runs[j].call) < 0 }
func (h *runHeap) Swap(i, j int)      { h.runs[i], h.runs[j] = h.runs[j], h.runs[i] }
func (h *runHeap) Push(x any)         { h.runs = append(h.runs, x.(*runReader)) }

func (h *runHeap) Pop() any {
	last := h.runs[len(h.runs)-1]
	h.runs = h.runs[:len(h.runs)-1]
	return last
}
