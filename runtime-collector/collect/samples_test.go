package collect

import (
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jiffyperf/jiffy/runtime-collector/procfs"
)

func newSampleFile(t *testing.T, header string) (s *sampleFile, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "samples.csv")
	s, err := createSampleFile(path, header)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.close() })
	return s, path
}

// readRows flushes and reads the file back; the header must fit every row.
func readRows(t *testing.T, s *sampleFile, path string) []map[string]string {
	t.Helper()
	if err := s.flush(); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll() // checks that rows have as many fields as the header
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	for _, record := range records[1:] {
		row := make(map[string]string)
		for i, column := range records[0] {
			row[column] = record[i]
		}
		rows = append(rows, row)
	}
	return rows
}

func TestProcessRow(t *testing.T) {
	s, path := newSampleFile(t, processHeader)
	p := procfs.Stat{
		PID: 42, State: 'Z', Utime: 1, Stime: 2, Cutime: 3, Cstime: -4, NumThreads: 5,
		Minflt: 6, Majflt: 7, Starttime: 1<<64 - 1, RSS: 8,
	}
	s.processRow(procfs.Clocks{Mono: 9, Boot: 10, Wall: 11}, &p, true)
	s.processRow(procfs.Clocks{}, &procfs.Stat{State: 'R'}, false)
	want := []map[string]string{
		{"mono_ns": "9", "boot_ns": "10", "wall_ns": "11", "pid": "42", "starttime": "18446744073709551615", "state": "Z",
			"utime": "1", "stime": "2", "cutime": "3", "cstime": "-4", "num_threads": "5", "minflt": "6", "majflt": "7", "rss_pages": "8", "final": "1"},
		{"mono_ns": "0", "boot_ns": "0", "wall_ns": "0", "pid": "0", "starttime": "0", "state": "R",
			"utime": "0", "stime": "0", "cutime": "0", "cstime": "0", "num_threads": "0", "minflt": "0", "majflt": "0", "rss_pages": "0", "final": "0"},
	}
	if diff := cmp.Diff(want, readRows(t, s, path)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func TestThreadRow(t *testing.T) {
	s, path := newSampleFile(t, threadHeader)
	thread := procfs.ThreadSample{
		TID: 43, Starttime: 99, Mono: 1000, HasSched: true,
		Stat:  procfs.Stat{Comm: []byte("main"), State: 'S', Utime: 12, Stime: 34},
		Sched: procfs.Schedstat{Run: 500, Wait: 600, Slices: 7},
	}
	s.threadRow(42, &thread)
	thread.HasSched = false
	s.threadRow(42, &thread)
	thread.Exited = true
	s.threadRow(42, &thread)
	base := map[string]string{"mono_ns": "1000", "pid": "42", "tid": "43", "starttime": "99"}
	with := func(extra map[string]string) map[string]string {
		row := map[string]string{"comm": "", "state": "", "utime": "", "stime": "", "run_ns": "", "wait_ns": "", "slices": ""}
		for _, m := range []map[string]string{base, extra} {
			for k, v := range m {
				row[k] = v
			}
		}
		return row
	}
	want := []map[string]string{
		with(map[string]string{"event": "sample", "comm": "main", "state": "S", "utime": "12", "stime": "34", "run_ns": "500", "wait_ns": "600", "slices": "7"}),
		with(map[string]string{"event": "sample", "comm": "main", "state": "S", "utime": "12", "stime": "34"}),
		with(map[string]string{"event": "exited"}),
	}
	if diff := cmp.Diff(want, readRows(t, s, path)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func TestThreadNamesSurviveCSV(t *testing.T) {
	names := map[string]string{
		"pool) 1)":     "pool) 1)",
		"a,b":          "a,b",
		`say "hi"`:     `say "hi"`,
		`"`:            `"`,
		" lead":        " lead",
		"trail ":       "trail ",
		"two\nlines":   `two\x0alines`,
		"cr\rhere":     `cr\x0dhere`,
		"caf\xe9":      `caf\xe9`,
		"поток":        "поток",
		"":             "",
		"=cmd|'x'!A0'": "=cmd|'x'!A0'",
	}
	s, path := newSampleFile(t, threadHeader)
	var order []string
	for name := range names {
		order = append(order, name)
	}
	slices.Sort(order)
	for _, name := range order {
		s.threadRow(1, &procfs.ThreadSample{Stat: procfs.Stat{Comm: []byte(name), State: 'S'}})
	}
	rows := readRows(t, s, path)
	for i, name := range order {
		if got := rows[i]["comm"]; got != names[name] {
			t.Errorf("name %q reads back as %q, want %q", name, got, names[name])
		}
	}
	contents, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(contents), "\n"); lines != len(names)+1 {
		t.Errorf("%d lines for %d rows: a row must be one line, for a torn file's sake", lines, len(names)+1)
	}
}

func TestRowsAllocateNothing(t *testing.T) {
	s, _ := newSampleFile(t, threadHeader)
	thread := procfs.ThreadSample{HasSched: true, Mono: 1 << 60, Stat: procfs.Stat{Comm: []byte("a,\xff\n\"поток"), State: 'S'}}
	process := procfs.Stat{State: 'S', Starttime: 1 << 60}
	if n := testing.AllocsPerRun(1000, func() {
		s.buf = s.buf[:0]
		s.threadRow(42, &thread)
		s.processRow(procfs.Clocks{Mono: 1 << 60}, &process, false)
	}); n != 0 {
		t.Errorf("%v allocations per pair of rows", n)
	}
}

func TestFullDiskKeepsWholeRows(t *testing.T) {
	s, path := newSampleFile(t, threadHeader)
	s.threadRow(1, &procfs.ThreadSample{TID: 5, Stat: procfs.Stat{State: 'S'}})
	readRows(t, s, path)

	// /dev/full is out of space, and can't be cut back either.
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	file := s.file
	s.file = full
	s.threadRow(1, &procfs.ThreadSample{TID: 6, Stat: procfs.Stat{State: 'S'}})
	if err := s.flush(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("flush: %v, want ENOSPC", err)
	}
	s.file = file
	// What a write that stopped half-way leaves behind is cut off again.
	if _, err := file.WriteString("123,1,6,"); err != nil {
		t.Fatal(err)
	}
	if err := s.cutBack(); err != nil {
		t.Fatal(err)
	}
	rows := readRows(t, s, path)
	if len(rows) != 1 || rows[0]["tid"] != "5" {
		t.Errorf("rows %v, want the first only", rows)
	}
}
