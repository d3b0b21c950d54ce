package procfs

import "testing"

func TestParseComm(t *testing.T) {
	for contents, want := range map[string]string{
		"java\n":       "java",
		"two\nlines\n": "two\nlines",
		"\n":           "",
		"ends\n\n":     "ends\n",
		"":             "",
	} {
		if got := string(ParseComm([]byte(contents))); got != want {
			t.Errorf("ParseComm(%q) = %q, want %q", contents, got, want)
		}
	}
}

func TestAppendComm(t *testing.T) {
	for _, c := range []struct{ name, comm, want string }{
		{"plain", "pool) 1)", "pool) 1)"},
		{"UTF-8", "поток", "поток"},
		{"newline", "two\nlines", `two\x0alines`},
		{"delete", "a\x7f", `a\x7f`},
		{"Latin-1", "caf\xe9 x", `caf\xe9 x`},
		{"character cut by the limit", "поток-1ab\xd0", "поток-1ab"},
		{"same bytes in a short name", "ab\xd0", `ab\xd0`},
		{"bad byte at the end of a full name", "abcdefghijklmn\xff", `abcdefghijklmn\xff`},
		{"real replacement character", "a\ufffdb", "a\ufffdb"},
		{"empty", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := string(AppendComm([]byte("<"), []byte(c.comm))); got != "<"+c.want {
				t.Errorf("AppendComm(%q) = %q, want %q", c.comm, got, "<"+c.want)
			}
		})
	}
}

func TestAppendCommOfANameTheKernelCut(t *testing.T) {
	var s Stat
	if err := ParseStat(readTestdata(t, "stat/cut_character"), &s); err != nil {
		t.Fatal(err)
	}
	if got, want := string(AppendComm(nil, s.Comm)), "поток-1ab"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
