package procfs

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// file is a kept descriptor of a file or directory in /proc; -1 is none.
type file int

const noFile file = -1

// openPath opens an absolute path, for files that are opened once.
func openPath(path string, flags int) (file, error) {
	for {
		fd, err := unix.Open(path, flags|unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != unix.EINTR {
			return file(fd), vanished(err)
		}
	}
}

// openAt opens a path below the directory f. The path is a zero-terminated
// byte string, because unix.Openat would allocate a copy of a Go string, and
// past the descriptor limit this is called for every thread of every sample.
func (f file) openAt(path []byte, flags int) (file, error) {
	for {
		fd, _, errno := unix.Syscall6(unix.SYS_OPENAT, uintptr(f), uintptr(unsafe.Pointer(&path[0])),
			uintptr(flags|unix.O_RDONLY|unix.O_CLOEXEC), 0, 0, 0)
		switch errno {
		case 0:
			return file(fd), nil
		case unix.EINTR:
		default:
			return noFile, vanished(errno)
		}
	}
}

// read reads the file from its start, which makes the kernel write it anew,
// and returns the part of buf that was filled.
func (f file) read(buf []byte) ([]byte, error) {
	n := 0
	for {
		m, err := unix.Pread(int(f), buf[n:], int64(n))
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, vanished(err)
		}
		n += m
		// A seq_file gives all it has in one read where it fits.
		if m == 0 || n < len(buf) {
			return buf[:n], nil
		}
		return nil, fmt.Errorf("%w: longer than %d bytes", ErrFormat, len(buf))
	}
}

// list fills buf with directory records (getdents64(2)) from where the last
// call stopped; none are left when the result is empty.
func (f file) list(buf []byte) ([]byte, error) {
	for {
		n, err := unix.ReadDirent(int(f), buf)
		if err == nil {
			return buf[:n], nil
		}
		if err != unix.EINTR {
			return nil, vanished(err)
		}
	}
}

// rewind makes the next list start from the directory's first record.
func (f file) rewind() error {
	_, err := unix.Seek(int(f), 0, unix.SEEK_SET)
	return vanished(err)
}

func (f *file) close() {
	if *f != noFile {
		unix.Close(int(*f))
		*f = noFile
	}
}

// vanished turns the two ways in which the kernel says that a task is gone
// into ErrExited, and leaves other errors alone.
func vanished(err error) error {
	if err == unix.ENOENT || err == unix.ESRCH {
		return ErrExited
	}
	return err
}

// outOfFiles reports whether err says that no more descriptors can be had.
func outOfFiles(err error) bool {
	return errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE)
}
