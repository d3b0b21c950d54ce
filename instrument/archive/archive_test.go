package archive

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
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

// tagger is a Rewriter for tests. It appends "#" to classes that contain "tag", and reports all.
type tagger struct{ out []byte }

func (r *tagger) Rewrite(e *Entry, class []byte) ([]byte, string) {
	if !bytes.Contains(class, []byte("tag")) {
		return nil, e.Name + " left"
	}
	r.out = append(append(r.out[:0], class...), '#')
	return r.out, e.Name + " tagged"
}

func (r *tagger) Unreadable(e *Entry, err error) string {
	return e.Name + " unreadable: " + err.Error()
}

func options(output string) Options[string] {
	return Options[string]{Output: output, Workers: 2, NewRewriter: func() Rewriter[string] { return new(tagger) }}
}

// rewrite runs Rewrite over the inputs.
func rewrite(t *testing.T, o Options[string], inputs ...string) (*Outcome[string], error) {
	t.Helper()
	in, err := Open(inputs)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return Rewrite(t.Context(), in, o)
}

func mustRewrite(t *testing.T, o Options[string], inputs ...string) *Outcome[string] {
	t.Helper()
	outcome, err := rewrite(t, o, inputs...)
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

// entry is a jar's entry in tests.
type entry struct {
	zip.FileHeader
	content string
}

func deflated(name, content string) entry {
	return entry{zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Date(2025, 1, 1, 12, 0, 0, 0, time.UTC)}, content}
}

func stored(name, content string) entry {
	e := deflated(name, content)
	e.Method = zip.Store
	return e
}

