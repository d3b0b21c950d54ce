package verify

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A handmade is a case of testdata/handmade.
type handmade struct {
	verdict string
	trial
}

func handmades(t *testing.T) []handmade {
	t.Helper()
	files, err := filepath.Glob("testdata/handmade/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	nobody := &world{}
	var all []handmade
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range strings.Split(strings.TrimSpace(string(text)), "\n\n") {
			lines := strings.Split(block, "\n")
			verdict, name, _ := strings.Cut(lines[0], " ")
			data, err := assemble(lines[1:])
			if err != nil {
				t.Fatalf("%s: %s: %v", file, name, err)
			}
			all = append(all, handmade{verdict, trial{name: name, class: "T", data: data, world: nobody}})
		}
	}
	return all
}

// verdicts are what a class of each verdict is found to have, and whether HotSpot accepts it.
var verdicts = map[string]struct {
	kinds   []Kind
	hotspot bool
}{
	"ok":        {nil, true},
	"refused":   {[]Kind{Refused}, false},
	"assumed":   {nil, false},
	"unchecked": {[]Kind{Unchecked}, true},
	"frames":    {[]Kind{Frames}, true},
	"locking":   {[]Kind{Locking}, true},
}

func TestHandmadeClasses(t *testing.T) {
	for _, c := range handmades(t) {
		t.Run(c.name, func(t *testing.T) {
			want, ok := verdicts[c.verdict]
			if !ok {
				t.Fatalf("unknown verdict %q", c.verdict)
			}
			findings, err := Class(c.data)
			if err != nil {
				t.Fatal(err)
			}
			var kinds []Kind
			for _, f := range findings {
				kinds = append(kinds, f.Kind)
			}
			if !slices.Equal(kinds, want.kinds) {
				t.Errorf("got %v, want %v", findings, want.kinds)
			}
		})
	}
}

func TestHotSpotAgreesWithTheHandmadeVerdicts(t *testing.T) {
	cases := handmades(t)
	var trials []trial
	for _, c := range cases {
		trials = append(trials, c.trial)
	}
	for _, j := range allJDKs(t) {
		for i, verdict := range hotspot(t, j, trials) {
			if accepts := verdicts[cases[i].verdict].hotspot; accepts != (verdict == "ok") {
				t.Errorf("%s: it is %s, but HotSpot %d says: %s", cases[i].name, cases[i].verdict, j.Release, verdict)
			} else if !accepts && !refused(verdict) {
				t.Errorf("%s: HotSpot %d says only: %s", cases[i].name, j.Release, verdict)
			}
		}
	}
}
