package collect

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestShellQuote(t *testing.T) {
	for _, c := range []struct {
		words []string
		want  string
	}{
		{[]string{"java", "-cp", "a.jar:lib/b.jar", "com.acme.Main"}, "java -cp a.jar:lib/b.jar com.acme.Main"},
		{[]string{"a b", "", "it's", "$HOME"}, `'a b' '' 'it'\''s' '$HOME'`},
		{nil, ""},
	} {
		if got := shellQuote(c.words); got != c.want {
			t.Errorf("shellQuote(%q) = %s, want %s", c.words, got, c.want)
		}
	}
}

func TestShellReadsBackWhatWasQuoted(t *testing.T) {
	words := []string{"plain", "", "two words", "a'b\"c", "*", "~", "$(x)`y`", "back\\slash", "tab\there", "new\nline", "größe", "#no", "!x", "a;b&c|d<e>f(g){h}[i]?", "x=1"}
	out, err := exec.Command("sh", "-c", `printf '%s\001' `+shellQuote(words)).Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Split(strings.TrimSuffix(string(out), "\x01"), "\x01"); !slices.Equal(got, words) {
		t.Errorf("sh read\n%q, want\n%q", got, words)
	}
}
