package archive

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// action is what becomes of an entry.
type action int

const (
	copyEntry     action = iota // into the output as it is
	rewriteClass                // handed to the Rewriter
	stripManifest               // without the digests of a signature
	mergeServices               // one file of those of several inputs
)

// item is an entry of the output.
type item struct {
	entry  *Entry
	action action
	others []*Entry // for mergeServices: the same entry in later inputs
}

// plan is what becomes of all entries, and what is said about it.
type plan struct {
	items      []item
	signed     bool // entries are left out or changed because of a signature
	bytes      int64
	nested     []string
	duplicates []string
}

// newPlan decides about every entry. With strip, signatures are left out: they can't hold once a class has changed, and
// never do where several inputs become one.
func newPlan(in *Inputs, output string, strip bool) (*plan, error) {
	p := &plan{items: make([]item, 0, len(in.entries))}
	toDir := !JarName(output)
	at := make(map[string]int, len(in.entries)) // name → index in items
	for _, e := range in.entries {
		p.bytes += e.stored()
		if toDir && !isLocal(strings.TrimSuffix(e.Name, "/")) {
			return nil, fmt.Errorf("%s: its name leads out of the output directory", e.Place())
		}
		if isSignature(e.Name) && !e.IsDir() {
			p.signed = true
			if strip {
				continue
			}
		}
		if first, ok := at[e.Name]; ok && p.duplicate(first, e, toDir) {
			continue
		}
		at[e.Name] = len(p.items)
		p.items = append(p.items, item{entry: e, action: p.actionFor(e, strip)})
		if isNested(e.Name) {
			p.nested = append(p.nested, e.Place())
		}
	}
	return p, nil
}

func (p *plan) actionFor(e *Entry, strip bool) action {
	switch {
	case e.IsClass():
		return rewriteClass
	case isManifest(e.Name):
		if manifest, err := e.Content(); err == nil && hasDigests(manifest) {
			p.signed = true
			if strip {
				return stripManifest
			}
		}
	}
	return copyEntry
}

// duplicate decides about an entry whose name the item at index first has already, and reports whether that settles it.
//
// Between inputs the first one wins, as on a class path; provider-configuration files are merged, because a class path
// would have had both. Within one jar duplicates are kept as they are; a directory can hold only one, and gets the last, which is
// the one that the JDK's ZipFile finds.
func (p *plan) duplicate(first int, e *Entry, toDir bool) bool {
	kept := &p.items[first]
	switch {
	case e.input == kept.entry.input:
		if !toDir {
			return false
		}
		if !e.IsDir() {
			p.duplicates = append(p.duplicates, e.Place()+": is there twice; the last one is kept")
		}
		kept.entry = e
	case e.IsDir():
	case isServices(e.Name):
		kept.action = mergeServices
		kept.others = append(kept.others, e)
	case !sameContent(kept.entry, e):
		p.duplicates = append(p.duplicates, e.Place()+": is left out, because "+kept.entry.input.path+" has it already")
	}
	return true
}

// sameContent reports whether two entries are surely equal.
func sameContent(a, b *Entry) bool {
	if a.declared() != b.declared() {
		return false
	}
	x, errX := a.Content()
	y, errY := b.Content()
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// isLocal reports whether a name from a jar stays inside the directory it is unpacked to, on any system.
func isLocal(name string) bool {
	return filepath.IsLocal(filepath.FromSlash(name)) && !strings.ContainsAny(name, "\\\x00") &&
		!(len(name) >= 2 && name[1] == ':') && !strings.HasPrefix(name, "/")
}

// checkOutput refuses an output that is an input, or lies in one, or holds one.
func checkOutput(in *Inputs, output string) error {
	if output == "" {
		return errors.New("no output: name a jar or a directory")
	}
	target, err := resolveTarget(output)
	if err != nil {
		return err
	}
	info, statErr := os.Stat(target)
	for _, i := range in.list {
		source, err := resolveTarget(i.path)
		if err != nil {
			return err
		}
		switch {
		case statErr == nil && os.SameFile(info, i.info):
			return fmt.Errorf("output %s: is also an input", output)
		case i.info.IsDir() && inside(target, source):
			return fmt.Errorf("output %s: lies inside the input %s", output, i.path)
		case !JarName(output) && inside(source, target):
			return fmt.Errorf("output %s: holds the input %s", output, i.path)
		}
	}
	return nil
}

// CheckBeside refuses a file that is to be written beside the output, if it is an input or the output, or lies in one.
func (in *Inputs) CheckBeside(path, output string) error {
	file, err := resolveTarget(path)
	if err != nil {
		return err
	}
	target, err := resolveTarget(output)
	if err != nil {
		return err
	}
	if file == target || !JarName(output) && inside(file, target) {
		return fmt.Errorf("output %s: lies inside the output %s", path, output)
	}
	for _, i := range in.list {
		source, err := resolveTarget(i.path)
		if err != nil {
			return err
		}
		if file == source || i.info.IsDir() && inside(file, source) {
			return fmt.Errorf("output %s: lies inside the input %s", path, i.path)
		}
	}
	return nil
}

// inside reports whether path lies below dir.
func inside(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != "." && filepath.IsLocal(rel)
}
