package collect

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tree lists the files and directories below dir.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && path != dir {
			names = append(names, strings.TrimPrefix(path, dir+"/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func touch(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("before"), 0o644); err != nil {
		t.Fatal(err)
	}
}

var freshRun = []string{"log", "maps", "process-samples.csv", "thread-samples.csv"}

func TestCreateRunDir(t *testing.T) {
	odd := "odd [name]* \\ "
	for _, c := range []struct {
		name   string
		files  []string // there before
		force  bool
		refuse string // part of the error
		want   []string
	}{
		{name: "does not exist", want: freshRun},
		{name: "empty", files: []string{}, want: freshRun},
		{name: "somebody's files", files: []string{"notes.txt"}, refuse: "is not empty, and is no earlier run", want: []string{"notes.txt"}},
		{name: "somebody's files, with force", files: []string{"notes.txt"}, force: true, refuse: "no earlier run", want: []string{"notes.txt"}},
		{name: "earlier run", files: []string{"process-samples.csv"}, refuse: "holds an earlier run", want: []string{"process-samples.csv"}},
		{
			name: "earlier run, with force", force: true,
			files: []string{
				"process-samples.csv", "thread-samples.csv", "collect.csv", ".collect.csv.123", "capabilities.csv",
				"log/events-1-2-0.jiffy", "log/folded-1-2-0-1.jiffy", "maps/probes-0123456789abcdef.csv",
				"report/run.csv", "report/methods.csv",
			},
			want: freshRun,
		},
		{
			name: "earlier run with somebody's files, with force", force: true,
			files: []string{"process-samples.csv", "notes.txt", "log/hs_err.log", "report/mine.ods", "report/run.csv"},
			want:  []string{"log", "log/hs_err.log", "maps", "notes.txt", "process-samples.csv", "report", "report/mine.ods", "thread-samples.csv"},
		},
		{
			name: "a report directory that no report made, with force", force: true,
			files: []string{"process-samples.csv", "report/methods.csv"},
			want:  slices.Concat(freshRun[:2], []string{"process-samples.csv", "report", "report/methods.csv", "thread-samples.csv"}),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), odd, "run")
			for _, f := range c.files {
				touch(t, filepath.Join(dir, f))
			}
			if c.files != nil && len(c.files) == 0 {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			r, err := createRunDir(dir, c.force)
			if c.refuse == "" && err != nil || c.refuse != "" && (err == nil || !strings.Contains(err.Error(), c.refuse)) {
				t.Fatalf("error %v, want %q", err, c.refuse)
			}
			if got := tree(t, dir); !slices.Equal(got, c.want) {
				t.Errorf("the directory holds %q, want %q", got, c.want)
			}
			if err != nil {
				return
			}
			if b, err := os.ReadFile(filepath.Join(dir, threadFile)); err != nil || string(b) != threadHeader {
				t.Errorf("%s holds %q, %v; want the header", threadFile, b, err)
			}
			r.discard()
			for _, f := range c.files {
				if strings.HasSuffix(f, "notes.txt") || strings.HasSuffix(f, "mine.ods") {
					if _, err := os.Stat(filepath.Join(dir, f)); err != nil {
						t.Errorf("discard removed somebody's file: %v", err)
					}
				}
			}
		})
	}
}

func TestDiscardLeavesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	r, err := createRunDir(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	r.discard()
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("stat after discard: %v, want that there is nothing", err)
	}
}

func TestRunThatIsBeingWrittenIsNotReplaced(t *testing.T) {
	dir := t.TempDir()
	r, err := createRunDir(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	_, err = createRunDir(dir, true)
	if err == nil || !strings.Contains(err.Error(), "is being written by another jiffy collect") {
		t.Errorf("error %v while the run is being written", err)
	}
	if err := r.close(); err != nil {
		t.Fatal(err)
	}
	r, err = createRunDir(dir, true)
	if err != nil {
		t.Errorf("after it was closed: %v", err)
	} else {
		r.discard()
	}
}

func TestRunDirCanNotBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	touch(t, file)
	for _, dir := range []string{file, filepath.Join(file, "run")} {
		_, err := createRunDir(dir, true)
		if err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: error %v, want one that names the file", dir, err)
		}
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "before" {
		t.Errorf("the file holds %q, %v", b, err)
	}
}
