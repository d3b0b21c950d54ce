package csvexport

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write docs/csv.md and the golden files anew")

// tables are the files of a report in the order of the page.
var tables = []struct {
	file  string
	when  string
	row   any
	intro string
}{
	{MethodsFile, "always", Method{}, "One row per method and process, in order of `self_ns`, largest first."},
	{ThreadsFile, "always", Thread{}, "One row per thread and window (`--window`, default the whole run), and one per process and window for the residual. In order of window and process, then of `cpu_ns`."},
	{ProcessFile, "always", Process{}, "One row per sample of a process. The first has no interval, so its relative columns are empty."},
	{CallsFile, "with `--calls`", Call{}, "One row per call, in order of `start_ns`; a call comes before those inside it. Calls that were folded are not here."},
	{OpenCallsFile, "always", OpenCall{}, "One row per frame of every stack that was open when the log was exported: an event loop, a task that never ends, or where it hangs. Frames of methods without probes are there too."},
	{CapabilityFile, "always", Capability{}, "One row per kernel file that the collector tried at its start."},
	{RunFile, "always", Fact{}, "Keys and values. This file is written last: a report that has it is complete."},
}

// reference makes docs/csv.md from the tags of the structs.
func reference() string {
	var b strings.Builder
	b.WriteString(referenceHead)
	for _, t := range tables {
		fmt.Fprintf(&b, "\n## %s\n\nWritten %s. %s\n\n", t.file, t.when, t.intro)
		b.WriteString("| column | unit | value | meaning |\n|---|---|---|---|\n")
		for _, f := range reflect.VisibleFields(reflect.TypeOf(t.row)) {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.Tag.Get("csv"), f.Tag.Get("unit"), f.Tag.Get("value"), f.Tag.Get("doc"))
		}
	}
	b.WriteString("\n| key | unit | meaning |\n|---|---|---|\n")
	for _, f := range factDocs {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.key, f.unit, f.doc)
	}
	b.WriteString(referenceTail)
	return b.String()
}

const referenceHead = `# CSV reference

` + "`jiffy report RUN`" + ` writes these files into ` + "`RUN/report`" + ` (or ` + "`-o DIR`" + `). This page is made from the structs in
` + "`csvexport`" + `; ` + "`go test ./csvexport/... -update`" + ` writes it anew.

Files are RFC 4180 in UTF-8 with a header; lines end with a line feed. Units are in the column names. **A value that isn't known is
an empty cell, never 0.** *exact* values are counted or measured; *estimated* ones are worked out by a rule that can be wrong, and the
rule is given. Times in the tables are ns since the run's start, which ` + "`run.csv`" + ` gives as time of day (` + "`start`" + `) and as
CLOCK_MONOTONIC (` + "`start_mono_ns`" + `). A *jiffy* is the kernel's unit of CPU time, 1/HZ s, nearly always 10 ms. Columns are only ever added
at the end; ` + "`schema_version`" + ` changes when one is renamed, removed, or means something else.

A call A is *inside* a call B of the same thread if it began no earlier and ended no later, and came first in the log, which is in end
order. Two calls that took no time at the same instant are not inside each other. The duration of a call is taken on its own clock.
A call that had not ended when the log was exported is only in ` + "`open_calls.csv`" + `; the calls inside it then count as outermost.
`

const referenceTail = `
## --format demeter

Two layouts for tools that read Demeter's exports. Times are ms with all digits, and fields are quoted where they need it; both
differ from Demeter, which cuts off and doesn't quote. The time stamp in the names is the run's start.

| file | contents |
|---|---|
| ` + "`tracer-raw-<dd-MM-yyyy_kk-mm-ss>.csv`" + ` | no header: ` + "`start,end,depth,class#method,thread`" + `, in order of the start; times since the run's start |
| ` + "`inject-<dd-MM-yyyy_kk-mm-ss>.csv`" + ` | header ` + "`depth,init time (ms),warning level,thread,class#method`" + `: thread after thread, each call before those inside it; the time is the call's whole duration, and the warning level is 0, 16, 50 or 150 |
`

func TestReferenceIsUpToDate(t *testing.T) {
	path := filepath.Join("..", "docs", "csv.md")
	want := reference()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("docs/csv.md is not what the structs say; go test ./csvexport/... -update (-want +got):\n%s", diff)
	}
}

// Every column says what it means, and every one with a unit whether it is exact.
func TestEveryColumnIsDescribed(t *testing.T) {
	for _, table := range tables {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(table.row)) {
			column, unit, value := f.Tag.Get("csv"), f.Tag.Get("unit"), f.Tag.Get("value")
			if column == "" || f.Tag.Get("doc") == "" {
				t.Errorf("%s: field %s has no column or no meaning", table.file, f.Name)
			}
			if value != "" && value != "exact" && value != "estimated" || unit != "" && value == "" {
				t.Errorf("%s: column %s in %q is %q", table.file, column, unit, value)
			}
			for suffix, want := range map[string]string{"_ns": "ns", "_pct": "%", "_jiffies": "jiffies", "_s": "s"} {
				if strings.HasSuffix(column, suffix) && unit != want {
					t.Errorf("%s: column %s has the unit %q", table.file, column, unit)
				}
			}
		}
	}
}
