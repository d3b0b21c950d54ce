package archive

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zip"
)

// output takes entries in order and shows nothing of them before commit.
type output interface {
	copy(e *Entry) error            // as it is in its input
	put(e *Entry, c *content) error // with other content
	has(e *Entry) bool              // whether keep can be asked
	keep(e *Entry) error            // as it is in the earlier output
	add(f File) error
	close() error
	commit() error
	abort() // does nothing after commit
}

func newOutput(in *Inputs, path string, c Compression) (output, error) {
	if JarName(path) {
		return newJarOutput(in, path, c)
	}
	dir, err := createPendingDir(path)
	if err != nil {
		return nil, err
	}
	o := &dirOutput{pendingDir: dir, made: make(map[string]bool)}
	if info, err := os.Stat(dir.path); err == nil {
		o.umask = 0o777 &^ info.Mode().Perm()
	}
	return o, nil
}

// placed says which entry an error is about.
func placed(e *Entry, err error) error {
	return fmt.Errorf("%s: %w", e.Place(), cause(err))
}

// jarOutput writes a jar.
type jarOutput struct {
	file        *PendingFile
	buffer      *bufio.Writer
	zip         *zip.Writer
	compression Compression
	chunk       []byte // for copying
}

const (
	// flagDescriptor is bit 3 of the general purpose flags: sizes and checksum follow the data (APPNOTE.TXT 4.4.4).
	flagDescriptor = 0x8
	// flagLevel are bits 1 and 2, which hold how hard deflate tried.
	flagLevel = 0x6
	// zip64Extra is the extra field for sizes beyond 32 bits (APPNOTE.TXT 4.5.3). The writer adds its own where it needs one.
	zip64Extra = 0x0001
	// dosEpoch is 1980-01-01 as an MS-DOS date, the first that the format knows.
	dosEpoch = 1<<5 | 1
	// version20 is the version that deflate needs (APPNOTE.TXT 4.4.3).
	version20 = 20
)

func newJarOutput(in *Inputs, path string, c Compression) (*jarOutput, error) {
	f, err := CreatePending(path)
	if err != nil {
		return nil, err
	}
	o := &jarOutput{file: f, buffer: bufio.NewWriterSize(f, 1<<18), compression: c, chunk: make([]byte, 1<<16)}
	o.zip = zip.NewWriter(o.buffer)
	if len(in.list) == 1 && in.list[0].jar != nil {
		if err := o.likeInput(in.list[0]); err != nil {
			f.Abort()
			return nil, err
		}
	}
	return o, nil
}

// likeInput takes over what a single jar has beside its entries: the comment, the file's mode, and what stands before the
// first entry, such as the script of a jar that starts itself.
func (o *jarOutput) likeInput(i *input) error {
	if err := o.zip.SetComment(i.jar.Comment); err != nil {
		return fmt.Errorf("input %s: %w", i.path, err)
	}
	if err := o.file.Chmod(i.info.Mode().Perm() | 0o600); err != nil {
		return fmt.Errorf("output %s: %w", o.file.path, cause(err))
	}
	n, err := prefixLength(i)
	if err != nil || n == 0 {
		return err
	}
	if _, err := io.Copy(o.buffer, io.NewSectionReader(i.data, 0, n)); err != nil {
		return fmt.Errorf("input %s: %w", i.path, cause(err))
	}
	o.zip.SetOffset(n)
	return nil
}

// maxPrefix is the most bytes before the first entry that are taken over. Start scripts have some kilobytes.
const maxPrefix = 1 << 20

// prefixLength returns how many bytes a jar has before its first entry.
func prefixLength(i *input) (int64, error) {
	var magic [4]byte
	if _, err := i.data.ReadAt(magic[:], 0); err != nil {
		return 0, fmt.Errorf("input %s: %w", i.path, cause(err))
	}
	if string(magic[:2]) == "PK" || len(i.jar.File) == 0 {
		return 0, nil
	}
	first := i.size
	for _, f := range i.jar.File {
		if offset, err := f.DataOffset(); err == nil {
			first = min(first, offset)
		}
	}
	head := make([]byte, min(first, maxPrefix))
	if _, err := i.data.ReadAt(head, 0); err != nil {
		return 0, fmt.Errorf("input %s: %w", i.path, cause(err))
	}
	// The local header of the first entry ends where its data begin.
	const header = 30
	for at := 0; ; at++ {
		n := bytes.Index(head[at:], []byte("PK\x03\x04"))
		if n < 0 || at+n+header > len(head) {
			return 0, nil
		}
		at += n
		name := int64(head[at+26]) | int64(head[at+27])<<8
		extra := int64(head[at+28]) | int64(head[at+29])<<8
		if int64(at)+header+name+extra == first {
			return int64(at), nil
		}
	}
}

