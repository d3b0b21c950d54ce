package archive

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
)

// countingReader counts what reaches the file.
type countingReader struct {
	io.ReaderAt
	mu    sync.Mutex
	calls int
}

func (r *countingReader) ReadAt(b []byte, offset int64) (int, error) {
	r.mu.Lock()
	r.calls++
	r.mu.Unlock()
	return r.ReaderAt.ReadAt(b, offset)
}

func TestCachedReaderReadsWhatTheFileHas(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{0, 1, chunkSize - 1, chunkSize, chunkSize + 1, 20*chunkSize + 7} {
		content := make([]byte, size)
		for i := range content {
			content[i] = byte(random.Uint32())
		}
		plain := bytes.NewReader(content)
		r := cachedReader{plain, new(chunkCache)}
		for range 300 {
			offset := random.Int64N(int64(size) + 100)
			n := random.IntN(3 * chunkSize / 2)
			want, got := make([]byte, n), make([]byte, n)
			wantN, wantErr := plain.ReadAt(want, offset)
			gotN, gotErr := r.ReadAt(got, offset)
			if n == 0 { // bytes.Reader reports EOF even if nothing is asked for
				continue
			}
			if gotN != wantN || gotErr != wantErr || !bytes.Equal(got, want) {
				t.Fatalf("size %d, %d bytes at %d: got %d, %v; want %d, %v", size, n, offset, gotN, gotErr, wantN, wantErr)
			}
		}
	}
}

func TestCachedReaderReadsNeighboursOnce(t *testing.T) {
	file := &countingReader{ReaderAt: bytes.NewReader(make([]byte, 4*chunkSize))}
	r := cachedReader{file, new(chunkCache)}
	var b [100]byte
	for offset := int64(0); offset+100 <= 4*chunkSize; offset += 100 {
		if _, err := r.ReadAt(b[:], offset); err != nil {
			t.Fatal(err)
		}
	}
	if file.calls != 4 {
		t.Errorf("%d reads of the file, want 4", file.calls)
	}
}

func TestCacheForgetsWhatWasUsedLongestAgo(t *testing.T) {
	file := &countingReader{ReaderAt: bytes.NewReader(make([]byte, 3*chunkCount*chunkSize))}
	r := cachedReader{file, new(chunkCache)}
	for i := range int64(3 * chunkCount) {
		for _, offset := range []int64{i * chunkSize, 0} {
			if _, err := r.ReadAt(make([]byte, 1), offset); err != nil {
				t.Fatal(err)
			}
		}
	}
	if file.calls != 3*chunkCount {
		t.Errorf("%d reads of the file, want each chunk once: %d", file.calls, 3*chunkCount)
	}
}

func TestCachedReadersShareOneCache(t *testing.T) {
	cache := new(chunkCache)
	a := cachedReader{bytes.NewReader([]byte("first")), cache}
	b := cachedReader{bytes.NewReader([]byte("other")), cache}
	for range 2 {
		for _, test := range []struct {
			r    cachedReader
			want string
		}{{a, "first"}, {b, "other"}} {
			var got [5]byte
			if _, err := test.r.ReadAt(got[:], 0); err != nil || string(got[:]) != test.want {
				t.Errorf("got %q, %v; want %q", got, err, test.want)
			}
		}
	}
}

func TestCachedReaderPassesErrorsOn(t *testing.T) {
	broken := errors.New("broken disk")
	r := cachedReader{failingReader{broken}, new(chunkCache)}
	for range 2 {
		if n, err := r.ReadAt(make([]byte, 10), 5); n != 0 || err != broken {
			t.Errorf("got %d, %v; want 0, %v", n, err, broken)
		}
	}
}

type failingReader struct{ err error }

func (r failingReader) ReadAt([]byte, int64) (int, error) { return 0, r.err }
