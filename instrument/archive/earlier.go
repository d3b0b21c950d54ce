package archive

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A new output directory takes over the files of the earlier one, which it is going to replace, where they stay the same: as a
// second link to the same file, so that it keeps its modification time, and so that nothing changes before commit.

// earlier finds the file of the earlier output that a file of that name and mode, before the umask, could be.
func (o *dirOutput) earlier(name string, mode fs.FileMode) (fs.FileInfo, bool) {
	info, err := os.Lstat(o.earlierPath(name))
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm() != mode&^o.umask {
		return nil, false
	}
	return info, true
}

func (o *dirOutput) earlierPath(name string) string {
	return filepath.Join(o.target, filepath.FromSlash(name))
}

// has reports whether keep can be asked for an entry. Unlike the other methods it may be called from any goroutine.
func (o *dirOutput) has(e *Entry) bool {
	if e.IsDir() {
		return false
	}
	_, ok := o.earlier(e.Name, e.fileMode())
	return ok
}

// keep takes an entry from the earlier output without looking at it.
func (o *dirOutput) keep(e *Entry) error {
	info, ok := o.earlier(e.Name, e.fileMode())
	if !ok {
		return o.failed(e.Name, errors.New("it went away while the output was written"))
	}
	if err := o.takeOver(e.Name, info); err != nil {
		return o.failed(e.Name, err)
	}
	return nil
}

// keepContent takes a file from the earlier output if it has that content, and reports whether it did.
func (o *dirOutput) keepContent(name string, b []byte, mode fs.FileMode) bool {
	info, ok := o.earlier(name, mode)
	if !ok || info.Size() != int64(len(b)) {
		return false
	}
	f, err := os.Open(o.earlierPath(name))
	if err != nil {
		return false
	}
	defer f.Close()
	return o.equal(f, bytes.NewReader(b)) && o.takeOver(name, info) == nil
}

// keepCopy is keepContent for an entry that is copied.
func (o *dirOutput) keepCopy(e *Entry) bool {
	info, ok := o.earlier(e.Name, e.fileMode())
	if !ok || info.Size() != e.declared() {
		return false
	}
	f, err := os.Open(o.earlierPath(e.Name))
	if err != nil {
		return false
	}
	defer f.Close()
	from, err := e.stream()
	if err != nil {
		return false // said when it is copied
	}
	defer from.Close()
	return o.equal(f, from) && o.takeOver(e.Name, info) == nil
}

// takeOver makes a file of the earlier output one of this. Where the file system has no links it becomes a copy of the same time.
func (o *dirOutput) takeOver(name string, info fs.FileInfo) error {
	from, to := o.earlierPath(name), filepath.Join(o.path, filepath.FromSlash(name))
	if err := o.mkdir(filepath.Dir(to)); err != nil {
		return err
	}
	err := os.Link(from, to)
	if errors.Is(err, fs.ErrExist) { // names that the file system doesn't tell apart: the last one stays
		if err = os.Remove(to); err == nil {
			err = os.Link(from, to)
		}
	}
	if err == nil {
		return nil
	}
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := o.create(name, b, info.Mode().Perm()); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

// equal reports whether two readers give the same bytes, without an error.
func (o *dirOutput) equal(a, b io.Reader) bool {
	if o.compared[0] == nil {
		o.compared = [2][]byte{make([]byte, 32<<10), make([]byte, 32<<10)}
	}
	x, y := o.compared[0], o.compared[1]
	for {
		n, errA := io.ReadFull(a, x)
		m, errB := io.ReadFull(b, y)
		if n != m || !bytes.Equal(x[:n], y[:m]) {
			return false
		}
		if errA != nil || errB != nil {
			return ended(errA) && ended(errB)
		}
	}
}

func ended(err error) bool { return err == io.EOF || err == io.ErrUnexpectedEOF }