// header returns the header of an entry that is written anew or copied.
func (o *jarOutput) header(e *Entry) *zip.FileHeader {
	if e.zip != nil {
		h := e.zip.FileHeader
		h.Extra = withoutExtra(h.Extra, zip64Extra)
		return &h
	}
	return newHeader(e.Name)
}

// newHeader is the header of an entry that was in no jar. Its time is fixed: the same files give the same jar.
func newHeader(name string) *zip.FileHeader {
	h := &zip.FileHeader{Name: name, ReaderVersion: version20, CreatorVersion: version20}
	//lint:ignore SA1019 Modified would add an extended timestamp, and CreateRaw doesn't look at it.
	h.ModifiedDate = dosEpoch
	for i := range len(name) {
		if name[i] >= 0x80 {
			h.Flags |= 0x800 // the name is UTF-8
			break
		}
	}
	return h
}

func (o *jarOutput) copy(e *Entry) error {
	h := o.header(e)
	switch {
	case e.zip == nil && e.IsDir():
		return o.write(h, nil)
	case e.zip == nil:
		return o.compress(e, h)
	case e.IsDir():
		// Some jar tools write directories as deflated, with two bytes of data that stand for nothing.
		h.Method, h.CRC32, h.CompressedSize64, h.UncompressedSize64 = zip.Store, 0, 0, 0
		h.Flags &^= flagDescriptor | flagLevel
		return o.write(h, nil)
	}
	offset, err := e.zip.DataOffset()
	if err != nil {
		return placed(e, errors.New("its local header is not where the central directory says"))
	}
	if h.CompressedSize64 >= 1<<32-1 || h.UncompressedSize64 >= 1<<32-1 {
		h.Flags |= flagDescriptor // the writer has no other way to write sizes beyond 32 bits
	}
	w, err := o.zip.CreateRaw(h)
	if err != nil {
		return o.failed(err)
	}
	data := &reading{from: io.NewSectionReader(e.input.data, offset, int64(e.zip.CompressedSize64))}
	n, err := io.CopyBuffer(onlyWriter{w}, data, o.chunk)
	switch {
	case data.err != nil:
		return placed(e, data.err)
	case err != nil:
		return o.failed(err)
	case n != int64(e.zip.CompressedSize64):
		return placed(e, errors.New("the jar is cut off in it"))
	}
	return nil
}

// compress streams a file that is too large to be held into the jar.
func (o *jarOutput) compress(e *Entry, h *zip.FileHeader) error {
	f, err := os.Open(e.path)
	if err != nil {
		return placed(e, err)
	}
	defer f.Close()
	data := &reading{from: f}
	h.Method = o.compression.method(e)
	create := o.zip.CreateHeader
	if h.Method == zip.Store {
		// java.util.zip.ZipInputStream can't read stored entries whose checksum follows them, so it is computed first.
		create = o.zip.CreateRaw
		sum := crc32.NewIEEE()
		n, err := io.CopyBuffer(onlyWriter{sum}, data, o.chunk)
		if err == nil {
			_, err = f.Seek(0, io.SeekStart)
		}
		if err != nil {
			return placed(e, err)
		}
		h.CRC32, h.CompressedSize64, h.UncompressedSize64 = sum.Sum32(), uint64(n), uint64(n)
	}
	w, err := create(h)
	if err != nil {
		return o.failed(err)
	}
	n, err := io.CopyBuffer(onlyWriter{w}, data, o.chunk)
	switch {
	case data.err != nil:
		return placed(e, data.err)
	case err != nil:
		return o.failed(err)
	case h.Method == zip.Store && uint64(n) != h.UncompressedSize64:
		return placed(e, errors.New("it changed while it was read"))
	}
	return nil
}

func (o *jarOutput) put(e *Entry, c *content) error {
	h := o.header(e)
	h.Flags &^= flagDescriptor | flagLevel
	h.Method = c.method
	h.CRC32 = c.crc
	h.CompressedSize64 = uint64(len(c.bytes))
	h.UncompressedSize64 = uint64(c.size)
	return o.write(h, c.bytes)
}

func (o *jarOutput) add(f File) error {
	h := newHeader(f.Name)
	if o.compression == Store {
		h.CRC32 = crc32.ChecksumIEEE(f.Content)
		h.CompressedSize64 = uint64(len(f.Content))
		h.UncompressedSize64 = uint64(len(f.Content))
		return o.write(h, f.Content)
	}
	h.Method = zip.Deflate
	w, err := o.zip.CreateHeader(h)
	if err == nil {
		_, err = w.Write(f.Content)
	}
	if err != nil {
		return o.failed(err)
	}
	return nil
}

func (o *jarOutput) write(h *zip.FileHeader, b []byte) error {
	w, err := o.zip.CreateRaw(h)
	if err == nil {
		_, err = w.Write(b)
	}
	if err != nil {
		return o.failed(err)
	}
	return nil
}

