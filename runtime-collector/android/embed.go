// Package android holds the compiled in-app runtime, so that `jiffy instrument --runtime` can add it to an output.
package android

import (
	"embed"
	"errors"
	"io/fs"
	"strings"
)

// classes is filled by `make build`. Only its README.md is under version control, so that the pattern always matches.
//
//go:embed all:classes
var classes embed.FS

// ErrNotBuilt says that the binary was built without the runtime.
var ErrNotBuilt = errors.New("this jiffy was built without the runtime; build it with `make build`")

// Classes returns the runtime's class files, with the root of their packages as root. The error is ErrNotBuilt if
// there are none.
func Classes() (fs.FS, error) {
	root, err := fs.Sub(classes, "classes")
	if err != nil {
		return nil, err
	}
	found := errors.New("found")
	err = fs.WalkDir(root, ".", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".class") {
			return found
		}
		return err
	})
	switch {
	case errors.Is(err, found):
		return root, nil
	case err != nil:
		return nil, err
	}
	return nil, ErrNotBuilt
}
