package instrument

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/jiffyperf/jiffy/instrument/archive"
)

// changes is what changed in the inputs since the last run, as --changed lists it.
type changes struct {
	inputs map[int]bool    // inputs that changed as a whole: jars, classes
	names  map[string]bool // entries, and directories with all that is in them, in whatever input; no slash at the end
}

// readChanges reads a list of changes: a line for each, which is `added PATH`, `modified PATH` or `removed PATH`. A path is absolute, or
// relative to a directory among the inputs, or an input as it was named. Empty lines, and those that start with #, say nothing.
func readChanges(path string, in *archive.Inputs) (*changes, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("--changed %s: there is no such file", path)
		}
		return nil, fmt.Errorf("--changed %w", err)
	}
	c := &changes{inputs: make(map[int]bool), names: make(map[string]bool)}
	here := entryNames(in)
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" || line[0] == '#' {
			continue
		}
		if err := c.add(line, in, here); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, number, err)
		}
	}
	return c, nil
}

// add takes one line.
func (c *changes) add(line string, in *archive.Inputs, here map[string]bool) error {
	kind, path, _ := strings.Cut(line, " ")
	switch kind = strings.ToLower(kind); {
	case kind != "added" && kind != "modified" && kind != "removed", path == "":
		return fmt.Errorf("%q is not `added PATH`, `modified PATH` or `removed PATH`", line)
	}
	for i := range in.Len() {
		if input, _ := in.Path(i); samePath(input, path) {
			c.inputs[i] = true
			return nil
		}
	}
	name, ok := entryName(in, path)
	if !ok {
		return fmt.Errorf("%s is not in a directory among the inputs", path)
	}
	// One that was removed may be in no input. A wrong path that is taken for one would leave an old class in the output.
	if kind != "removed" && !here[name] && !here[name+"/"] {
		return fmt.Errorf("%s is in no input", path)
	}
	c.names[name] = true
	return nil
}

// samePath reports whether a path of the list names an input.
func samePath(input, path string) bool {
	if filepath.Clean(input) == filepath.Clean(path) {
		return true
	}
	if !filepath.IsAbs(path) {
		return false
	}
	abs, err := filepath.Abs(input)
	return err == nil && (abs == filepath.Clean(path) || resolved(abs) == resolved(path))
}

// entryName returns the name that a file has in the output.
func entryName(in *archive.Inputs, path string) (name string, ok bool) {
	path = filepath.FromSlash(path)
	for i := range in.Len() {
		dir, isDir := in.Path(i)
		if !isDir {
			continue
		}
		if !filepath.IsAbs(path) {
			return filepath.ToSlash(filepath.Clean(path)), filepath.IsLocal(path) && filepath.Clean(path) != "."
		}
		abs, err := filepath.Abs(dir)
		if err != nil {
			continue
		}
		for _, pair := range [][2]string{{abs, filepath.Clean(path)}, {resolved(abs), resolved(path)}} {
			if rel, err := filepath.Rel(pair[0], pair[1]); err == nil && rel != "." && filepath.IsLocal(rel) {
				return filepath.ToSlash(rel), true
			}
		}
	}
	return "", false
}

// resolved follows the symbolic links of a path. Those of a path that isn't there are followed as far as it is.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	dir := filepath.Dir(path)
	if dir == path {
		return path
	}
	return filepath.Join(resolved(dir), filepath.Base(path))
}

// has reports whether an entry changed.
func (c *changes) has(e *archive.Entry) bool {
	if c.inputs[e.Input()] {
		return true
	}
	for name := e.Name; ; {
		if c.names[name] {
			return true
		}
		slash := strings.LastIndexByte(name, '/')
		if slash < 0 {
			return false
		}
		name = name[:slash]
	}
}