// writeJar makes a jar with the standard library's writer, which puts data descriptors behind all entries.
func writeJar(t *testing.T, path string, entries ...entry) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, e := range entries {
		h := e.FileHeader
		w, err := z.CreateHeader(&h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, e.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.SetComment("made for a test"); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return writeFile(t, path, b.String())
}

func writeFile(t *testing.T, path, content string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// readJar returns a jar's entries as "name method content", checked by the standard library's reader.
func readJar(t *testing.T, path string) []string {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var entries []string
	for _, f := range z.File {
		method := map[uint16]string{zip.Store: "stored", zip.Deflate: "deflated"}[f.Method]
		entries = append(entries, fmt.Sprintf("%s %s %s", f.Name, method, contentOf(t, f)))
	}
	return entries
}

func contentOf(t *testing.T, f *zip.File) string {
	t.Helper()
	r, err := f.Open()
	if err != nil {
		t.Fatalf("%s: %v", f.Name, err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("%s: %v", f.Name, err)
	}
	return string(b)
}

// readDir returns a directory's files as "name content", without links to directories.
func readDir(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if info, err := os.Stat(path); err != nil || info.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files = append(files, filepath.ToSlash(name)+" "+string(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// onlyFiles fails if dir holds anything but the files named: temporary files, half an output.
func onlyFiles(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	slices.Sort(names)
	if diff := cmp.Diff(names, got); diff != "" {
		t.Errorf("files in the output's directory (-want +got):\n%s", diff)
	}
}

func TestJarToJarChangesNothingButClasses(t *testing.T) {
	dir := t.TempDir()
	in := writeJar(t, filepath.Join(dir, "in.jar"),
		deflated("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\r\n\r\n"),
		stored("com/", ""),
		deflated("com/acme/Tagged.class", "tag me"),
		deflated("com/acme/Left.class", "leave me"),
		deflated("META-INF/services/com.acme.Service", "com.acme.Left\n"),
		stored("BOOT-INF/lib/inner.jar", "PK… tag"),
		deflated("META-INF/versions/9/com/acme/Tagged.class", "tag me, too"),
		deflated("META-INF/acme.kotlin_module", "tag"),
		stored("com/acme/Stored.class", "tag me, stored"),
	)
	out := filepath.Join(dir, "out.jar")
	outcome := mustRewrite(t, options(out), in)

	want := []string{
		"META-INF/MANIFEST.MF deflated Manifest-Version: 1.0\r\n\r\n",
		"com/ stored ",
		"com/acme/Tagged.class deflated tag me#",
		"com/acme/Left.class deflated leave me",
		"META-INF/services/com.acme.Service deflated com.acme.Left\n",
		"BOOT-INF/lib/inner.jar stored PK… tag",
		"META-INF/versions/9/com/acme/Tagged.class deflated tag me, too#",
		"META-INF/acme.kotlin_module deflated tag",
		"com/acme/Stored.class stored tag me, stored#",
	}
	if diff := cmp.Diff(want, readJar(t, out)); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	reports := []string{
		"com/acme/Tagged.class tagged", "com/acme/Left.class left",
		"META-INF/versions/9/com/acme/Tagged.class tagged", "com/acme/Stored.class tagged",
	}
	if diff := cmp.Diff(reports, outcome.Reports); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
	if outcome.Changed != 3 {
		t.Errorf("Changed = %d, want 3", outcome.Changed)
	}
	if diff := cmp.Diff([]string{in + "!BOOT-INF/lib/inner.jar"}, outcome.Nested); diff != "" {
		t.Errorf("nested jars (-want +got):\n%s", diff)
	}
	sameHeaders(t, in, out)
	onlyFiles(t, dir, "in.jar", "out.jar")
}

// sameHeaders compares what must stay of each entry's header, and the compressed bytes of those that did not change.
func sameHeaders(t *testing.T, in, out string) {
	t.Helper()
	a, err := zip.OpenReader(in)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := zip.OpenReader(out)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if a.Comment != b.Comment {
		t.Errorf("comment %q became %q", a.Comment, b.Comment)
	}
	for i, f := range a.File {
		g := b.File[i]
		if !f.Modified.Equal(g.Modified) || f.ExternalAttrs != g.ExternalAttrs || !bytes.Equal(f.Extra, g.Extra) || f.Method != g.Method {
			t.Errorf("%s: the header changed:\n%+v\n%+v", f.Name, f.FileHeader, g.FileHeader)
		}
		if f.CRC32 == g.CRC32 && !bytes.Equal(rawOf(t, f), rawOf(t, g)) {
			t.Errorf("%s: did not change, but was compressed anew", f.Name)
		}
	}
}

func rawOf(t *testing.T, f *zip.File) []byte {
	t.Helper()
	r, err := f.OpenRaw()
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestCompression(t *testing.T) {
	for _, test := range []struct {
		name string
		c    Compression
		want []string
	}{
		{"keep", Keep, []string{"D.class deflated tag#", "S.class stored tag#", "L.class deflated left", "new deflated n"}},
		{"store", Store, []string{"D.class stored tag#", "S.class stored tag#", "L.class deflated left", "new stored n"}},
		{"deflate", Deflate, []string{"D.class deflated tag#", "S.class deflated tag#", "L.class deflated left", "new deflated n"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			in := writeJar(t, filepath.Join(dir, "in.jar"), deflated("D.class", "tag"), stored("S.class", "tag"), deflated("L.class", "left"))
			o := options(filepath.Join(dir, "out.jar"))
			o.Compression = test.c
			o.Added = func([]string) ([]File, error) { return []File{{"new", []byte("n")}}, nil }
			mustRewrite(t, o, in)
			if diff := cmp.Diff(test.want, readJar(t, o.Output)); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
			if c, err := ParseCompression(test.name); err != nil || c != test.c {
				t.Errorf("ParseCompression(%q) = %v, %v", test.name, c, err)
			}
		})
	}
}

func TestOutputIsTheSameForAnyNumberOfWorkers(t *testing.T) {
	dir := t.TempDir()
	var entries []entry
	for i := range 500 {
		content := strings.Repeat(fmt.Sprintf("class %d ", i*7919%101), 1+i%97*20)
		if i%3 == 0 {
			content += "tag"
		}
		entries = append(entries, deflated(fmt.Sprintf("p%d/C%d.class", i%7, i), content))
		if i%10 == 0 {
			entries = append(entries, deflated(fmt.Sprintf("r%d.txt", i), content))
		}
	}
	in := writeJar(t, filepath.Join(dir, "in.jar"), entries...)
	for _, kind := range []string{"one.jar", "many.jar"} {
		o := options(filepath.Join(dir, kind))
		o.Workers = map[string]int{"one.jar": 1, "many.jar": 8}[kind]
		o.Added = func(reports []string) ([]File, error) {
			return []File{{"reports", []byte(strings.Join(reports, "\n"))}}, nil
		}
		if outcome := mustRewrite(t, o, in); outcome.Changed != 167 || len(outcome.Reports) != 500 {
			t.Errorf("%s: changed %d of %d classes, want 167 of 500", kind, outcome.Changed, len(outcome.Reports))
		}
	}
	one, err := os.ReadFile(filepath.Join(dir, "one.jar"))
	if err != nil {
		t.Fatal(err)
	}
	many, err := os.ReadFile(filepath.Join(dir, "many.jar"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(one, many) {
		t.Error("one worker and eight made different jars")
	}
}

func TestJarToDirectory(t *testing.T) {
	dir := t.TempDir()
	script := deflated("bin/run.sh", "#!/bin/sh\n")
	script.SetMode(0o755)
	in := writeJar(t, filepath.Join(dir, "in.jar"),
		stored("empty/", ""), deflated("com/A.class", "tag"), stored("com/B.class", "left"), script,
		deflated("large.bin", strings.Repeat("0123456789abcdef", maxWhole/16+1)))
	out := filepath.Join(dir, "out")
	mustRewrite(t, options(out), in)
	want := []string{
		"bin/run.sh #!/bin/sh\n", "com/A.class tag#", "com/B.class left",
		"large.bin " + strings.Repeat("0123456789abcdef", maxWhole/16+1),
	}
	if diff := cmp.Diff(want, readDir(t, out)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if info, err := os.Stat(filepath.Join(out, "empty")); err != nil || !info.IsDir() {
		t.Errorf("empty/ is not there: %v", err)
	}
	if info, err := os.Stat(filepath.Join(out, "bin/run.sh")); err != nil || info.Mode().Perm()&0o100 == 0 {
		t.Errorf("bin/run.sh can't be executed any more: %v %v", info.Mode(), err)
	}
	onlyFiles(t, dir, "in.jar", "out")
}

func TestDirectoryToDirectoryKeepsModes(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	writeFile(t, filepath.Join(in, "com/A.class"), "tag")
	writeFile(t, filepath.Join(in, "com/B.class"), "left")
	tool := writeFile(t, filepath.Join(in, "tool"), "x")
	if err := os.Chmod(tool, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("tool", filepath.Join(in, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("com", filepath.Join(in, "linked")); err != nil {
		t.Fatal(err)
	}
	inputs, err := Open([]string{in})
	if err != nil {
		t.Fatal(err)
	}
	defer inputs.Close()
	if diff := cmp.Diff([]string{filepath.Join(in, "linked") + ": a link to a directory"}, inputs.PassedOver()); diff != "" {
		t.Errorf("passed over (-want +got):\n%s", diff)
	}
	out := filepath.Join(dir, "out")
	if _, err := Rewrite(t.Context(), inputs, options(out)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"com/A.class tag#", "com/B.class left", "link x", "tool x"}, readDir(t, out)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if info, err := os.Stat(filepath.Join(out, "tool")); err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("tool has mode %v, want 0750: %v", info.Mode(), err)
	}
}

func TestDirectoryToJar(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	writeFile(t, filepath.Join(in, "A.class"), "tag")
	writeFile(t, filepath.Join(in, "META-INF/MANIFEST.MF"), "Manifest-Version: 1.0\n")
	writeFile(t, filepath.Join(in, "META-INF/LICENSE"), "free")
	writeFile(t, filepath.Join(in, "ünïcode.txt"), "u")
	large := strings.Repeat("x", maxWhole+1)
	writeFile(t, filepath.Join(in, "large"), large)
	for _, test := range []struct {
		c    Compression
		kind string
	}{{Keep, "deflated"}, {Store, "stored"}} {
		o := options(filepath.Join(dir, "out.jar"))
		o.Compression = test.c
		mustRewrite(t, o, in)
		want := []string{
			"META-INF/ stored ", "META-INF/MANIFEST.MF " + test.kind + " Manifest-Version: 1.0\n",
			"A.class " + test.kind + " tag#", "META-INF/LICENSE " + test.kind + " free",
			"large " + test.kind + " " + large, "ünïcode.txt " + test.kind + " u",
		}
		if diff := cmp.Diff(want, readJar(t, o.Output)); diff != "" {
			t.Errorf("entries (-want +got):\n%s", diff)
		}
	}
}

func TestSingleClassIsNamedAfterWhatItDeclares(t *testing.T) {
	dir := t.TempDir()
	// The smallest class that can be parsed: com.acme.Foo extends java.lang.Object, Java 8.
	class := "\xca\xfe\xba\xbe\x00\x00\x00\x34\x00\x05" +
		"\x01\x00\x0ccom/acme/Foo\x07\x00\x01\x01\x00\x10java/lang/Object\x07\x00\x03" +
		"\x00\x21\x00\x02\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00"
	foo := writeFile(t, filepath.Join(dir, "somewhere", "Foo.class"), class)
	odd := writeFile(t, filepath.Join(dir, "Odd.class"), "no class")
	mustRewrite(t, options(filepath.Join(dir, "out")), foo, odd)
	if diff := cmp.Diff([]string{"Odd.class no class", "com/acme/Foo.class " + class}, readDir(t, filepath.Join(dir, "out"))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestDuplicates(t *testing.T) {
	dir := t.TempDir()
	a := writeJar(t, filepath.Join(dir, "a.jar"),
		deflated("A.class", "first"), deflated("A.class", "tag second"), deflated("META-INF/services/S", "one # comment\ntwo"), stored("p/", ""))
	b := writeJar(t, filepath.Join(dir, "b.jar"),
		deflated("A.class", "other"), deflated("META-INF/services/S", "two\r\nthree\r\n"), stored("p/", ""), deflated("same", "x"))
	c := filepath.Join(dir, "c")
	writeFile(t, filepath.Join(c, "same"), "x")

	outcome := mustRewrite(t, options(filepath.Join(dir, "out.jar")), a, b, c)
	want := []string{
		"A.class deflated first", "A.class deflated tag second#",
		"META-INF/services/S deflated one # comment\ntwo\nthree\n", "p/ stored ", "same deflated x",
	}
	if diff := cmp.Diff(want, readJar(t, filepath.Join(dir, "out.jar"))); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{b + "!A.class: is left out, because " + a + " has it already"}, outcome.Duplicates); diff != "" {
		t.Errorf("duplicates (-want +got):\n%s", diff)
	}

	outcome = mustRewrite(t, options(filepath.Join(dir, "out")), a)
	if diff := cmp.Diff([]string{"A.class tag second#", "META-INF/services/S one # comment\ntwo"}, readDir(t, filepath.Join(dir, "out"))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{a + "!A.class: is there twice; the last one is kept"}, outcome.Duplicates); diff != "" {
		t.Errorf("duplicates (-want +got):\n%s", diff)
	}
}

func TestBeforeCommitCanStillFail(t *testing.T) {
	dir := t.TempDir()
	in := writeJar(t, filepath.Join(dir, "in.jar"), deflated("A.class", "tag"))
	for _, name := range []string{"out.jar", "out"} {
		o := options(filepath.Join(dir, name))
		o.BeforeCommit = func(outcome *Outcome[string]) error {
			if outcome.Changed != 1 {
				t.Errorf("Changed = %d before commit, want 1", outcome.Changed)
			}
			return io.ErrShortWrite
		}
		if _, err := rewrite(t, o, in); err != io.ErrShortWrite {
			t.Errorf("%s: got error %v, want that of BeforeCommit", name, err)
		}
		onlyFiles(t, dir, "in.jar")
	}
}

func TestCancelledRunLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	in, err := Open([]string{writeJar(t, filepath.Join(dir, "in.jar"), deflated("A.class", "tag"))})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Rewrite(ctx, in, options(filepath.Join(dir, "out.jar"))); err == nil {
		t.Error("a cancelled run succeeded")
	}
	onlyFiles(t, dir, "in.jar")
}

func TestProgressEndsAtTheTotal(t *testing.T) {
	dir := t.TempDir()
	in := writeJar(t, filepath.Join(dir, "in.jar"), deflated("A.class", "tag"), stored("b", "12345"), deflated("c", "x"))
	o := options(filepath.Join(dir, "out.jar"))
	var last, total int64
	o.Progress = func(done, of int64) {
		if done < last {
			t.Errorf("progress went back from %d to %d", last, done)
		}
		last, total = done, of
	}
	mustRewrite(t, o, in)
	if last != total || total < 5 {
		t.Errorf("progress ended at %d of %d", last, total)
	}
}
