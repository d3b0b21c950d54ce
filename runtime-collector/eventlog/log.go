package eventlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"slices"
)

// Errors that Open wraps.
var (
	ErrNotLog  = errors.New("not a jiffy event log")
	ErrVersion = errors.New("unknown event-log format version")
)

// Log is one opened file: its index and everything but the events.
type Log struct {
	Path     string
	Size     int64 // bytes
	Header   Header
	Threads  []Thread // in the order of their index
	Counters Counters // as last written
	Costs    []Cost
	Stacks   []Stack // open calls, of every export
	Phase    *Phase  // nil while all calls are exact
	End      *End    // nil when the process was killed or still runs
	Clocks   *Clocks
	Damage   []Gap
	// Missing counts sequence numbers that are absent between good chunks.
	Missing int64

	file     io.ReaderAt
	closer   io.Closer
	chunks   []chunk
	byThread map[uint32][]int32 // indices of event chunks
	pairings []Pairing
}

// Gap is a part of the file that was passed over.
type Gap struct {
	Offset, Length int64 // bytes
	Reason         string
}

// chunk is an index entry.
type chunk struct {
	offset  int64 // of the header
	mono    int64 // ns at writing; -1 not known
	payload uint32
	count   uint32
	thread  uint32
	typ     ChunkType
	clock   Clock
}

// Open reads and checks a log. Damage inside the file is no error: it is in
// Damage. An error means that the file can't be read, isn't a log (ErrNotLog)
// or is of another format version (ErrVersion). The caller closes the log.
func Open(path string) (*Log, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w: not a regular file", path, ErrNotLog)
	}
	var l *Log
	if err == nil {
		l, err = Read(path, f, info.Size())
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	l.closer = f
	return l, nil
}

