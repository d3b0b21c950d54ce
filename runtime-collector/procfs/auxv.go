package procfs

import (
	"encoding/binary"
	"math/bits"
)

// Types of auxiliary vector entries (getauxval(3)).
const (
	atNull   = 0
	atClkTck = 17 // AT_CLKTCK: USER_HZ, the unit of utime and its like
)

// ParseAuxv finds AT_CLKTCK in the contents of /proc/<pid>/auxv (proc_pid_auxv(5)):
// pairs of native words, type and value, up to AT_NULL. The result is in ticks
// per second; the error is ErrFormat.
func ParseAuxv(b []byte) (ticks int64, err error) {
	const word = bits.UintSize / 8
	for rest := b; len(rest) >= 2*word; rest = rest[2*word:] {
		kind, value := nativeWord(rest), nativeWord(rest[word:])
		switch {
		case kind == atNull:
			return 0, formatError("auxv", "AT_CLKTCK missing", nil)
		case kind == atClkTck && value == 0:
			return 0, formatError("auxv", "AT_CLKTCK is 0", nil)
		case kind == atClkTck:
			return int64(value), nil
		}
	}
	return 0, formatError("auxv", "AT_NULL missing", nil)
}

func nativeWord(b []byte) uint64 {
	if bits.UintSize == 32 {
		return uint64(binary.NativeEndian.Uint32(b))
	}
	return binary.NativeEndian.Uint64(b)
}
