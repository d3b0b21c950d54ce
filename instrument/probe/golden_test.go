package probe_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jiffyperf/jiffy/instrument/dump"
	"github.com/jiffyperf/jiffy/instrument/probe"
)

var update = flag.Bool("update", false, "write the golden files again")

const fixtures = "../../fixtures/classes"

// everything matches every method of every class.
type everything struct{}

func (everything) MatchClass([]byte) (all, some bool)          { return true, true }
func (everything) MatchMethod(class, method, desc []byte) bool { return true }

func TestGolden(t *testing.T) {
	for _, file := range fixtureClasses(t) {
		name, _ := filepath.Rel(fixtures, file)
		t.Run(name, func(t *testing.T) {
			data := read(t, file)
			got := instrumentedText(t, data, fixtureOptions(t, filepath.Dir(file)))
			golden := strings.TrimSuffix(file, ".class") + ".golden"
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(read(t, golden)), string(got)); diff != "" {
				t.Errorf("-want +got (go test ./instrument/probe -run Golden -update):\n%s", diff)
			}
		})
	}
}

// instrumentedText is the dump of the instrumented class, behind it the probes and what was left alone.
func instrumentedText(t *testing.T, data []byte, opts probe.Options) []byte {
	t.Helper()
	res, err := probe.New(opts).Class(data)
	if err != nil {
		t.Fatal(err)
	}
	out := data
	if res.Changed {
		out = bytes.Clone(res.Out)
	}
	var text bytes.Buffer
	if err := dump.Write(&text, out); err != nil {
		t.Fatal(err)
	}
	for _, p := range res.Probes {
		fmt.Fprintf(&text, "probe %012x %s %s.%s%s %s:%d [%s] body %d bytes %016x\n",
			p.ID, p.Kind, p.Class, p.Method, p.Descriptor, p.File, p.Line, p.Flags, p.BodySize, p.BodyHash)
	}
	for _, s := range res.Skipped {
		fmt.Fprintf(&text, "left alone %s%s: %s\n", s.Method, s.Desc, s.Reason)
	}
	return text.Bytes()
}

func fixtureClasses(t testing.TB) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(fixtures, func(path string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(path, ".class") {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("%d fixture classes, %v", len(files), err)
	}
	return files
}

// fixtureOptions reads the folder's jiffy.args, or that of the nearest folder above.
func fixtureOptions(t *testing.T, dir string) probe.Options {
	t.Helper()
	opts := probe.Options{Match: everything{}}
	words, err := os.ReadFile(filepath.Join(dir, "jiffy.args"))
	if os.IsNotExist(err) {
		return opts
	}
	for _, word := range strings.Fields(string(words)) {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "exits":
			opts.Exits, err = probe.ParseExits(value)
		case "clock":
			opts.Clock, err = probe.ParseClock(value)
		case "huge":
			opts.Huge = true
		case "skip-trivial":
			opts.SkipTrivial = true
		default:
			err = fmt.Errorf("unknown word %q", word)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return opts
}

func read(t testing.TB, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
