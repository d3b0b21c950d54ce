package collect

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Names in a run directory.
const (
	factsFile        = "collect.csv"
	processFile      = "process-samples.csv"
	threadFile       = "thread-samples.csv"
	capabilitiesFile = "capabilities.csv"
	logDir           = "log"
	mapDir           = "maps"
	reportDir        = "report" // where `jiffy report` writes unless told otherwise
)

// runDir is a run directory that this process writes.
type runDir struct {
	path    string // absolute
	created bool   // by this process
	process *sampleFile
	thread  *sampleFile
}

// createRunDir makes the directory, or takes an empty one. One that holds
// something is refused, except that force replaces a previous run.
func createRunDir(path string, force bool) (*runDir, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(absolute)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case len(entries) > 0:
		if err := makeRoom(absolute, path, force); err != nil {
			return nil, err
		}
	}
	r := &runDir{path: absolute, created: err != nil}
	if err := r.fill(); err != nil {
		r.discard()
		return nil, err
	}
	return r, nil
}

func (r *runDir) fill() error {
	for _, dir := range []string{logDir, mapDir} {
		if err := os.MkdirAll(r.file(dir), 0o755); err != nil {
			return err
		}
	}
	var err error
	if r.process, err = createSampleFile(r.file(processFile), processHeader); err != nil {
		return err
	}
	if isLocked(lock(r.process.file)) {
		return fmt.Errorf("%s is being written by another jiffy collect", r.path)
	}
	r.thread, err = createSampleFile(r.file(threadFile), threadHeader)
	return err
}

func (r *runDir) file(name string) string { return filepath.Join(r.path, name) }

// close closes the sample files; the error is the first of theirs.
func (r *runDir) close() error {
	return errors.Join(r.process.close(), r.thread.close())
}

// discard takes back what createRunDir made, for a run that never started.
func (r *runDir) discard() {
	for _, s := range []*sampleFile{r.process, r.thread} {
		if s != nil {
			s.close()
		}
	}
	removeRun(r.path)
	if r.created {
		os.Remove(r.path)
	}
}

// makeRoom clears a directory that is not empty, if it may.
func makeRoom(dir, shown string, force bool) error {
	f, err := os.OpenFile(filepath.Join(dir, processFile), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is not empty, and is no earlier run: give another directory", shown)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	switch {
	case !force:
		return fmt.Errorf("%s holds an earlier run: give another directory, or --force to replace it", shown)
	case isLocked(lock(f)):
		return fmt.Errorf("%s is being written by another jiffy collect", shown)
	}
	return removeRun(dir)
}

// removeRun removes the files of a run, and only those: what somebody else put
// into the directory stays. A report is part of the run it was made from.
func removeRun(dir string) error {
	patterns := []string{
		factsFile, "." + factsFile + ".*", processFile, threadFile, capabilitiesFile,
		logDir + "/events-*.jiffy", logDir + "/folded-*.jiffy", mapDir + "/probes-*.csv",
	}
	if _, err := os.Stat(filepath.Join(dir, reportDir, "run.csv")); err == nil {
		patterns = append(patterns, reportDir+"/*.csv", reportDir+"/*.txt", reportDir+"/*.json")
	}
	for _, pattern := range patterns {
		names, err := filepath.Glob(filepath.Join(escapeGlob(dir), pattern))
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
	}
	for _, sub := range []string{logDir, mapDir, reportDir} {
		os.Remove(filepath.Join(dir, sub)) // stays if it is not empty
	}
	return nil
}

// escapeGlob makes filepath.Glob take a directory's name literally.
func escapeGlob(name string) string {
	var b []byte
	for i := 0; i < len(name); i++ {
		switch name[i] {
		case '*', '?', '[', '\\':
			b = append(b, '\\')
		}
		b = append(b, name[i])
	}
	return string(b)
}
