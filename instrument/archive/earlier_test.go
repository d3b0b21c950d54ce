package archive

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// anHourAgo is the time that age gives to files, so that a file that is written again can be told by its time, too.
var anHourAgo = time.Now().Add(-time.Hour).Truncate(time.Second)

// age makes all files below a directory an hour old, and returns them.
func age(t *testing.T, dir string) map[string]fs.FileInfo {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chtimes(path, anHourAgo, anHourAgo)
	})
	if err != nil {
		t.Fatal(err)
	}
	return filesOf(t, dir)
}

func filesOf(t *testing.T, dir string) map[string]fs.FileInfo {
	t.Helper()
	files := make(map[string]fs.FileInfo)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(name)], err = d.Info()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// kept returns the names of the files that are the same as before, with the same time.
func kept(t *testing.T, dir string, before map[string]fs.FileInfo) []string {
	t.Helper()
	names := []string{}
	for name, info := range filesOf(t, dir) {
		if old, ok := before[name]; ok && os.SameFile(info, old) {
			if !info.ModTime().Equal(anHourAgo) {
				t.Errorf("%s: is the same file, but has another time", name)
			}
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func marked([]string) ([]File, error) {
	return []File{{"META-INF/jiffy/probes-0.csv", []byte("map")}}, nil
}

func TestFilesThatStayTheSameAreKept(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	large := strings.Repeat("large ", maxWhole/6+1)
	writeFile(t, filepath.Join(in, "com/Same.class"), "tag 1")
	writeFile(t, filepath.Join(in, "com/Left.class"), "left")
	writeFile(t, filepath.Join(in, "com/Changed.class"), "tag 1")
	writeFile(t, filepath.Join(in, "com/Longer.class"), "tag")
	writeFile(t, filepath.Join(in, "com/Gone.class"), "tag")
	writeFile(t, filepath.Join(in, "gone/text"), "x")
	writeFile(t, filepath.Join(in, "same"), "x")
	writeFile(t, filepath.Join(in, "changed"), "x")
	writeFile(t, filepath.Join(in, "large"), large)
	tool := writeFile(t, filepath.Join(in, "tool"), "x")
	jar := writeJar(t, filepath.Join(dir, "in.jar"), deflated("same.txt", "x"), deflated("changed.txt", "x"), deflated("large.txt", large),
		deflated("twice.txt", "1"), deflated("twice.txt", "2"))
	o := options(out)
	o.Added = marked
	mustRewrite(t, o, in, jar)
	before := age(t, out)

	writeFile(t, filepath.Join(in, "com/Changed.class"), "tag 2")
	writeFile(t, filepath.Join(in, "com/Longer.class"), "tag and more")
	writeFile(t, filepath.Join(in, "changed"), "y")
	for _, name := range []string{"com/Gone.class", "gone/text", "gone"} {
		if err := os.Remove(filepath.Join(in, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(tool, 0o700); err != nil {
		t.Fatal(err)
	}
	writeJar(t, jar, deflated("same.txt", "x"), deflated("changed.txt", "y"), deflated("large.txt", large),
		deflated("twice.txt", "2"), deflated("twice.txt", "1"))
	mustRewrite(t, o, in, jar)

	want := []string{"META-INF/jiffy/probes-0.csv", "com/Left.class", "com/Same.class", "large", "large.txt", "same", "same.txt"}
	if diff := cmp.Diff(want, kept(t, out, before)); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	clean := options(filepath.Join(dir, "clean"))
	clean.Added = marked
	mustRewrite(t, clean, in, jar)
	if diff := cmp.Diff(readDir(t, clean.Output), readDir(t, out)); diff != "" {
		t.Errorf("files (-clean +got):\n%s", diff)
	}
	if info, err := os.Stat(filepath.Join(out, "tool")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("tool has mode %v, want 0700: %v", info.Mode(), err)
	}
}

// TestKeptFilesAreNotWrittenInto: a file that is kept is one file with that of the earlier output, until the new output is complete.
func TestKeptFilesAreNotWrittenInto(t *testing.T) {
	dir := t.TempDir()
	// A directory gets the last of two entries of one name; Added may replace an entry.
	in := writeJar(t, filepath.Join(dir, "in.jar"), deflated("A.class", "left"), deflated("META-INF/jiffy/build.csv", "old"))
	o := options(filepath.Join(dir, "out"))
	mustRewrite(t, o, in)
	o.Added = func([]string) ([]File, error) { return []File{{"META-INF/jiffy/build.csv", []byte("new")}}, nil }
	o.BeforeCommit = func(*Outcome[string]) error { return io.ErrClosedPipe }
	if _, err := rewrite(t, o, in); err == nil {
		t.Fatal("no error")
	}
	want := []string{"A.class left", "META-INF/jiffy/build.csv old"}
	if diff := cmp.Diff(want, readDir(t, o.Output)); diff != "" {
		t.Errorf("the earlier output (-want +got):\n%s", diff)
	}
	o.BeforeCommit = nil
	mustRewrite(t, o, in)
	want[1] = "META-INF/jiffy/build.csv new"
	if diff := cmp.Diff(want, readDir(t, o.Output)); diff != "" {
		t.Errorf("the new output (-want +got):\n%s", diff)
	}
}

func TestKeepTakesEntriesUnread(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	for _, name := range []string{"A.class", "B.class", "C.class", "text"} {
		writeFile(t, filepath.Join(in, name), "tag 1")
	}
	o := options(filepath.Join(dir, "out"))
	o.Added = marked
	mustRewrite(t, o, in)
	before := age(t, o.Output)
	for _, name := range []string{"A.class", "B.class", "C.class", "D.class", "text"} {
		writeFile(t, filepath.Join(in, name), "tag 2")
	}
	if err := os.Remove(filepath.Join(o.Output, "B.class")); err != nil {
		t.Fatal(err)
	}
	var asked []string
	o.Keep = func(e *Entry) (report string, changed, ok bool) {
		asked = append(asked, e.Name)
		return e.Name + " kept", true, e.Name != "C.class"
	}
	outcome := mustRewrite(t, o, in)
	if diff := cmp.Diff([]string{"A.class", "B.class", "C.class", "D.class", "text"}, asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	// B.class is not there any more, and D.class never was, so they can't be kept.
	reports := []string{"A.class kept", "B.class tagged", "C.class tagged", "D.class tagged"}
	if diff := cmp.Diff(reports, outcome.Reports); diff != "" || outcome.Changed != 4 {
		t.Errorf("%d changed, want 4; reports (-want +got):\n%s", outcome.Changed, diff)
	}
	files := []string{"A.class tag 1#", "B.class tag 2#", "C.class tag 2#", "D.class tag 2#", "META-INF/jiffy/probes-0.csv map", "text tag 1"}
	if diff := cmp.Diff(files, readDir(t, o.Output)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"A.class", "META-INF/jiffy/probes-0.csv", "text"}, kept(t, o.Output, before)); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}

	// A jar is always written as a whole.
	o.Output += ".jar"
	if outcome = mustRewrite(t, o, in); slices.Contains(outcome.Reports, "A.class kept") {
		t.Errorf("a jar kept an entry: %v", outcome.Reports)
	}
}
