package mapping

import (
	"archive/zip"
	"bufio"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Source is a place where a map can be read.
type Source struct {
	Name string // a file, or jar!entry
	Open func() (io.ReadCloser, error)
}

// FindInClassPath finds the maps in the jars and directories of a Java class path, in its order. Relative entries are
// relative to dir. An entry dir/* stands for the jars in dir, and what a jar's manifest lists as Class-Path is searched too,
// as `java` does.
//
// Entries that don't exist or aren't jars are passed over, as `java` does. The error joins what could not be read; the
// sources that were found are valid all the same.
func FindInClassPath(classPath, dir string) ([]Source, error) {
	s := search{dir: dir, seen: make(map[string]bool)}
	for _, entry := range filepath.SplitList(classPath) {
		if entry == "" {
			entry = "." // java: an empty entry is the current directory
		}
		s.entry(entry)
	}
	return s.found, errors.Join(s.failed...)
}

// FindInModulePath finds the maps in the modules of a Java module path: its entries are jars, exploded modules, or
// directories of either. See FindInClassPath for the rest.
func FindInModulePath(modulePath, dir string) ([]Source, error) {
	s := search{dir: dir, seen: make(map[string]bool)}
	for _, entry := range filepath.SplitList(modulePath) {
		if entry == "" {
			continue
		}
		s.entry(entry)
		s.children(entry, func(child fs.DirEntry) bool { return child.IsDir() || isJar(child.Name()) })
	}
	return s.found, errors.Join(s.failed...)
}

// search collects maps; seen holds the paths that were looked at, because jars may name each other in a circle.
type search struct {
	dir    string
	seen   map[string]bool
	found  []Source
	failed []error
}

func (s *search) entry(entry string) {
	if parent, ok := strings.CutSuffix(entry, "*"); ok && (parent == "" || os.IsPathSeparator(parent[len(parent)-1])) {
		s.children(parent, func(child fs.DirEntry) bool { return !child.IsDir() && isJar(child.Name()) })
		return
	}
	path := s.absolute(entry)
	if s.seen[path] {
		return
	}
	s.seen[path] = true
	info, err := os.Stat(path)
	switch {
	case err != nil:
		if !errors.Is(err, fs.ErrNotExist) {
			s.failed = append(s.failed, err)
		}
	case info.IsDir():
		s.directory(path)
	case info.Mode().IsRegular():
		s.jar(path)
	}
}

// children searches the entries of a directory that match, in the order of their names.
func (s *search) children(dir string, match func(fs.DirEntry) bool) {
	entries, err := os.ReadDir(s.absolute(dir))
	if err != nil {
		return // a missing entry, or a file
	}
	for _, e := range entries {
		if match(e) {
			s.entry(filepath.Join(dir, e.Name()))
		}
	}
}

func (s *search) absolute(path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.dir, path)
	}
	return filepath.Clean(path)
}

func (s *search) directory(path string) {
	entries, err := os.ReadDir(filepath.Join(path, filepath.FromSlash(Dir)))
	if err != nil {
		return // most directories of classes have no map
	}
	for _, e := range entries {
		if IsFileName(Dir + e.Name()) {
			file := filepath.Join(path, filepath.FromSlash(Dir), e.Name())
			s.found = append(s.found, Source{Name: file, Open: func() (io.ReadCloser, error) { return os.Open(file) }})
		}
	}
}

// jar looks for maps in a jar's central directory, and follows its manifest's Class-Path.
func (s *search) jar(path string) {
	z, err := zip.OpenReader(path)
	if err != nil {
		if !errors.Is(err, zip.ErrFormat) { // java passes over what is no jar
			s.failed = append(s.failed, err)
		}
		return
	}
	defer z.Close()
	var next []string
	for _, f := range z.File {
		switch {
		case IsFileName(f.Name):
			s.found = append(s.found, inJar(path, f.Name))
		case strings.EqualFold(f.Name, "META-INF/MANIFEST.MF"):
			next = append(next, classPathOf(f)...)
		}
	}
	for _, ref := range next {
		if file, ok := resolve(path, ref); ok {
			s.entry(file)
		}
	}
}

// inJar is the source of one entry of a jar. The jar is opened when the source is.
func inJar(path, name string) Source {
	return Source{Name: path + "!" + name, Open: func() (io.ReadCloser, error) {
		z, err := zip.OpenReader(path)
		if err != nil {
			return nil, err
		}
		// The FS of a zip hides entries whose names it finds odd; the central directory doesn't.
		at := slices.IndexFunc(z.File, func(f *zip.File) bool { return f.Name == name })
		if at < 0 {
			z.Close()
			return nil, &fs.PathError{Op: "open", Path: path + "!" + name, Err: fs.ErrNotExist}
		}
		r, err := z.File[at].Open()
		if err != nil {
			z.Close()
			return nil, err
		}
		return jarEntry{r, z}, nil
	}}
}

// jarEntry closes its jar together with itself.
type jarEntry struct {
	io.ReadCloser
	jar io.Closer
}

func (e jarEntry) Close() error {
	return errors.Join(e.ReadCloser.Close(), e.jar.Close())
}

// maxManifest bounds what is read of a manifest, in bytes. Real ones with one section per class reach a few megabytes, but
// Class-Path stands in the main section, which comes first.
const maxManifest = 1 << 20

// classPathOf returns the references in a manifest's Class-Path attribute (JAR File Specification, "Main Attributes").
func classPathOf(manifest *zip.File) []string {
	r, err := manifest.Open()
	if err != nil {
		return nil
	}
	defer r.Close()
	lines := bufio.NewScanner(io.LimitReader(r, maxManifest))
	var value strings.Builder
	inside := false
	for lines.Scan() {
		line := lines.Text()
		if line == "" {
			break // end of the main section
		}
		if rest, ok := strings.CutPrefix(line, " "); ok { // continuation line
			if inside {
				value.WriteString(rest)
			}
			continue
		}
		name, rest, _ := strings.Cut(line, ":")
		if inside = strings.EqualFold(name, "Class-Path"); inside {
			value.WriteString(strings.TrimPrefix(rest, " "))
		}
	}
	return strings.Fields(value.String())
}

// resolve returns the file that a relative URL in the manifest of jar refers to.
func resolve(jar, ref string) (string, bool) {
	u, err := url.Parse(ref)
	if err != nil || u.Host != "" || (u.Scheme != "" && u.Scheme != "file") {
		return "", false
	}
	path := u.Path
	if path == "" {
		path = u.Opaque // file:lib.jar
	}
	if path == "" {
		return "", false
	}
	path = filepath.FromSlash(path)
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(jar), path)
	}
	return path, true
}

func isJar(name string) bool {
	return strings.HasSuffix(name, ".jar") || strings.HasSuffix(name, ".JAR")
}
