package procfs

import "encoding/binary"

// Layout of struct linux_dirent64 (getdents64(2)).
const (
	direntIno    = 0
	direntReclen = 16
	direntName   = 19
)

// dirents walks the records that getdents64(2) filled a buffer with.
type dirents struct {
	rest []byte
}

// nextNumber returns the next entry whose name is a number: a pid in /proc, a
// tid in /proc/<pid>/task. Other entries are passed over, and a record that
// doesn't fit its buffer ends the walk.
func (d *dirents) nextNumber() (number int, inode uint64, ok bool) {
	for len(d.rest) > direntName {
		length := int(binary.NativeEndian.Uint16(d.rest[direntReclen:]))
		if length <= direntName || length > len(d.rest) {
			break
		}
		record := d.rest[:length]
		d.rest = d.rest[length:]
		if number, ok = leadingNumber(record[direntName:]); ok {
			return number, binary.NativeEndian.Uint64(record[direntIno:]), true
		}
	}
	return 0, 0, false
}

// leadingNumber parses a zero-terminated name that consists of digits only.
func leadingNumber(name []byte) (int, bool) {
	for i, c := range name {
		if c == 0 {
			u, ok := parseUint(name[:i])
			return int(u), ok && u < 1<<31
		}
	}
	return 0, false
}