// Read is Open for anything that can be read at an offset; path is for messages.
func Read(path string, r io.ReaderAt, size int64) (*Log, error) {
	l := &Log{
		Path:     path,
		Size:     size,
		Counters: parseCounters(nil),
		file:     r,
		byThread: map[uint32][]int32{},
	}
	s := scanner{log: l, window: window{r: r, size: size}, threads: map[uint32]Thread{}, sequence: -1}
	if err := s.scan(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	l.Clocks = NewClocks(l.pairings)
	for _, c := range l.chunks {
		if _, ok := s.threads[c.thread]; !ok {
			s.threads[c.thread] = Thread{Index: c.thread, Unknown: true}
		}
	}
	for _, index := range slices.Sorted(maps.Keys(s.threads)) {
		l.Threads = append(l.Threads, s.threads[index])
	}
	return l, nil
}

// Close closes the file.
func (l *Log) Close() error {
	if l.closer == nil {
		return nil
	}
	return l.closer.Close()
}

// Torn is the number of bytes that were passed over.
func (l *Log) Torn() int64 {
	var n int64
	for _, g := range l.Damage {
		n += g.Length
	}
	return n
}

// Pairings are the clock readings of all chunks, in file order.
func (l *Log) Pairings() []Pairing { return l.pairings }

// Events is the number of event records in the file, covers included.
func (l *Log) Events() int64 {
	var n int64
	for _, c := range l.chunks {
		if c.typ == ChunkEvents || c.typ == ChunkShared {
			n += int64(c.count)
		}
	}
	return n
}

// EventsOf is the number of event records of one thread.
func (l *Log) EventsOf(thread uint32) int64 {
	var n int64
	for _, i := range l.byThread[thread] {
		n += int64(l.chunks[i].count)
	}
	return n
}

// scanner walks a file once.
type scanner struct {
	log      *Log
	window   window
	threads  map[uint32]Thread
	sequence int64 // of the last good chunk; -1 none yet
	damaged  int64 // start of the damage before the current offset; -1 none
	why      string
}

func (s *scanner) scan() error {
	if s.log.Size == 0 {
		s.log.Header.Damaged = true
		return nil
	}
	offset, err := s.header()
	if err != nil {
		return err
	}
	s.damaged = -1
	if s.log.Header.Damaged {
		s.damaged, s.why = 0, "bad file header"
	}
	for offset < s.log.Size {
		n, why, err := s.chunkAt(offset)
		if err != nil {
			return err
		}
		if n > 0 {
			s.closeGap(offset)
			offset += n
			continue
		}
		if s.damaged < 0 {
			s.damaged, s.why = offset, why
		}
		if offset, err = s.resync(offset + 8); err != nil {
			return err
		}
	}
	s.closeGap(s.log.Size)
	if s.log.Header.Damaged && len(s.log.pairings) == 0 && !s.tornHeader() {
		return ErrNotLog
	}
	return nil
}

// header reads the file header and returns where the chunks begin.
func (s *scanner) header() (int64, error) {
	prefix, err := s.window.at(0, min(HeaderPrefix, s.log.Size))
	if err != nil {
		return 0, err
	}
	prefix = slices.Clone(prefix)
	var rest []byte
	if len(prefix) == HeaderPrefix {
		n := int64(binary.LittleEndian.Uint32(prefix[12:])) + HeaderSuffix
		if n <= maxProperties && HeaderPrefix+n <= s.log.Size {
			if rest, err = s.window.at(HeaderPrefix, n); err != nil {
				return 0, err
			}
		}
	}
	h, next := parseHeader(prefix, rest)
	s.log.Header = h
	if !h.Damaged && h.Version != Version {
		return 0, fmt.Errorf("%w %d, this jiffy reads %d", ErrVersion, h.Version, Version)
	}
	return next, nil
}

// tornHeader tells whether the file is the beginning of a log that was cut
// before its first chunk.
func (s *scanner) tornHeader() bool {
	start, err := s.window.at(0, min(int64(len(Magic)), s.log.Size))
	return err == nil && string(start) == Magic[:len(start)]
}

func (s *scanner) closeGap(offset int64) {
	if s.damaged < 0 {
		return
	}
	if offset > s.damaged {
		s.log.Damage = append(s.log.Damage, Gap{Offset: s.damaged, Length: offset - s.damaged, Reason: s.why})
	}
	s.damaged = -1
}

// resync finds the next chunk magic at a multiple of 8, or the end of the file.
func (s *scanner) resync(offset int64) (int64, error) {
	for {
		offset = (offset + 7) &^ 7
		n := min(windowSize, s.log.Size-offset)
		if n < ChunkHeader {
			return s.log.Size, nil
		}
		p, err := s.window.at(offset, n)
		if err != nil {
			return 0, err
		}
		for i := 0; i+len(ChunkMagic) <= len(p); i += 8 {
			if string(p[i:i+len(ChunkMagic)]) == ChunkMagic {
				return offset + int64(i), nil
			}
		}
		offset += n
	}
}

// chunkAt reads the chunk at an offset. It returns its length, or 0 and what is
// wrong with it.
func (s *scanner) chunkAt(offset int64) (n int64, why string, err error) {
	rest := s.log.Size - offset
	if rest < ChunkHeader {
		return 0, "cut in a chunk header", nil
	}
	head, err := s.window.at(offset, ChunkHeader)
	if err != nil {
		return 0, "", err
	}
	if string(head[:4]) != ChunkMagic {
		return 0, "no chunk here", nil
	}
	payload := int64(binary.LittleEndian.Uint32(head[8:]))
	switch {
	case payload > MaxPayload || payload%8 != 0:
		return 0, "bad chunk length", nil
	case ChunkHeader+payload > rest:
		return 0, "cut in a chunk", nil
	}
	whole, err := s.window.at(offset, ChunkHeader+payload)
	if err != nil {
		return 0, "", err
	}
	if checksum(whole) != binary.LittleEndian.Uint32(whole[12:]) {
		return 0, "bad checksum", nil
	}
	s.add(offset, whole)
	return ChunkHeader + payload, "", nil
}

var zero4 [4]byte

// checksum is the CRC-32 of a chunk with its own checksum field taken as zero.
func checksum(chunk []byte) uint32 {
	sum := crc32.ChecksumIEEE(chunk[:12])
	sum = crc32.Update(sum, crc32.IEEETable, zero4[:])
	return crc32.Update(sum, crc32.IEEETable, chunk[16:])
}

// add takes a good chunk into the index.
func (s *scanner) add(offset int64, whole []byte) {
	l := s.log
	u32 := binary.LittleEndian.Uint32
	i64 := func(at int) int64 { return int64(binary.LittleEndian.Uint64(whole[at:])) }
	if sequence := i64(16); sequence > s.sequence {
		l.Missing += sequence - s.sequence - 1
		s.sequence = sequence
	}
	l.pairings = append(l.pairings, Pairing{Mono: i64(24), Boot: i64(32), Wall: i64(40), Uncertainty: i64(48)})
	c := chunk{
		offset:  offset,
		mono:    i64(24),
		payload: u32(whole[8:]),
		thread:  u32(whole[56:]),
		count:   u32(whole[60:]),
		typ:     ChunkType(whole[4]),
		clock:   Clock(whole[5]),
	}
	payload := whole[ChunkHeader:]
	switch c.typ {
	case ChunkEvents, ChunkShared:
		c.count = min(c.count, c.payload/eventSize)
		l.byThread[c.thread] = append(l.byThread[c.thread], int32(len(l.chunks)))
		l.chunks = append(l.chunks, c)
	case ChunkFold:
		l.chunks = append(l.chunks, c)
	default:
		s.meta(c, payload)
	}
}

const windowSize = 4 << 20

// window is a sliding buffer over a file that is read from start to end.
type window struct {
	r    io.ReaderAt
	size int64
	buf  []byte
	from int64 // file offset of buf[0]
}

// at returns n bytes at an offset, which the caller has checked against the
// size. They are valid until the next call.
func (w *window) at(offset, n int64) ([]byte, error) {
	if offset >= w.from && offset+n <= w.from+int64(len(w.buf)) {
		return w.buf[offset-w.from:][:n], nil
	}
	length := min(max(n, windowSize), w.size-offset)
	if int64(cap(w.buf)) < length {
		w.buf = make([]byte, length)
	}
	w.buf = w.buf[:length]
	w.from = offset
	read, err := w.r.ReadAt(w.buf, offset)
	if int64(read) < n {
		w.buf = w.buf[:0]
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("read %d bytes at %d: %w", n, offset, err)
	}
	w.buf = w.buf[:read]
	return w.buf[:n], nil
}

// EventClocks are the clocks that events of the log were taken with.
func (l *Log) EventClocks() []Clock {
	var clocks []Clock
	for _, c := range l.chunks {
		if (c.typ == ChunkEvents || c.typ == ChunkShared) && !slices.Contains(clocks, c.clock) {
			clocks = append(clocks, c.clock)
		}
	}
	return clocks
}
