package instrument

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"errors"
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

// readReport returns the rows of a report as maps from column to value.
func readReport(t *testing.T, path string) []map[string]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	for _, r := range records[1:] {
		row := make(map[string]string)
		for i, column := range records[0] {
			row[column] = r[i]
		}
		rows = append(rows, row)
	}
	return rows
}

// TestReport compares the report with the classes before and after.
func TestReport(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "Bad.class")
	if err := os.WriteFile(bad, []byte("no class"), 0o666); err != nil {
		t.Fatal(err)
	}
	o := Options{
		Inputs: []string{fixture("Exceptions"), fixture("Interfaces"), fixture("Compiler"), bad}, Output: filepath.Join(dir, "out"), Report: filepath.Join(dir, "report.csv"),
	}
	s := run(t, o)
	var want []map[string]string
	for _, name := range []string{"Exceptions", "Interfaces", "Compiler"} {
		before, after := compiled(name), readFile(t, filepath.Join(o.Output, name+".class"))
		want = append(want, map[string]string{
			"class": name, "action": "instrumented", "size_before": strconv.Itoa(len(before)), "size_after": strconv.Itoa(len(after)),
		})
		var a, b classfile.Class
		if err := errors.Join(a.Parse(before), b.Parse(after)); err != nil {
			t.Fatal(err)
		}
		for i := range a.Methods {
			row := map[string]string{"class": name, "method": string(a.Pool.Utf8(a.Methods[i].Name)), "descriptor": string(a.Pool.Utf8(a.Methods[i].Desc))}
			if m := a.Methods[i].Code; !m.Empty() {
				row["size_before"], row["size_after"] = codeLength(a.Bytes(m)), codeLength(b.Bytes(b.Methods[i].Code))
			}
			want = append(want, row)
		}
	}
	want = append(want, map[string]string{"class": bad, "action": "failed"})
	got := readReport(t, o.Report)
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	instrumented, skipped := 0, 0
	for i, row := range got {
		for column, value := range want[i] {
			if row[column] != value {
				t.Errorf("row %d, %s: %q, want %q", i, column, row[column], value)
			}
		}
		if time, err := strconv.Atoi(row["time_ns"]); row["action"] != "failed" && (err != nil || time < 0) {
			t.Errorf("row %d: time %q", i, row["time_ns"])
		}
		if (row["action"] == "instrumented") != (row["reason"] == "") {
			t.Errorf("row %d: %s, with the reason %q", i, row["action"], row["reason"])
		}
		switch {
		case row["method"] == "":
		case row["action"] == "instrumented":
			instrumented++
			if !strings.HasPrefix(row["inserted"], "entry, ") || row["size_before"] >= row["size_after"] && len(row["size_before"]) >= len(row["size_after"]) {
				t.Errorf("row %d: inserted %q, %s bytes → %s", i, row["inserted"], row["size_before"], row["size_after"])
			}
		default:
			skipped++
			if row["inserted"] != "" || row["size_before"] != row["size_after"] {
				t.Errorf("row %d: inserted %q, %s bytes → %s; but skipped", i, row["inserted"], row["size_before"], row["size_after"])
			}
		}
	}
	total := 0
	for _, n := range s.Skipped {
		total += n
	}
	if instrumented != s.Instrumented || skipped != total || skipped == 0 {
		t.Errorf("%d methods instrumented and %d skipped, the summary says %d and %d", instrumented, skipped, s.Instrumented, total)
	}
}

// TestReportOfWholeClasses: a class without a probe has a row that says why.
func TestReportOfWholeClasses(t *testing.T) {
	dir := t.TempDir()
	o := Options{Inputs: []string{fixture("Trivial")}, Output: filepath.Join(dir, "once"), Report: filepath.Join(dir, "report.csv")}
	reason := func() string {
		t.Helper()
		run(t, o)
		rows := readReport(t, o.Report)
		if len(rows) == 0 || rows[0]["method"] != "" || rows[0]["action"] != "skipped" || rows[0]["size_before"] != rows[0]["size_after"] {
			t.Fatalf("rows %v", rows)
		}
		return rows[0]["reason"]
	}
	run(t, o)
	o.Inputs, o.Output = []string{filepath.Join(o.Output, "Trivial.class")}, filepath.Join(dir, "twice")
	if got := reason(); got != string(probe.ReasonTwice) {
		t.Errorf("instrumented twice: %q", got)
	}
	r, err := rules.New([]string{"Interfaces#none"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	o.Inputs, o.Rules, o.Output = []string{fixture("Interfaces")}, r, filepath.Join(dir, "none")
	if got := reason(); got != "no method was changed" {
		t.Errorf("no method matches: %q", got)
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// codeLength is the code_length of a Code attribute (JVMS §4.7.3), as text.
func codeLength(attribute []byte) string {
	return strconv.FormatUint(uint64(binary.BigEndian.Uint32(attribute[10:])), 10)
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
