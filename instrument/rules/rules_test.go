package rules

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRules(t *testing.T) {
	for _, test := range []struct {
		name             string
		include, exclude string // separated by spaces
		class            string
		all, some        bool
		in, out          []string // methods, each with its descriptor after a blank
	}{
		{name: "nothing said", class: "a/B", all: true, in: []string{"x ()V"}},
		{name: "included", include: "a.B", class: "a/B", all: true, in: []string{"x ()V"}},
		{name: "not included", include: "a.B", class: "a/C", out: []string{"x ()V"}},
		{name: "excluded", exclude: "a.*", class: "a/B", out: []string{"x ()V"}},
		{name: "exclude wins", include: "a.B", exclude: "a.**", class: "a/B", out: []string{"x ()V"}},
		{name: "one method included", include: "a.B#x", class: "a/B", some: true, in: []string{"x ()V"}, out: []string{"y ()V"}},
		{name: "one overload included", include: "a.B#x(I)V", class: "a/B", some: true, in: []string{"x (I)V"}, out: []string{"x ()V"}},
		{name: "one method excluded", exclude: "**#x", class: "a/B", some: true, in: []string{"y ()V"}, out: []string{"x ()V"}},
		{name: "class and method included", include: "a.B#x a.B", class: "a/B", all: true, in: []string{"x ()V", "y ()V"}},
		{name: "method included, class excluded", include: "a.B#x", exclude: "a.B", class: "a/B", out: []string{"x ()V"}},
		{name: "method excluded before class", exclude: "**#x a.B", class: "a/B", out: []string{"y ()V"}},
		{name: "methods on both sides", include: "a.B#get*", exclude: "a.B#getX", class: "a/B", some: true,
			in: []string{"getY ()V"}, out: []string{"getX ()V", "put ()V"}},
		{name: "exclude for another class", include: "a.B", exclude: "a.C#x", class: "a/B", all: true, in: []string{"x ()V"}},
		{name: "jiffy's own", class: "io/github/jiffyperf/runtime/Probes", out: []string{"x ()V"}},
		{name: "jiffy's own, though included", include: "io.github.jiffyperf.**", class: "io/github/jiffyperf/A", out: []string{"x ()V"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, err := New(strings.Fields(test.include), strings.Fields(test.exclude))
			if err != nil {
				t.Fatal(err)
			}
			all, some := r.MatchClass([]byte(test.class))
			if all != test.all || some != test.some {
				t.Errorf("MatchClass = %v, %v; want %v, %v", all, some, test.all, test.some)
			}
			match := func(method string) bool {
				name, desc, _ := strings.Cut(method, " ")
				return r.MatchMethod([]byte(test.class), []byte(name), []byte(desc))
			}
			for _, m := range test.in {
				if !match(m) {
					t.Errorf("%s is out", m)
				}
			}
			for _, m := range test.out {
				if match(m) {
					t.Errorf("%s is in", m)
				}
			}
		})
	}
}

func TestNewNamesTheBadPattern(t *testing.T) {
	for _, lists := range [][2][]string{{{"a.B", "a..B"}, nil}, {nil, []string{"a..B"}}} {
		_, err := New(lists[0], lists[1])
		if p, ok := errors.AsType[*PatternError](err); !ok || p.Pattern != "a..B" || p.Offset != 2 {
			t.Errorf("got error %#v, want one about character 3 of a..B", err)
		}
	}
}

func TestMatchingDoesNotAllocate(t *testing.T) {
	r, err := New([]string{"com.acme.**", "**.*Test#on*", "org.x.Foo#bar(I)V"}, []string{"com.acme.gen.**", "**#get?"})
	if err != nil {
		t.Fatal(err)
	}
	class, method, desc := []byte("com/acme/shop/CartTest$1"), []byte("onCreate"), []byte("()V")
	allocs := testing.AllocsPerRun(100, func() {
		r.MatchClass(class)
		r.MatchMethod(class, method, desc)
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func TestLoadConfig(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{ // want: the error behind the file's name
		{"unknown key", "include: [a.B]\nexclud: [a.C]\n", `:2:1: unknown key "exclud"; did you mean exclude?`},
		{"flag's spelling", "id_salt: x\n", `:1:1: unknown key "id_salt"; did you mean id-salt?`},
		{"number for a switch", "huge: 5\n", `:1:7: "5" is not true or false`},
		{"text for a number", "\njobs: many\n", `:2:7: "many" is not a number`},
		{"pattern without quotes", "include: [**]\n", ":1:12: unexpected scalar value type; patterns that start with * need quotes in YAML"},
		{"no YAML", "include: [\n", ":1:10: sequence end token ']' not found"},
		{"a list", "- include\n", ":1:1: sequence was used where mapping is expected"},
		{"the same key twice", "huge: true\nhuge: false\n", `:2:1: mapping key "huge" already defined at [1:1]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "jiffy.yaml")
			if err := os.WriteFile(path, []byte(test.text), 0o666); err != nil {
				t.Fatal(err)
			}
			_, err := LoadConfig(path)
			if err == nil || err.Error() != path+test.want {
				t.Errorf("got error  %v\nwant error %s", err, path+test.want)
			}
		})
	}
}

func TestConfigValues(t *testing.T) {
	const text = `
# everything that there is
probe: methods
include: com.acme.**
exclude:
  - "**#toString"
  - com.acme.gen.*
clock: nanoTime
exits: normal
id-salt: "7"
huge: true
skip-trivial: true
compression: store
mapping: map.csv
report: report.csv
runtime: true
jobs: 3
`
	got, err := parseConfig([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := &Config{
		Probe: List{"methods"}, Include: List{"com.acme.**"}, Exclude: List{"**#toString", "com.acme.gen.*"},
		Clock: "nanoTime", Exits: "normal", IDSalt: "7", Huge: true, SkipTrivial: true, Compression: "store",
		Mapping: "map.csv", Report: "report.csv", Runtime: true, Jobs: 3,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
	if empty, err := parseConfig(nil); err != nil || !cmp.Equal(empty, new(Config)) {
		t.Errorf("an empty file gives %+v, %v", empty, err)
	}
}

func BenchmarkMatchClass(b *testing.B) {
	r, err := New([]string{"com.acme.**", "org.**.impl.*"}, []string{"**.R$*", "com.acme.gen.**"})
	if err != nil {
		b.Fatal(err)
	}
	name := []byte("com/acme/shop/checkout/PaymentController$Callback")
	for b.Loop() {
		r.MatchClass(name)
	}
}
