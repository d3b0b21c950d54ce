package run

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ProcessSample is one reading of /proc/<pid>/stat. Times of day are ns, CPU
// times ticks (proc_pid_stat(5)).
type ProcessSample struct {
	Mono, Boot, Wall             int64
	PID                          int
	StartTime                    uint64 // ticks since boot
	State                        string
	UTime, STime, CUTime, CSTime int64
	NumThreads                   int64
	MinFlt, MajFlt               int64
	RSSPages                     int64
	Final                        bool // the last reading, of the ended process
}

// ThreadSample is one reading of a thread, or the news that it is gone.
type ThreadSample struct {
	Mono         int64 // ns
	PID, TID     int
	StartTime    uint64 // ticks since boot
	Exited       bool   // there in the scan before, gone now; no counters
	Comm, State  string
	UTime, STime int64 // ticks
	// Run and Wait in ns, Slices from schedstat; -1 where it can't be read.
	Run, Wait, Slices int64
}

// Capability is a row of capabilities.csv.
type Capability struct {
	File     string `csv:"file"`
	Readable string `csv:"readable"`
	Note     string `csv:"note"`
}

func (r *Run) readSamples() error {
	err := r.table(CollectFile, []string{"key", "value"}, func(f fields) error {
		if r.Collect == nil {
			r.Collect = Facts{}
		}
		r.Collect[f.text("key")] = f.text("value")
		return nil
	})
	if err != nil {
		return err
	}
	if err := r.table(ProcessFile, processColumns, r.addProcess); err != nil {
		return err
	}
	if err := r.table(ThreadFile, threadColumns, r.addThread); err != nil {
		return err
	}
	return r.table(CapabilityFile, []string{"file", "readable", "note"}, func(f fields) error {
		c := Capability{File: f.text("file"), Readable: f.text("readable"), Note: f.text("note")}
		r.Capabilities = append(r.Capabilities, c)
		return nil
	})
}

var processColumns = strings.Split("mono_ns,boot_ns,wall_ns,pid,starttime,state,utime,stime,cutime,cstime,"+
	"num_threads,minflt,majflt,rss_pages,final", ",")

var threadColumns = strings.Split("mono_ns,pid,tid,starttime,event,comm,state,utime,stime,run_ns,wait_ns,slices", ",")

func (r *Run) addProcess(f fields) error {
	s := ProcessSample{
		Mono: f.int("mono_ns"), Boot: f.int("boot_ns"), Wall: f.int("wall_ns"),
		PID: int(f.int("pid")), StartTime: uint64(f.int("starttime")),
		State: strings.Clone(f.text("state")),
		UTime: f.int("utime"), STime: f.int("stime"), CUTime: f.int("cutime"), CSTime: f.int("cstime"),
		NumThreads: f.optional("num_threads"), MinFlt: f.optional("minflt"), MajFlt: f.optional("majflt"),
		RSSPages: f.optional("rss_pages"), Final: f.text("final") == "1",
	}
	if *f.err != nil {
		return *f.err
	}
	r.Processes = append(r.Processes, s)
	return nil
}

func (r *Run) addThread(f fields) error {
	s := ThreadSample{
		Mono: f.int("mono_ns"), PID: int(f.int("pid")), TID: int(f.int("tid")),
		StartTime: uint64(f.int("starttime")),
		Exited:    f.text("event") == "exited",
		Comm:      f.text("comm"), State: f.text("state"),
		Run: -1, Wait: -1, Slices: -1,
	}
	if !s.Exited {
		s.UTime, s.STime = f.int("utime"), f.int("stime")
		s.Run, s.Wait, s.Slices = f.optional("run_ns"), f.optional("wait_ns"), f.optional("slices")
	}
	if *f.err != nil {
		return *f.err
	}
	// Most rows repeat the strings of the row before; keep one copy of each.
	if n := len(r.Threads); n > 0 {
		s.Comm = reuse(s.Comm, r.Threads[n-1].Comm)
		s.State = reuse(s.State, r.Threads[n-1].State)
	}
	r.Threads = append(r.Threads, s)
	return nil
}

func reuse(s, known string) string {
	if s == known {
		return known
	}
	return strings.Clone(s)
}

// fields gives the fields of one row by their column's name.
type fields struct {
	columns map[string]int
	row     []string
	err     *error // the first bad field
}

func (f fields) text(column string) string { return f.row[f.columns[column]] }

func (f fields) int(column string) int64 {
	n, err := strconv.ParseInt(f.text(column), 10, 64)
	if err != nil && *f.err == nil {
		*f.err = fmt.Errorf("%s: %q is not a number", column, f.text(column))
	}
	return n
}

// optional reads a field that may be empty, which is -1.
func (f fields) optional(column string) int64 {
	if f.text(column) == "" {
		return -1
	}
	return f.int(column)
}

// table reads a CSV file of the run row by row. A file that isn't there, a torn
// last line and rows that can't be read are noted; columns it doesn't know are
// passed over.
func (r *Run) table(name string, columns []string, add func(fields) error) error {
	path := filepath.Join(r.Dir, name)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		r.note("%s: missing%s", path, missing[name])
		return nil
	}
	if err != nil {
		return err
	}
	data, torn := dropTorn(data)
	if torn > 0 {
		r.note("%s: the last line is cut; %d bytes left out", path, torn)
	}
	reader := csv.NewReader(bytes.NewReader(data))
	reader.ReuseRecord = true
	reader.FieldsPerRecord = -1
	header, err := reader.Read()
	if err == io.EOF {
		r.note("%s: empty%s", path, missing[name])
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	index := map[string]int{}
	for i, column := range header {
		index[strings.Clone(column)] = i
	}
	for _, column := range columns {
		if _, ok := index[column]; !ok {
			return fmt.Errorf("%s: no column %s", path, column)
		}
	}
	r.rows(path, reader, index, len(header), add)
	return nil
}

// rows reads the rows after the header.
func (r *Run) rows(path string, reader *csv.Reader, index map[string]int, width int, add func(fields) error) {
	bad, first := 0, ""
	for {
		row, err := reader.Read()
		if err == io.EOF {
			break
		}
		if err == nil && len(row) != width {
			err = fmt.Errorf("%d fields, want %d", len(row), width)
		}
		if err == nil {
			var fieldErr error
			err = add(fields{columns: index, row: row, err: &fieldErr})
		}
		if err != nil {
			if bad++; bad == 1 {
				line, _ := reader.FieldPos(0)
				first = fmt.Sprintf("line %d: %v", line, plain(err))
			}
		}
	}
	if bad > 0 {
		r.note("%s: %d rows left out, the first at %s", path, bad, first)
	}
}

// plain takes encoding/csv's own position off an error.
func plain(err error) error {
	if parse, ok := errors.AsType[*csv.ParseError](err); ok {
		return parse.Err
	}
	return err
}

// missing says what a report lacks without a file.
var missing = map[string]string{
	CollectFile:    "; the report can't say which command and host this was",
	ProcessFile:    "; process.csv stays empty",
	ThreadFile:     "; there is no CPU time per thread, and none per method",
	CapabilityFile: "",
}

// dropTorn cuts what follows the last whole line. A line break inside quotes
// ends no line.
func dropTorn(data []byte) (whole []byte, torn int) {
	end, quoted := 0, false
	for i := 0; i < len(data); i++ {
		next := bytes.IndexAny(data[i:], "\"\n")
		if next < 0 {
			break
		}
		i += next
		if data[i] == '"' {
			quoted = !quoted
		} else if !quoted {
			end = i + 1
		}
	}
	return data[:end], len(data) - end
}
