package archive

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zip"
)

// maxClass is the most bytes of a class that are read. The largest classes known have a few megabytes; the format would
// allow for some gigabytes.
const maxClass = 64 << 20

// maxRatio is the most bytes that a byte of deflated data can stand for (RFC 1951: a match of 258 bytes takes two bits or more).
const maxRatio = 1032

// flagEncrypted is bit 0 of an entry's general purpose flags (APPNOTE.TXT 4.4.4).
const flagEncrypted = 0x1

var errChecksum = errors.New("its checksum is wrong")

// reader reads whole entries into memory that it keeps for the next one.
type reader struct {
	compressed []byte
	content    []byte
	source     bytes.Reader
	inflater   io.ReadCloser
}

// read returns the entry's content, which is valid until the next call. Nothing is allocated on the word of a header alone:
// a content can't be larger than what its compressed bytes, which must be there, can stand for.
func (r *reader) read(e *Entry, limit int64) ([]byte, error) {
	if e.declared() > limit {
		return nil, fmt.Errorf("it has %d bytes; no more than %d are read", e.declared(), limit)
	}
	if e.zip == nil {
		return r.readFile(e)
	}
	if e.zip.Flags&flagEncrypted != 0 {
		return nil, errors.New("it is encrypted")
	}
	switch e.zip.Method {
	case zip.Store:
		if e.zip.CompressedSize64 != e.zip.UncompressedSize64 {
			return nil, fmt.Errorf("it is stored, but declares two sizes, %d and %d", e.zip.CompressedSize64, e.zip.UncompressedSize64)
		}
	case zip.Deflate:
		if e.zip.UncompressedSize64 > maxRatio*e.zip.CompressedSize64 {
			return nil, fmt.Errorf("it declares %d bytes, more than %d compressed ones can hold", e.zip.UncompressedSize64, e.zip.CompressedSize64)
		}
	default:
		return nil, fmt.Errorf("its compression method %d is not known", e.zip.Method)
	}
	raw, err := r.readRaw(e)
	if err != nil {
		return nil, err
	}
	content := raw
	if e.zip.Method == zip.Deflate {
		if content, err = r.inflate(raw, int(e.zip.UncompressedSize64)); err != nil {
			return nil, err
		}
	}
	if crc32.ChecksumIEEE(content) != e.zip.CRC32 {
		return nil, errChecksum
	}
	return content, nil
}

// readRaw returns the bytes that a jar holds for the entry, compressed or not.
func (r *reader) readRaw(e *Entry) ([]byte, error) {
	offset, err := e.zip.DataOffset()
	if err != nil {
		return nil, errors.New("its local header is not where the central directory says")
	}
	r.compressed = grow(r.compressed, int(e.zip.CompressedSize64))
	if _, err := e.input.data.ReadAt(r.compressed, offset); err != nil {
		if err == io.EOF {
			return nil, errors.New("the jar is cut off in it")
		}
		return nil, cause(err)
	}
	return r.compressed, nil
}

func (r *reader) inflate(raw []byte, size int) ([]byte, error) {
	r.source.Reset(raw)
	if r.inflater == nil {
		r.inflater = flate.NewReader(&r.source)
	} else if err := r.inflater.(flate.Resetter).Reset(&r.source, nil); err != nil {
		return nil, err
	}
	r.content = grow(r.content, size)
	if _, err := io.ReadFull(r.inflater, r.content); err != nil {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil, fmt.Errorf("its compressed data end before the %d bytes that it declares", size)
		}
		return nil, fmt.Errorf("its compressed data are damaged: %w", err)
	}
	var more [1]byte
	if n, err := io.ReadFull(r.inflater, more[:]); n != 0 {
		return nil, fmt.Errorf("it has more than the %d bytes that it declares", size)
	} else if err != io.EOF {
		return nil, fmt.Errorf("its compressed data are damaged: %w", err)
	}
	return r.content, nil
}

func (r *reader) readFile(e *Entry) ([]byte, error) {
	f, err := os.Open(e.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r.content = grow(r.content, int(e.size)+1)
	n, err := io.ReadFull(f, r.content)
	if err == nil || n < int(e.size) && (err == io.EOF || err == io.ErrUnexpectedEOF) {
		return nil, errors.New("it changed while it was read")
	}
	if err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, cause(err)
	}
	return r.content[:n], nil
}

// grow returns a slice of n bytes, in the memory of b if that suffices.
func grow(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n, n+n/4)
	}
	return b[:n]
}
