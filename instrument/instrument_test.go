package instrument

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jiffyperf/jiffy/instrument/archive"
	"github.com/jiffyperf/jiffy/instrument/classfile"
	"github.com/jiffyperf/jiffy/instrument/mapping"
	"github.com/jiffyperf/jiffy/instrument/probe"
	"github.com/jiffyperf/jiffy/instrument/rules"
)

// fixture is the path of a compiled fixture class.
func fixture(name string) string {
	return filepath.Join("..", "fixtures", "classes", strings.ToLower(name), name+".class")
}

func run(t *testing.T, o Options) *Summary {
	t.Helper()
	s, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRunWritesTheSameMapEverywhere(t *testing.T) {
	dir := t.TempDir()
	o := Options{
		Inputs: []string{fixture("Exceptions"), fixture("Straight")}, Output: filepath.Join(dir, "out"),
		Mapping: filepath.Join(dir, "map.csv"), Salt: "7", Exits: probe.ExitsNormal, Version: "v1",
	}
	s := run(t, o)
	content, err := os.ReadFile(o.Mapping)
	if err != nil {
		t.Fatal(err)
	}
	m, err := mapping.Read(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	if m.Len() != s.Instrumented || m.Len() == 0 {
		t.Errorf("the map has %d probes, the summary %d", m.Len(), s.Instrumented)
	}
	for key, want := range map[string]string{
		"jiffy_version": "v1", "exits": "normal", "clock": "auto", "id_salt": "7", "huge": "false", "skip_trivial": "false", "probes": "methods",
	} {
		if diff := cmp.Diff([]string{want}, m.Option(key)); diff != "" {
			t.Errorf("option %s (-want +got):\n%s", key, diff)
		}
	}
	inside, err := os.ReadFile(filepath.Join(o.Output, filepath.FromSlash(mapping.FileName(m.Hashes()[0]))))
	if err != nil || !bytes.Equal(inside, content) {
		t.Errorf("the map in the output differs from the file: %v", err)
	}
}

// TestReportSizes compares the sizes in the report with those of the classes.
func TestReportSizes(t *testing.T) {
	dir := t.TempDir()
	o := Options{Inputs: []string{fixture("Exceptions")}, Output: filepath.Join(dir, "out"), Report: filepath.Join(dir, "report.csv")}
	s := run(t, o)
	report, err := os.ReadFile(o.Report)
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(o.Inputs[0])
	if err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(filepath.Join(o.Output, "Exceptions.class"))
	if err != nil {
		t.Fatal(err)
	}
	var a, b classfile.Class
	if err := a.Parse(before); err != nil {
		t.Fatal(err)
	}
	if err := b.Parse(after); err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(string(report)), "\n")[1:]
	if len(rows) != s.Instrumented+len(s.Skipped) || s.Instrumented == 0 {
		t.Fatalf("%d rows for %d methods", len(rows), s.Instrumented)
	}
	for i := range a.Methods {
		name := string(a.Pool.Utf8(a.Methods[i].Name))
		want := [2]int{codeLength(a.Bytes(a.Methods[i].Code)), codeLength(b.Bytes(b.Methods[i].Code))}
		found := false
		for _, row := range rows {
			fields := strings.Split(row, ",")
			if fields[1] == name {
				found = true
				if got := fields[len(fields)-2:]; got[0] != strconv.Itoa(want[0]) || got[1] != strconv.Itoa(want[1]) {
					t.Errorf("%s: sizes %v, want %v", name, got, want)
				}
			}
		}
		if !found {
			t.Errorf("%s is not in the report", name)
		}
	}
}

func TestFilesBesideTheOutputComeWithItOrNotAtAll(t *testing.T) {
	for _, test := range []struct{ name, output, mapping, report, want string }{
		{"no directory for the report", "out.jar", "map.csv", "no/report.csv", "output $/no/report.csv: there is no directory $/no"},
		{"no directory for the output", "no/out.jar", "map.csv", "report.csv", "output $/no/out.jar: there is no directory $/no"},
		{"map in the output", "out", "out/map.csv", "report.csv", "output $/out/map.csv: there is no directory $/out"},
		{"map is the output", "out.jar", "out.jar", "", "output $/out.jar: lies inside the output $/out.jar"},
		{"map is the report", "out.jar", "both.csv", "both.csv", "output $/both.csv: can't be both the probe map and the report"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			at := func(name string) string {
				if name == "" {
					return ""
				}
				return filepath.Join(dir, filepath.FromSlash(name))
			}
			_, err := Run(t.Context(), Options{
				Inputs: []string{fixture("Straight")}, Output: at(test.output), Mapping: at(test.mapping), Report: at(test.report),
			})
			if want := strings.ReplaceAll(test.want, "$", dir); err == nil || err.Error() != want {
				t.Errorf("got error %v, want %s", err, want)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

// TestPanicCostsOneClass checks that a bug in the instrumenter is survived: the class is listed, the next one is done.
func TestPanicCostsOneClass(t *testing.T) {
	class, err := os.ReadFile(fixture("Straight"))
	if err != nil {
		t.Fatal(err)
	}
	in, err := archive.Open([]string{fixture("Straight")})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	e := in.Entries()[0]
	j := &job{options: Options{Rules: new(rules.Rules)}, inputs: in}
	broken := &rewriter{job: j} // without an instrumenter, every call panics
	out, c := broken.Rewrite(e, class)
	if out != nil || c.err == nil || !strings.HasPrefix(c.err.Error(), "internal error, please report it: ") || c.place != e.Place() {
		t.Errorf("the first class: %d bytes, %+v; want none and an error", len(out), c)
	}
	if out, c = broken.Rewrite(e, class); out == nil || c.err != nil || len(c.probes) == 0 {
		t.Errorf("the second class: %d bytes, %+v; want it to be instrumented", len(out), c)
	}
}

func TestRowsAreListedOnceAndCollisionsAreSaid(t *testing.T) {
	a := mapping.Row{ID: 1, Kind: "method", Class: "a.A", Method: "x", Descriptor: "()V", BodyHash: 1}
	again := a
	again.BodyHash = 2 // the same method in META-INF/versions/9
	b := mapping.Row{ID: 1, Kind: "method", Class: "b.B", Method: "y", Descriptor: "()V"}
	j := &job{}
	rows := j.rows([]class{{probes: []mapping.Row{a}}, {probes: []mapping.Row{a, again}}, {probes: []mapping.Row{b}}})
	for len(rows) > 0 && rows[0].Kind == mapping.KindOption {
		rows = rows[1:]
	}
	if diff := cmp.Diff([]mapping.Row{a, again, b}, rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a.A#x()V and b.B#y()V have the same probe id; another --id-salt tells them apart"}, j.collisions); diff != "" {
		t.Errorf("collisions (-want +got):\n%s", diff)
	}
}

func TestIsModuleInfo(t *testing.T) {
	for name, want := range map[string]bool{
		"module-info.class":                            true,
		"META-INF/versions/9/module-info.class":        true,
		"META-INF/versions/9/com/module-info.class":    false,
		"com/acme/module-info.class":                   false,
		"BOOT-INF/classes/module-info.class":           false,
		"META-INF/versions/9/com/acme/something.class": false,
	} {
		if got := isModuleInfo(name); got != want {
			t.Errorf("isModuleInfo(%q) = %v, want %v", name, got, want)
		}
	}
}

func TestSummary(t *testing.T) {
	s := Summary{
		Output: "out.jar", Classes: 3, Changed: 2, Instrumented: 1,
		Skipped: map[string]int{"abstract": 4, "native": 12, "huge": 4},
	}
	var b strings.Builder
	if err := s.Write(&b, 1.234); err != nil {
		t.Fatal(err)
	}
	want := `instrumented 1 method in 2 of 3 classes, in 1.23 s: out.jar
left as they are: 20 methods
        12  native
         4  abstract
         4  huge
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
}
