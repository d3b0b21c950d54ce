package procfs

import (
	"errors"
	"testing"
)

func TestParseSchedstat(t *testing.T) {
	got, err := ParseSchedstat([]byte("1537924034 6240593 1203\n"))
	if err != nil {
		t.Fatal(err)
	}
	if want := (Schedstat{Run: 1537924034, Wait: 6240593, Slices: 1203}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got.IsZero() {
		t.Error("IsZero of a thread that ran")
	}
}

func TestParseSchedstatOfAKernelThatDoesNotCount(t *testing.T) {
	got, err := ParseSchedstat([]byte("0 0 0\n"))
	if err != nil {
		t.Fatal(err)
	}
	if !got.IsZero() {
		t.Errorf("IsZero of %+v is false", got)
	}
}

func TestParseSchedstatRefuses(t *testing.T) {
	for _, contents := range []string{"", "\n", "1", "1 2", "1 2 \n", "1 -2 3\n", "1.5 2 3\n", "18446744073709551616 0 1\n"} {
		if _, err := ParseSchedstat([]byte(contents)); !errors.Is(err, ErrFormat) {
			t.Errorf("%q: error %v, want ErrFormat", contents, err)
		}
	}
}
