package procfs

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"runtime"
	"testing"
)

func TestParseAuxvOfALinuxProcess(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the fixture has the words of amd64")
	}
	got, err := ParseAuxv(readTestdata(t, "auxv/linux_amd64"))
	if err != nil || got != 100 {
		t.Errorf("ParseAuxv = %d, %v; want 100", got, err)
	}
}

// auxv builds a vector in this machine's words.
func auxv(words ...uint64) []byte {
	var b []byte
	for _, w := range words {
		if bits.UintSize == 32 {
			b = binary.NativeEndian.AppendUint32(b, uint32(w))
		} else {
			b = binary.NativeEndian.AppendUint64(b, w)
		}
	}
	return b
}

func TestParseAuxv(t *testing.T) {
	const atPagesz = 6
	for _, c := range []struct {
		name  string
		vec   []byte
		ticks int64 // 0: ErrFormat
	}{
		{"not 100", auxv(atPagesz, 4096, atClkTck, 250, atNull, 0), 250},
		{"17 as a value only", auxv(atPagesz, atClkTck, atNull, 0), 0},
		{"after the end", auxv(atNull, 0, atClkTck, 100), 0},
		{"no ticks", auxv(atClkTck, 0, atNull, 0), 0},
		{"cut in the middle", auxv(atPagesz, 4096, atClkTck, 100)[:3*bits.UintSize/8], 0},
		{"empty", nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ParseAuxv(c.vec)
			if got != c.ticks || (c.ticks == 0) != errors.Is(err, ErrFormat) {
				t.Errorf("ParseAuxv = %d, %v; want %d", got, err, c.ticks)
			}
		})
	}
}
