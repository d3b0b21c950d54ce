package archive

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A PendingFile is a file in the making. It lies beside its target and takes its name when it is complete; an existing file is
// replaced then.
type PendingFile struct {
	*os.File
	path   string // as it was given, for messages
	target string // with symbolic links resolved
	done   bool
}

// CreatePending starts a file.
func CreatePending(path string) (*PendingFile, error) {
	target, err := resolveTarget(path)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(target); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("output %s: exists and is not a file", path)
	}
	f, err := os.OpenFile(pendingName(target), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, fmt.Errorf("output %s: %w", path, cause(err))
	}
	return &PendingFile{File: f, path: path, target: target}, nil
}

// Fill has write write the content.
func (p *PendingFile) Fill(write func(io.Writer) error) error {
	b := bufio.NewWriter(p.File)
	err := write(b)
	if err == nil {
		err = b.Flush()
	}
	if err != nil {
		return fmt.Errorf("output %s: %w", p.path, cause(err))
	}
	return nil
}

// Commit makes the file visible. It isn't synced: what builds make can be made again.
func (p *PendingFile) Commit() error {
	err := p.Close()
	if err == nil {
		err = os.Rename(p.Name(), p.target)
	}
	if err != nil {
		return fmt.Errorf("output %s: %w", p.path, cause(err))
	}
	p.done = true
	return nil
}

// Abort removes the file, unless it was committed.
func (p *PendingFile) Abort() {
	if !p.done {
		p.Close()
		os.Remove(p.Name())
	}
}

// pendingDir is a directory in the making, beside its target.
type pendingDir struct {
	path   string // of the directory in the making
	given  string // the target as it was given, for messages
	target string
	done   bool
}

// createPendingDir prepares a new directory. An existing target must be empty, or an output of ours, which is replaced.
func createPendingDir(path string) (*pendingDir, error) {
	target, err := resolveTarget(path)
	if err != nil {
		return nil, err
	}
	if err := replaceable(target); err != nil {
		return nil, fmt.Errorf("output %s: %w", path, err)
	}
	p := &pendingDir{path: pendingName(target), given: path, target: target}
	if err := os.Mkdir(p.path, 0o777); err != nil {
		return nil, fmt.Errorf("output %s: %w", path, cause(err))
	}
	return p, nil
}

// replaceable reports why a directory that exists must not be replaced by an output.
func replaceable(target string) error {
	entries, err := os.ReadDir(target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		if info, serr := os.Stat(target); serr == nil && !info.IsDir() {
			return errors.New("exists and is not a directory (a jar's name ends in .jar)")
		}
		return cause(err)
	case len(entries) == 0:
		return nil
	}
	if marks, err := os.ReadDir(filepath.Join(target, "META-INF", "jiffy")); err == nil && len(marks) > 0 {
		return nil // every output has a probe map there
	}
	return errors.New("is not empty, and was not made by jiffy; remove it or name another")
}

// commit puts the new directory in the place of the old one.
func (p *pendingDir) commit() error {
	old := pendingName(p.target)
	err := os.Rename(p.target, old)
	replaced := err == nil
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = os.Rename(p.path, p.target)
	}
	if err != nil {
		if replaced {
			os.Rename(old, p.target)
		}
		return fmt.Errorf("output %s: %w", p.given, cause(err))
	}
	p.done = true
	if replaced {
		os.RemoveAll(old)
	}
	return nil
}

func (p *pendingDir) abort() {
	if !p.done {
		os.RemoveAll(p.path)
	}
}

// resolveTarget follows symbolic links, so that a link stays one and what it points to is replaced.
func resolveTarget(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("output %s: %w", path, err)
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real, nil
	}
	parent, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("output %s: there is no directory %s", path, filepath.Dir(path))
	}
	if err != nil {
		return "", fmt.Errorf("output %s: %w", path, cause(err))
	}
	return filepath.Join(parent, filepath.Base(abs)), nil
}

// pendingName returns a name beside target that nothing has.
func pendingName(target string) string {
	return filepath.Join(filepath.Dir(target), "."+filepath.Base(target)+".jiffy-"+rand.Text()[:10])
}
