package procfs

import (
	"encoding/binary"
	"slices"
	"testing"
)

// record builds one struct linux_dirent64, padded to 8 bytes as the kernel does.
func record(inode uint64, name string) []byte {
	length := (direntName + len(name) + 1 + 7) &^ 7
	b := make([]byte, length)
	binary.NativeEndian.PutUint64(b, inode)
	binary.NativeEndian.PutUint16(b[direntReclen:], uint16(length))
	b[direntReclen+2] = 4 // DT_DIR
	copy(b[direntName:], name)
	return b
}

func numbersIn(b []byte) (numbers []int, inodes []uint64) {
	for d := (dirents{b}); ; {
		n, inode, ok := d.nextNumber()
		if !ok {
			return numbers, inodes
		}
		numbers, inodes = append(numbers, n), append(inodes, inode)
	}
}

func TestDirentsYieldsNumbersOnly(t *testing.T) {
	b := slices.Concat(record(1, "."), record(2, ".."), record(70, "7"), record(3, "self"), record(80, "4194304"), record(4, "12a"), record(5, "-1"))
	numbers, inodes := numbersIn(b)
	if !slices.Equal(numbers, []int{7, 4194304}) || !slices.Equal(inodes, []uint64{70, 80}) {
		t.Errorf("got %v with inodes %v", numbers, inodes)
	}
}

func TestDirentsStopsAtARecordThatDoesNotFit(t *testing.T) {
	first, second := record(1, "1"), record(2, "2")
	whole := slices.Concat(first, second)
	for n := len(first); n < len(whole); n++ {
		if numbers, _ := numbersIn(whole[:n]); !slices.Equal(numbers, []int{1}) {
			t.Errorf("%d of %d bytes: got %v, want [1]", n, len(whole), numbers)
		}
	}
	empty := record(1, "1")
	binary.NativeEndian.PutUint16(empty[direntReclen:], 0)
	if numbers, _ := numbersIn(empty); numbers != nil {
		t.Errorf("record of length 0: got %v", numbers)
	}
}
