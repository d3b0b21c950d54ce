package collect

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/jiffyperf/jiffy/runtime-collector/eventlog"
)

// logHeader reads the properties in an event log's header. Only the start of
// the file is read: what comes after may be gigabytes.
func logHeader(path string) (map[string]string, error) {
	const enough = 1 << 20 // a class path can be long
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	start, err := io.ReadAll(io.LimitReader(f, enough))
	if err != nil {
		return nil, err
	}
	log, err := eventlog.Read(path, bytes.NewReader(start), int64(len(start)))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	return log.Header.Properties, nil
}

// eventLogs lists the event logs in a directory, without the folded snapshots.
func eventLogs(dir string) []string {
	names, _ := filepath.Glob(filepath.Join(escapeGlob(dir), "events-*.jiffy")) // the pattern is good
	return names
}

// copyLogs copies the event logs of the given processes from one directory to
// another. The writers may still be at work: what is copied then ends in the
// middle, which a reader of event logs has to bear with anyway.
func copyLogs(from, to string, ours func(eventlog.FileName) bool) (copied int, err error) {
	names, err := filepath.Glob(filepath.Join(escapeGlob(from), "*.jiffy"))
	if err != nil {
		return 0, err
	}
	var failed []error
	for _, name := range names {
		parsed, err := eventlog.ParseFileName(name)
		if err != nil || !ours(parsed) {
			continue // somebody else's
		}
		if err := copyFile(name, filepath.Join(to, filepath.Base(name))); err != nil {
			failed = append(failed, fmt.Errorf("event log %s: %w", name, err))
			continue
		}
		copied++
	}
	return copied, errors.Join(failed...)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	return atomically(to, func(out *os.File) error {
		_, err := io.Copy(out, in)
		return err
	})
}
