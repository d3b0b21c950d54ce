package csvexport

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/gocarina/gocsv"
)

// File is a file that appears under its name only when it is complete.
type File struct {
	*bufio.Writer
	path string
	temp *os.File
}

// Create starts a file. The caller ends it with Commit or Abort.
func Create(path string) (*File, error) {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return nil, err
	}
	return &File{Writer: bufio.NewWriterSize(temp, 1<<16), path: path, temp: temp}, nil
}

// Commit puts the file in its place, over one that is there.
func (f *File) Commit() error {
	err := f.Flush()
	if err == nil {
		err = f.temp.Chmod(0o644)
	}
	if closeErr := f.temp.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.temp.Name(), f.path)
	}
	if err != nil {
		os.Remove(f.temp.Name())
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	return nil
}

// Abort leaves nothing behind.
func (f *File) Abort() {
	f.temp.Close()
	os.Remove(f.temp.Name())
}

// Write writes a CSV file of rows.
func Write[T any](path string, rows []T) error {
	f, err := Create(path)
	if err != nil {
		return err
	}
	if err := Encode(f, rows); err != nil {
		f.Abort()
		return fmt.Errorf("write %s: %w", path, err)
	}
	return f.Commit()
}

// Encode writes the header and the rows.
func Encode[T any](w io.Writer, rows []T) error {
	return gocsv.MarshalCSV(rows, gocsv.NewSafeCSVWriter(csv.NewWriter(w)))
}

// Read reads a CSV file of rows. Columns that the struct doesn't have are passed
// over.
func Read[T any](path string) ([]T, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var rows []T
	if err := gocsv.UnmarshalCSV(csv.NewReader(bufio.NewReader(f)), &rows); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return rows, nil
}
