package archive

import (
	"io"
	"sync"
)

const (
	chunkSize  = 256 << 10
	chunkCount = 8
)

// chunkCache keeps the parts of files that were read last. The entries of a jar are small and are read nearly in order, each in two or
// three steps and by several goroutines; most of that then takes no system call.
type chunkCache struct {
	mu     sync.Mutex
	chunks [chunkCount]chunk
	clock  int // counts the uses, to find the chunk that was used longest ago
}

// chunk holds the bytes of a file from index*chunkSize.
type chunk struct {
	file  io.ReaderAt // nil if the chunk was never used
	index int64
	bytes []byte
	err   error // io.EOF in the file's last chunk
	used  int
}

// cachedReader reads a file through a cache.
type cachedReader struct {
	file  io.ReaderAt
	cache *chunkCache
}

// ReadAt implements io.ReaderAt.
func (r cachedReader) ReadAt(b []byte, offset int64) (int, error) {
	if len(b) >= chunkSize || offset < 0 {
		return r.file.ReadAt(b, offset)
	}
	r.cache.mu.Lock()
	defer r.cache.mu.Unlock()
	n := 0
	for n < len(b) {
		at := offset + int64(n)
		c := r.cache.get(r.file, at/chunkSize)
		inside := at % chunkSize
		if inside >= int64(len(c.bytes)) {
			return n, c.err
		}
		n += copy(b[n:], c.bytes[inside:])
	}
	return n, nil
}

// get returns a chunk of a file. If it has to be read, it takes the place of the chunk that was used longest ago.
func (c *chunkCache) get(file io.ReaderAt, index int64) *chunk {
	c.clock++
	oldest := &c.chunks[0]
	for i := range c.chunks {
		k := &c.chunks[i]
		if k.file == file && k.index == index {
			k.used = c.clock
			return k
		}
		if k.used < oldest.used {
			oldest = k
		}
	}
	b := oldest.bytes
	if cap(b) < chunkSize {
		b = make([]byte, chunkSize)
	}
	n, err := file.ReadAt(b[:chunkSize], index*chunkSize)
	*oldest = chunk{file: file, index: index, bytes: b[:n], err: err, used: c.clock}
	return oldest
}
