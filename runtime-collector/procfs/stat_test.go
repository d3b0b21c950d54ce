package procfs

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func readTestdata(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", path))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestParseStatReadsEveryField(t *testing.T) {
	var got Stat
	if err := ParseStat(readTestdata(t, "stat/java"), &got); err != nil {
		t.Fatal(err)
	}
	want := Stat{
		PID: 18219, Comm: []byte("java"), State: 'S', PPID: 18198, Minflt: 5209, Majflt: 3,
		Utime: 153, Stime: 12, Cutime: 7, Cstime: 2, NumThreads: 20, Starttime: 179818, RSS: 9958,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ParseStat (-want +got):\n%s", diff)
	}
}

// The files were read from one process that renamed itself in between, so all
// but the name and a few page faults is the same in each.
func TestParseStatTakesAnyName(t *testing.T) {
	for file, comm := range map[string]string{
		"spaces":                 "a b",
		"parentheses":            "pool) 1)",
		"parenthesis_then_state": "x) R 1 (y",
		"newline":                "two\nlines",
		"not_utf8":               "caf\xe9 \xff",
		"empty":                  "",
	} {
		t.Run(file, func(t *testing.T) {
			var got Stat
			if err := ParseStat(readTestdata(t, "stat/"+file), &got); err != nil {
				t.Fatal(err)
			}
			got.Minflt = 0
			want := Stat{
				PID: 18077, Comm: []byte(comm), State: 'R', PPID: 18074, Majflt: 2,
				Utime: 3, Cutime: 2, Cstime: 2, NumThreads: 1, Starttime: 178747, RSS: 3414,
			}
			if string(got.Comm) != string(want.Comm) {
				t.Errorf("Comm = %q, want %q", got.Comm, want.Comm)
			}
			got.Comm = want.Comm
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("ParseStat (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseStatForgetsThePreviousName(t *testing.T) {
	var s Stat
	for _, file := range []string{"stat/parentheses", "stat/java"} {
		if err := ParseStat(readTestdata(t, file), &s); err != nil {
			t.Fatal(err)
		}
	}
	if string(s.Comm) != "java" {
		t.Errorf("Comm = %q after a longer name was parsed before, want %q", s.Comm, "java")
	}
}

func TestParseStatRefusesWhatIsCutBeforeTheLastFieldItNeeds(t *testing.T) {
	whole := readTestdata(t, "stat/java")
	needed := bytes.Index(whole, []byte(" 9958 ")) // rss, field 24
	for n := range whole {
		var s Stat
		err := ParseStat(whole[:n], &s)
		if n <= needed && !errors.Is(err, ErrFormat) {
			t.Errorf("%d bytes: error %v, want ErrFormat", n, err)
		}
		if n > needed+len(" 9958") && err != nil {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

func TestParseStatRefusesNumbersOutOfRange(t *testing.T) {
	whole := readTestdata(t, "stat/java")
	for field, change := range map[string][2]string{
		"pid":        {"18219 (", "18x19 ("},
		"state":      {") S ", ") SS "},
		"utime":      {" 153 ", " -153 "},
		"starttime":  {" 179818 ", " 18446744073709551616 "}, // 2^64
		"rss":        {" 9958 ", " 9223372036854775808 "},    // 2^63
		"stime, hex": {" 12 ", " 0xc "},
	} {
		t.Run(field, func(t *testing.T) {
			changed := bytes.Replace(whole, []byte(change[0]), []byte(change[1]), 1)
			if bytes.Equal(changed, whole) {
				t.Fatalf("%q is not in the fixture", change[0])
			}
			var s Stat
			if err := ParseStat(changed, &s); !errors.Is(err, ErrFormat) {
				t.Errorf("error %v, want ErrFormat", err)
			}
		})
	}
}

func FuzzParseStat(f *testing.F) {
	for _, file := range []string{"java", "parentheses", "newline", "not_utf8", "empty"} {
		f.Add(readTestdata(f, "stat/"+file))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var s Stat
		if err := ParseStat(b, &s); err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Errorf("error %v, want ErrFormat", err)
			}
			return
		}
		if !bytes.Contains(b, append(append([]byte{'('}, s.Comm...), ')')) {
			t.Errorf("name %q is not in parentheses in %q", s.Comm, b)
		}
	})
}
