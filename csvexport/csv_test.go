package csvexport

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// header reads the columns that a table writes.
func header[T any](t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	if err := Encode(&b, []T{}); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// The columns are a contract with whoever reads the tables.
func TestColumns(t *testing.T) {
	tests := map[string][2]string{
		MethodsFile: {header[Method](t), "class,method,descriptor,file,line,calls,entries,thrown,suspended,total_ns,self_ns,self_net_ns," +
			"probe_cost_ns,mean_ns,p50_ns,p95_ns,p99_ns,max_ns,main_thread_calls,main_thread_total_ns,cpu_est_ns,warning_level,process"},
		ThreadsFile: {header[Thread](t), "window_start_ns,window_end_ns,tid,thread,status,state,cpu_ns,wait_ns,slices,utime_jiffies," +
			"stime_jiffies,jiffies_per_min,cpu_one_core_pct,top_method,top_method_share_pct,process"},
		ProcessFile: {header[Process](t), "time_ns,cpu_s,proc_s,avg_pct,rel_pct,cpu_one_core_pct,cpu_device_pct,utime_jiffies,stime_jiffies," +
			"cutime_jiffies,cstime_jiffies,threads,rss_pages,minflt,majflt,state,suspended_ns,flagged,process"},
		CallsFile:      {header[Call](t), "start_ns,end_ns,depth,tid,thread,class,method,descriptor,outcome,process"},
		OpenCallsFile:  {header[OpenCall](t), "taken_ns,tid,thread,state,frame_depth,class,method,line,process"},
		CapabilityFile: {header[Capability](t), "file,readable,note"},
		RunFile:        {header[Fact](t), "key,value"},
	}
	for file, test := range tests {
		if test[0] != test[1] {
			t.Errorf("%s has the columns\n%s, want\n%s", file, test[0], test[1])
		}
	}
}

func TestWhatIsWrittenReadsBack(t *testing.T) {
	rows := []Thread{
		{Thread: `pool, "oven" (1) 1)`, TID: IntOf(7), CPU: IntOf(0), UTime: FloatOf(1.25), Top: "com.acme.Oven#bake", Process: 5},
		{Thread: "a\nb \u00e9", Process: 6},
	}
	path := filepath.Join(t.TempDir(), ThreadsFile)
	if err := Write(path, rows); err != nil {
		t.Fatal(err)
	}
	got, err := Read[Thread](path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(rows, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func TestUnknownIsAnEmptyCell(t *testing.T) {
	var b bytes.Buffer
	if err := Encode(&b, []OpenCall{{Thread: "main"}, {Thread: "main", TID: IntOf(0), Line: IntOf(-1)}}); err != nil {
		t.Fatal(err)
	}
	want := "0,,main,,0,,,,0\n0,0,main,,0,,,-1,0\n"
	if _, got, _ := strings.Cut(b.String(), "\n"); got != want {
		t.Errorf("rows\n%swant\n%s", got, want)
	}
}

func TestNumbers(t *testing.T) {
	tests := map[string]struct {
		in   interface{ MarshalCSV() (string, error) }
		want string
	}{
		"rounded":         {FloatOf(1.0 / 3), "0.3333"},
		"whole":           {FloatOf(3), "3"},
		"a negative zero": {FloatOf(-0.00001), "0"},
		"large":           {FloatOf(1e18), "1000000000000000000"},
		"infinite":        {FloatOf(math.Inf(1)), ""},
		"no number":       {FloatOf(math.NaN()), ""},
		"below 0":         {KnownInt(-1), ""},
		"zero":            {KnownInt(0), "0"},
	}
	for name, test := range tests {
		if got, _ := test.in.MarshalCSV(); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	var n Int
	if err := n.UnmarshalCSV("12x"); err == nil {
		t.Error("12x is a number")
	}
}

// The fast writer of calls.csv writes what the struct says.
func TestCallWriterAgreesWithTheStruct(t *testing.T) {
	calls := []Call{
		{Start: 1, End: 20, Depth: 0, TID: IntOf(7), Thread: `a "b", c`, Class: "com.acme.Oven", Method: "<init>",
			Descriptor: "(Ljava/lang/String;)V", Outcome: "thrown", Process: 9},
		{Start: -5, End: 0, Depth: 3, Thread: " x\n", Class: "A", Method: "b", Descriptor: "()V", Outcome: "returned"},
	}
	var want, got bytes.Buffer
	if err := Encode(&want, calls); err != nil {
		t.Fatal(err)
	}
	w, err := NewCallWriter(&got)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range calls {
		tid, _ := c.TID.MarshalCSV()
		err := w.Row(c.Start, c.End, c.Depth, Quote(tid, c.Thread), Quote(c.Class, c.Method, c.Descriptor), c.Outcome, c.Process)
		if err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want.String(), got.String()); diff != "" {
		t.Errorf("calls.csv (-want +got):\n%s", diff)
	}
}

func TestDemeterLayouts(t *testing.T) {
	name, thread := Quote("com.acme.Oven#bake"), Quote(`oven, "1"`)
	var tracer, tree bytes.Buffer
	if err := (&DemeterTracer{W: &tracer}).Row(1_500_000, 20_000_000, 1, name, thread); err != nil {
		t.Fatal(err)
	}
	if want := "1.5,20,1,com.acme.Oven#bake,\"oven, \"\"1\"\"\"\n"; tracer.String() != want {
		t.Errorf("tracer row %q, want %q", tracer.String(), want)
	}
	if err := (&DemeterTree{W: &tree}).Row(2, 700_000_001, thread, name); err != nil {
		t.Fatal(err)
	}
	if want := "2,700.000001,150,\"oven, \"\"1\"\"\",com.acme.Oven#bake\n"; tree.String() != want {
		t.Errorf("row of the older layout %q, want %q", tree.String(), want)
	}
	for _, out := range []string{tracer.String(), tree.String()} {
		row, err := csv.NewReader(strings.NewReader(out)).Read()
		if err != nil || len(row) != 5 {
			t.Errorf("%q reads as %q, %v", out, row, err)
		}
	}
	midnight := time.Date(2026, 3, 1, 0, 5, 9, 0, time.UTC)
	if got := DemeterTracerFile(midnight); got != "tracer-raw-01-03-2026_24-05-09.csv" {
		t.Errorf("file name %s", got)
	}
}

func TestMillis(t *testing.T) {
	for ns, want := range map[int64]string{0: "0", 1: "0.000001", 1_000_000: "1", 1_230_000: "1.23", -2_500_000: "-2.5"} {
		if got := string(appendMillis(nil, ns)); got != want {
			t.Errorf("%d ns: %s, want %s", ns, got, want)
		}
	}
}

func TestWarningLevels(t *testing.T) {
	for ns, want := range map[int64]int64{0: 0, 15_999_999: 0, 16_000_000: 16, 50_000_000: 50, 149_999_999: 50,
		150_000_000: 150, 700_000_000: 700, 5_000_000_000: 700} {
		if got := WarningLevel(ns); got != want {
			t.Errorf("%d ns: %d, want %d", ns, got, want)
		}
	}
}

func TestFilesAppearWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, RunFile)
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("half"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is there before it is complete: %v", err)
	}
	f.Abort()
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("Abort leaves %v", left)
	}
	// A directory in the file's place can't be renamed over.
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, []Fact{{"a", "b"}}); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v, want one that names %s", err, path)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("a failed write leaves %v", left)
	}
}
