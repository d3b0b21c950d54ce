package run

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jiffyperf/jiffy/runtime-collector/eventlog"
)

const threadFile = `mono_ns,pid,tid,starttime,event,comm,state,utime,stime,run_ns,wait_ns,slices
100,50,51,10500,sample,java,R,1,2,300,4,5
100,50,52,10501,sample,"a ""b"", c
d",S,1,2,,,
200,50,52,10501,exited,x,,,,,,
`

var threadRows = []ThreadSample{
	{Mono: 100, PID: 50, TID: 51, StartTime: 10500, Comm: "java", State: "R", UTime: 1, STime: 2, Run: 300, Wait: 4, Slices: 5},
	{Mono: 100, PID: 50, TID: 52, StartTime: 10501, Comm: "a \"b\", c\nd", State: "S", UTime: 1, STime: 2, Run: -1, Wait: -1, Slices: -1},
	{Mono: 200, PID: 50, TID: 52, StartTime: 10501, Exited: true, Comm: "x", Run: -1, Wait: -1, Slices: -1},
}

const processFile = `mono_ns,boot_ns,wall_ns,pid,starttime,state,utime,stime,cutime,cstime,num_threads,minflt,majflt,rss_pages,final,new_column
1,2,3,50,10500,Z,7,8,9,10,11,12,13,,1,x
`

// files makes a directory of files: path, content, path, content …
func files(t *testing.T, pairs ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(pairs); i += 2 {
		path := filepath.Join(dir, pairs[i])
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(pairs[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestOpenReadsTheWholeRun(t *testing.T) {
	dir := files(t,
		ThreadFile, threadFile, ProcessFile, processFile,
		CollectFile, "key,value\nhz,100\ncommand,\"java 'a b'\"\n",
		CapabilityFile, "file,readable,note\n/proc/stat,yes,\n",
		"maps/probes-1.csv", "", "maps/probes-2.csv", "", "maps/other.txt", "",
		"log/events-60-7-0.jiffy", "", "log/events-50-9-0.jiffy", "", "log/folded-50-9-0-1.jiffy", "", "log/notes.txt", "")
	got, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := &Run{
		Dir:     dir,
		Threads: threadRows,
		Processes: []ProcessSample{{Mono: 1, Boot: 2, Wall: 3, PID: 50, StartTime: 10500, State: "Z", UTime: 7, STime: 8, CUTime: 9,
			CSTime: 10, NumThreads: 11, MinFlt: 12, MajFlt: 13, RSSPages: -1, Final: true}},
		Collect:      Facts{"hz": "100", "command": "java 'a b'"},
		Capabilities: []Capability{{File: "/proc/stat", Readable: "yes"}},
		Maps:         []string{filepath.Join(dir, "maps/probes-1.csv"), filepath.Join(dir, "maps/probes-2.csv")},
		Logs: []LogFiles{
			{Name: eventlog.FileName{PID: 60, StartTime: 7}, Events: filepath.Join(dir, "log/events-60-7-0.jiffy")},
			{Name: eventlog.FileName{PID: 50, StartTime: 9}, Events: filepath.Join(dir, "log/events-50-9-0.jiffy"),
				Folded: []string{filepath.Join(dir, "log/folded-50-9-0-1.jiffy")}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("run (-want +got):\n%s", diff)
	}
}

// Wherever the collector was killed, all whole lines count.
func TestSamplesCutAtEveryByte(t *testing.T) {
	header := strings.IndexByte(threadFile, '\n') + 1
	ends := []int{strings.Index(threadFile, ",5\n") + 3, strings.Index(threadFile, ",S,1,2,,,\n") + 10, len(threadFile)}
	for n := header; n <= len(threadFile); n++ {
		r := &Run{Dir: files(t, ThreadFile, threadFile[:n])}
		if err := r.table(ThreadFile, threadColumns, r.addThread); err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		want, whole := 0, n == header
		for i, end := range ends {
			if end <= n {
				want, whole = i+1, end == n
			}
		}
		if diff := cmp.Diff(threadRows[:want], append([]ThreadSample{}, r.Threads...)); diff != "" {
			t.Errorf("cut at %d: samples (-want +got):\n%s", n, diff)
		}
		if noted := len(r.Notes) == 1 && strings.Contains(r.Notes[0], "the last line is cut"); noted == whole {
			t.Errorf("cut at %d: notes %q", n, r.Notes)
		}
	}
}

func TestBadRowsAreNotedAndLeftOut(t *testing.T) {
	bad := threadFile + "300,50,51,10500,sample,java,R,x,2,300,4,5\n301,50\n"
	r, err := Open(files(t, ThreadFile, bad))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Threads) != len(threadRows) {
		t.Errorf("%d samples, want %d", len(r.Threads), len(threadRows))
	}
	want := `thread-samples.csv: 2 rows left out, the first at line 6: utime: "x" is not a number`
	if !strings.Contains(strings.Join(r.Notes, "\n"), want) {
		t.Errorf("notes %q, want one with %q", r.Notes, want)
	}
}

func TestMissingFilesAreNoted(t *testing.T) {
	r, err := Open(files(t, "events-1-2-0.jiffy", ""))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{CollectFile, ProcessFile, ThreadFile, CapabilityFile} {
		if !strings.Contains(strings.Join(r.Notes, "\n"), name+": missing") {
			t.Errorf("notes %q don't name %s", r.Notes, name)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := files(t, "a/file", "x", "empty/sub/file", "", "bad/process-samples.csv", "a,b\n1,2\n")
	tests := map[string]struct{ path, want string }{
		"a file":         {"a/file", "not a directory"},
		"nothing":        {"none", "no such file"},
		"an empty run":   {"empty", ErrNoRun.Error()},
		"samples unlike": {"bad", "process-samples.csv: no column mono_ns"},
	}
	for name, test := range tests {
		_, err := Open(filepath.Join(dir, test.path))
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), test.path) {
			t.Errorf("%s: error %v, want %q", name, err, test.want)
		}
	}
	if _, err := Open(filepath.Join(dir, "empty")); !errors.Is(err, ErrNoRun) {
		t.Errorf("error %v is not ErrNoRun", err)
	}
}

func TestADirectoryNamedLikeAPattern(t *testing.T) {
	dir := files(t, "a[1]*/events-1-2-0.jiffy", "", "a[1]*/maps/probes-1.csv", "")
	r, err := Open(filepath.Join(dir, "a[1]*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Maps) != 1 {
		t.Errorf("maps %q, want one", r.Maps)
	}
}
