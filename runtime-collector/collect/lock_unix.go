//go:build unix

package collect

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lock takes an exclusive lock (flock(2)) that ends with this process. File
// systems that have no locks give an error for which isLocked is false.
func lock(f *os.File) error {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
}

// isLocked reports whether err says that another process holds the lock.
func isLocked(err error) bool { return errors.Is(err, unix.EWOULDBLOCK) }
