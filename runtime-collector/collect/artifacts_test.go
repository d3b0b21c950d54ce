package collect

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jiffyperf/jiffy/instrument/mapping"
	"github.com/jiffyperf/jiffy/runtime-collector/eventlog"
	"github.com/jiffyperf/jiffy/runtime-collector/eventlog/eventlogtest"
)

// writeMap writes a probe map of one method and returns its contents and hash.
func writeMap(t *testing.T, path, method string) (contents, hash string) {
	t.Helper()
	b, hash := mapping.Encode([]mapping.Row{{ID: 1, Kind: "method", Class: "com.acme.Main", Method: method, Descriptor: "()V"}})
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return string(b), hash
}

func TestMapsAreNamedByTheirContents(t *testing.T) {
	dir, maps := t.TempDir(), t.TempDir()
	contents, hash := writeMap(t, filepath.Join(dir, "one.csv"), "one")
	writeMap(t, filepath.Join(dir, "again.csv"), "one")
	_, hash2 := writeMap(t, filepath.Join(dir, "two.csv"), "two")
	sources, err := givenMaps([]string{filepath.Join(dir, "one.csv"), filepath.Join(dir, "again.csv"), filepath.Join(dir, "two.csv")})
	if err != nil {
		t.Fatal(err)
	}
	if err := addMaps(maps, sources); err != nil {
		t.Fatal(err)
	}
	want := []string{"probes-" + hash + ".csv", "probes-" + hash2 + ".csv"}
	slices.Sort(want)
	if got := tree(t, maps); !slices.Equal(got, want) {
		t.Errorf("maps %q, want %q", got, want)
	}
	if b, err := os.ReadFile(filepath.Join(maps, "probes-"+hash+".csv")); err != nil || string(b) != contents {
		t.Errorf("the copy holds %q, %v; want %q", b, err, contents)
	}
}

func TestAddMapsKeepsTheOthersWhenOneFails(t *testing.T) {
	dir, maps := t.TempDir(), t.TempDir()
	writeMap(t, filepath.Join(dir, "gone.csv"), "gone")
	writeMap(t, filepath.Join(dir, "good.csv"), "good")
	sources, err := givenMaps([]string{filepath.Join(dir, "gone.csv"), filepath.Join(dir, "good.csv")})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "gone.csv")); err != nil {
		t.Fatal(err)
	}
	err = addMaps(maps, sources)
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "gone.csv") {
		t.Errorf("error %v", err)
	}
	if got := tree(t, maps); len(got) != 1 {
		t.Errorf("maps %q, want the good one", got)
	}
}

func TestGivenMapsRefusesWhatIsNoMap(t *testing.T) {
	dir := t.TempDir()
	touch(t, filepath.Join(dir, "notes.csv"))
	for _, name := range []string{"notes.csv", "none.csv"} {
		_, err := givenMaps([]string{filepath.Join(dir, name)})
		if err == nil || !strings.Contains(err.Error(), "--mapping") || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestLogHeaderOfALogThatIsStillWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events-1-2-0.jiffy")
	log := eventlogtest.New("java_class_path", "a.jar:b c.jar", "user_dir", `/home/a\b`).Bytes()
	torn := append(log[:len(log):len(log)], "CHNK and then nothing"...)
	if err := os.WriteFile(path, torn, 0o644); err != nil {
		t.Fatal(err)
	}
	header, err := logHeader(path)
	if err != nil {
		t.Fatal(err)
	}
	if header["java_class_path"] != "a.jar:b c.jar" || header["user_dir"] != `/home/a\b` {
		t.Errorf("header %q", header)
	}
	touch(t, path)
	if _, err := logHeader(path); !errors.Is(err, eventlog.ErrNotLog) || !strings.Contains(err.Error(), path) {
		t.Errorf("a file that is no log: error %v", err)
	}
}

func TestCopyLogsTakesTheProcessesLogsOnly(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	for _, name := range []string{
		"events-42-100-0.jiffy", "events-42-100-1.jiffy", "folded-42-100-0-1.jiffy", // ours
		"events-42-99-0.jiffy", // an earlier process with the same pid
		"events-43-100-0.jiffy", "notes.jiffy", "events-42-100-0.txt",
	} {
		touch(t, filepath.Join(from, name))
	}
	copied, err := copyLogs(from, to, func(f eventlog.FileName) bool { return f.PID == 42 && f.StartTime == 100 })
	if err != nil || copied != 3 {
		t.Errorf("copied %d, %v; want 3", copied, err)
	}
	want := []string{"events-42-100-0.jiffy", "events-42-100-1.jiffy", "folded-42-100-0-1.jiffy"}
	if got := tree(t, to); !slices.Equal(got, want) {
		t.Errorf("copied %q, want %q", got, want)
	}
}
