package collect

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cespare/xxhash/v2"

	"github.com/jiffyperf/jiffy/instrument/mapping"
)

// addMaps copies probe maps into the run directory. A map's name holds the hash
// of its contents, so one that is there already is not copied again. The error
// joins those of the maps that could not be copied; the others are.
func addMaps(dir string, sources []mapping.Source) error {
	var failed []error
	for _, s := range sources {
		if err := addMap(dir, s); err != nil {
			failed = append(failed, fmt.Errorf("probe map %s: %w", s.Name, err))
		}
	}
	return errors.Join(failed...)
}

func addMap(dir string, s mapping.Source) error {
	r, err := s.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	contents, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	name := filepath.Base(mapping.FileName(fmt.Sprintf("%016x", xxhash.Sum64(contents))))
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	return writeAtomic(path, contents)
}

// givenMaps are the sources of the maps the user named. Each is read once to
// see that it is a probe map; the error names the file.
func givenMaps(paths []string) ([]mapping.Source, error) {
	var sources []mapping.Source
	for _, path := range paths {
		if _, err := mapping.Load(path); err != nil {
			return nil, fmt.Errorf("--mapping: %w", err)
		}
		sources = append(sources, mapping.Source{Name: path, Open: func() (io.ReadCloser, error) { return os.Open(path) }})
	}
	return sources, nil
}