func (o *jarOutput) close() error {
	if err := o.zip.Close(); err != nil {
		return o.failed(err)
	}
	return nil
}

// A jar is written as a whole.
func (o *jarOutput) has(*Entry) bool     { return false }
func (o *jarOutput) keep(e *Entry) error { return o.copy(e) }

func (o *jarOutput) commit() error { return o.file.Commit() }
func (o *jarOutput) abort()        { o.file.Abort() }

func (o *jarOutput) failed(err error) error {
	return fmt.Errorf("output %s: %w", o.file.path, cause(err))
}

// reading remembers an error, so that failures to read can be told from failures to write.
type reading struct {
	from io.Reader
	err  error
}

func (r *reading) Read(b []byte) (int, error) {
	n, err := r.from.Read(b)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}

// onlyWriter hides ReadFrom, which would bypass the buffer given to io.CopyBuffer.
type onlyWriter struct{ io.Writer }

// withoutExtra removes one kind of extra field. What can't be parsed is kept.
func withoutExtra(extra []byte, id int) []byte {
	var kept []byte
	for rest := extra; len(rest) > 0; {
		n := len(rest)
		if n >= 4 {
			n = min(n, 4+int(rest[2])+int(rest[3])<<8)
		}
		if n < 4 || int(rest[0])|int(rest[1])<<8 != id {
			kept = append(kept, rest[:n]...)
		}
		rest = rest[n:]
	}
	return kept
}

// dirOutput writes a directory of files.
type dirOutput struct {
	*pendingDir
	made     map[string]bool // directories that exist
	umask    fs.FileMode
	compared [2][]byte // for comparing
}

// open creates the file for an entry, and the directories it is in.
func (o *dirOutput) open(name string, mode fs.FileMode) (*os.File, error) {
	path := filepath.Join(o.path, filepath.FromSlash(name))
	if err := o.mkdir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if !errors.Is(err, fs.ErrExist) {
		return f, err
	}
	// Never written into: it may be a link to a file of the earlier output.
	if err := os.Remove(path); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
}

func (o *dirOutput) mkdir(path string) error {
	if o.made[path] {
		return nil
	}
	err := os.MkdirAll(path, 0o777)
	o.made[path] = err == nil
	return err
}

func (o *dirOutput) failed(name string, err error) error {
	return fmt.Errorf("output %s: %s: %w", o.given, name, cause(err))
}

func (o *dirOutput) copy(e *Entry) error {
	if e.IsDir() {
		if err := o.mkdir(filepath.Join(o.path, filepath.FromSlash(e.Name))); err != nil {
			return o.failed(e.Name, err)
		}
		return nil
	}
	if o.keepCopy(e) {
		return nil
	}
	from, err := e.stream()
	if err != nil {
		return placed(e, err)
	}
	defer from.Close()
	to, err := o.open(e.Name, e.fileMode())
	if err != nil {
		return o.failed(e.Name, err)
	}
	data := &reading{from: from}
	_, err = io.Copy(to, data)
	if err = errors.Join(err, to.Close()); data.err != nil {
		return placed(e, data.err)
	}
	if err != nil {
		return o.failed(e.Name, err)
	}
	return nil
}

func (o *dirOutput) put(e *Entry, c *content) error {
	return o.writeFile(e.Name, c.bytes, e.fileMode())
}

func (o *dirOutput) add(f File) error {
	return o.writeFile(f.Name, f.Content, 0o666)
}

func (o *dirOutput) writeFile(name string, b []byte, mode fs.FileMode) error {
	if o.keepContent(name, b, mode) {
		return nil
	}
	if err := o.create(name, b, mode); err != nil {
		return o.failed(name, err)
	}
	return nil
}

func (o *dirOutput) create(name string, b []byte, mode fs.FileMode) error {
	f, err := o.open(name, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}

func (o *dirOutput) close() error { return nil }

// stream opens an entry that is too large to be held.
func (e *Entry) stream() (io.ReadCloser, error) {
	if e.zip == nil {
		return os.Open(e.path)
	}
	if e.zip.Flags&flagEncrypted != 0 {
		return nil, errors.New("it is encrypted")
	}
	return e.zip.Open() // checks the size and the checksum
}

// fileMode is the mode of the file that the entry becomes, before the umask.
func (e *Entry) fileMode() fs.FileMode {
	if e.zip == nil {
		return e.mode.Perm()
	}
	const unix = 3 // host system in the upper byte of "version made by" (APPNOTE.TXT 4.4.2)
	if perm := e.zip.Mode().Perm(); e.zip.CreatorVersion>>8 == unix && perm != 0 {
		return perm | 0o200
	}
	return 0o666
}
