package archive

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jiffyperf/jiffy/instrument/classfile"
	"github.com/klauspost/compress/zip"
)

// Inputs are opened inputs: jars, directories and single classes.
type Inputs struct {
	list    []*input
	entries []*Entry
	passed  []string
	cache   chunkCache // of the jars
}

// input is one jar, directory or class.
type input struct {
	index int // among the inputs
	path  string
	info  fs.FileInfo
	jar   *zip.Reader // nil unless it is a jar
	file  *os.File    // the open jar
	data  io.ReaderAt // what it holds
	size  int64       // of the jar
}

// An Entry is one file, or one directory, of an input.
type Entry struct {
	Name  string // path in the jar, with slashes; that of a directory ends in one
	input *input
	zip   *zip.File   // of a jar's entry
	path  string      // of a file's
	mode  fs.FileMode // of a file's
	size  int64       // of a file's
}

// Open opens the inputs at paths: directories, .class files, and jars, which may have any other name.
func Open(paths []string) (*Inputs, error) {
	if len(paths) == 0 {
		return nil, errors.New("no inputs: name a jar, a directory or a class")
	}
	in := new(Inputs)
	for _, path := range paths {
		if err := in.open(path); err != nil {
			in.Close()
			return nil, err
		}
	}
	return in, nil
}

func (in *Inputs) open(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("input %s: there is no such file or directory", path)
		}
		return fmt.Errorf("input %s: %w", path, cause(err))
	}
	for _, other := range in.list {
		if os.SameFile(info, other.info) {
			return fmt.Errorf("input %s: is given twice (as %s)", path, other.path)
		}
	}
	i := &input{index: len(in.list), path: path, info: info}
	in.list = append(in.list, i)
	switch {
	case info.IsDir():
		err = in.openDirectory(i)
	case !info.Mode().IsRegular():
		err = errors.New("is neither a jar nor a directory nor a class")
	case strings.HasSuffix(path, ".class"):
		err = in.openClass(i)
	default:
		err = in.openJar(i)
	}
	if err != nil {
		return fmt.Errorf("input %s: %w", path, err)
	}
	return nil
}

// Close closes the jars.
func (in *Inputs) Close() error {
	var errs []error
	for _, i := range in.list {
		if i.file != nil {
			errs = append(errs, i.file.Close())
		}
	}
	return errors.Join(errs...)
}

// Entries returns all entries in the order of the inputs.
func (in *Inputs) Entries() []*Entry { return in.entries }

// Len returns the number of inputs.
func (in *Inputs) Len() int { return len(in.list) }

// Path returns the path of the input at index i as it was given, and whether it is a directory.
func (in *Inputs) Path(i int) (path string, dir bool) {
	return in.list[i].path, in.list[i].info.IsDir()
}

// PassedOver returns what directories hold beside files and directories, and is not part of the output: sockets, links to
// directories, …
func (in *Inputs) PassedOver() []string { return in.passed }

func (in *Inputs) openJar(i *input) error {
	f, err := os.Open(i.path)
	if err != nil {
		return cause(err)
	}
	i.file, i.size = f, i.info.Size()
	i.data = cachedReader{f, &in.cache}
	if i.jar, err = zip.NewReader(i.data, i.size); err != nil {
		if errors.Is(err, zip.ErrFormat) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return errors.New("is not a jar, or is cut off: it has no central directory that could be read")
		}
		return cause(err)
	}
	var compressed uint64
	for _, f := range i.jar.File {
		// Entries that share bytes are how small jars unpack to huge ones. No tool for jars writes them.
		if compressed += f.CompressedSize64; f.CompressedSize64 > uint64(i.size) || compressed > uint64(i.size) {
			return fmt.Errorf("entry %q: the entries are larger together than the jar, so they overlap", f.Name)
		}
		in.entries = append(in.entries, &Entry{Name: f.Name, input: i, zip: f})
	}
	return nil
}

func (in *Inputs) openDirectory(i *input) error {
	first := len(in.entries)
	err := filepath.WalkDir(i.path, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(i.path, path)
		if err != nil || name == "." {
			return err
		}
		e := &Entry{Name: filepath.ToSlash(name), input: i, path: path}
		info, err := d.Info()
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			info, err = os.Stat(path)
			if err == nil && info.IsDir() {
				in.passed = append(in.passed, path+": a link to a directory")
				return nil
			}
		}
		if err != nil {
			return err
		}
		e.mode, e.size = info.Mode(), info.Size()
		switch {
		case info.IsDir():
			e.Name += "/"
			e.size = 0
		case !info.Mode().IsRegular():
			in.passed = append(in.passed, path+": neither a file nor a directory")
			return nil
		}
		in.entries = append(in.entries, e)
		return nil
	})
	// java.util.jar.JarInputStream finds a manifest only if it is the first file.
	slices.SortStableFunc(in.entries[first:], func(a, b *Entry) int { return cmp.Compare(manifestFirst(a.Name), manifestFirst(b.Name)) })
	return err
}

func manifestFirst(name string) int {
	switch name {
	case "META-INF/":
		return 0
	case "META-INF/MANIFEST.MF":
		return 1
	}
	return 2
}

// openClass names a single class after what it declares, as `java -cp` would want it. What isn't a class keeps its file's name.
func (in *Inputs) openClass(i *input) error {
	e := &Entry{input: i, path: i.path, mode: i.info.Mode(), size: i.info.Size(), Name: filepath.Base(i.path)}
	var r reader
	class, err := r.read(e, maxClass)
	if err != nil {
		return cause(err)
	}
	var parsed classfile.Class
	if err := parsed.Parse(class); err == nil {
		if name := classfile.Text(parsed.Name()) + ".class"; isLocal(name) {
			e.Name = name
		}
	}
	in.entries = append(in.entries, e)
	return nil
}

// Place says where the entry is, for messages: jar!entry, or the file's path.
func (e *Entry) Place() string {
	if e.zip != nil {
		return e.input.path + "!" + e.Name
	}
	return e.path
}

// IsClass reports whether the entry is a class by its name.
func (e *Entry) IsClass() bool { return strings.HasSuffix(e.Name, ".class") }

// IsDir reports whether the entry is a directory.
func (e *Entry) IsDir() bool { return strings.HasSuffix(e.Name, "/") }

// InputPath returns the path of the jar, directory or class that the entry came from.
func (e *Entry) InputPath() string { return e.input.path }

// Input returns which of the inputs the entry came from, counted from 0.
func (e *Entry) Input() int { return e.input.index }

// Content reads the entry. It is for the few that are looked at before the others, such as module-info.class.
func (e *Entry) Content() ([]byte, error) {
	var r reader
	return r.read(e, maxClass)
}

// stored is how many bytes the entry takes in its input: the measure of progress.
func (e *Entry) stored() int64 {
	if e.zip != nil {
		return int64(e.zip.CompressedSize64)
	}
	return e.size
}

// declared is how many bytes the entry says it has.
func (e *Entry) declared() int64 {
	if e.zip != nil {
		return int64(min(e.zip.UncompressedSize64, 1<<62))
	}
	return e.size
}

// cause takes the operation and the path off an error of package os; our messages name the path already.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return l.Err
	}
	return err
}
