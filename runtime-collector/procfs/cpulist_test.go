package procfs

import (
	"errors"
	"testing"
)

func TestParseCPUList(t *testing.T) {
	for list, want := range map[string]int{
		"0\n": 1, "0-1\n": 2, "0-3,5,8-11\n": 9, "2,4-4\n": 2, "\n": 0, "": 0, "0-1048575": 1048576,
	} {
		if got, err := ParseCPUList([]byte(list)); got != want || err != nil {
			t.Errorf("ParseCPUList(%q) = %d, %v; want %d", list, got, err, want)
		}
	}
	for _, list := range []string{"a", "0-", "-1", "3-1", "0,", "0,,1", "0-99999999999"} {
		if got, err := ParseCPUList([]byte(list)); !errors.Is(err, ErrFormat) {
			t.Errorf("ParseCPUList(%q) = %d, %v; want ErrFormat", list, got, err)
		}
	}
}
