// Package procfs samples processes and threads from the kernel's /proc.
//
// Every kernel file has one Go file here: a pure parse function does the work,
// and a thin method reads the bytes and calls it. Reading goes through kept
// descriptors and pread(2) into reused buffers, so that a sample in the steady
// state allocates nothing; a descriptor under /proc/<pid> belongs to that one
// process or thread for ever, which makes a reused pid harmless.
//
// Counters keep the kernel's own units: CPU times in /proc/<pid>/stat are ticks
// of [ClockTicks] per second, those in schedstat are nanoseconds.
//
// The parsers build everywhere, the samplers only on Linux.
package procfs

import (
	"errors"
	"fmt"
)

var (
	// ErrExited says that the process or thread is not there (any more). It is
	// what a read of a vanished task comes to, whether the kernel called it
	// ENOENT (no such file) or ESRCH (file open, task gone).
	ErrExited = errors.New("process or thread is gone")

	// ErrFormat says that a kernel file did not have the layout its manual
	// page gives.
	ErrFormat = errors.New("unexpected format")
)

// formatError wraps ErrFormat with the file's kind, the field that could not be
// read, and the start of the contents.
func formatError(file, field string, contents []byte) error {
	const enough = 80
	if len(contents) > enough {
		contents = contents[:enough]
	}
	return fmt.Errorf("%s: %w: %s in %q", file, ErrFormat, field, contents)
}
