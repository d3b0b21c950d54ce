package archive

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUnreadableClassIsCopiedAndReported(t *testing.T) {
	good := rawStored("A.class", "tag")
	with := func(change func(*rawEntry)) rawEntry {
		e := good
		change(&e)
		return e
	}
	deflated, err := deflate(strings.Repeat("tag", 100))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name   string
		e      rawEntry
		report string
	}{
		{"encrypted", with(func(e *rawEntry) { e.flags = 1 }), "it is encrypted"},
		{"bzip2", with(func(e *rawEntry) { e.method = 12 }), "its compression method 12 is not known"},
		{"wrong checksum", with(func(e *rawEntry) { e.crc++ }), "its checksum is wrong"},
		{"stored with two sizes", with(func(e *rawEntry) { e.content++ }), "it is stored, but declares two sizes, 3 and 4"},
		{"larger than deflate can make it", with(func(e *rawEntry) { e.method, e.content = zip.Deflate, 3*1032+1 }),
			"it declares 3097 bytes, more than 3 compressed ones can hold"},
		{"larger than any class", with(func(e *rawEntry) { e.content = 1 << 30 }), "it has 1073741824 bytes; no more than 67108864 are read"},
		{"declares too few bytes", with(func(e *rawEntry) {
			e.method, e.data, e.compressed, e.content = zip.Deflate, deflated, uint32(len(deflated)), 299
		}),
			"it has more than the 299 bytes that it declares"},
		{"declares too many bytes", with(func(e *rawEntry) {
			e.method, e.data, e.compressed, e.content = zip.Deflate, deflated, uint32(len(deflated)), 301
		}),
			"its compressed data end before the 301 bytes that it declares"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			in := writeFile(t, filepath.Join(dir, "in.jar"), string(rawJar(rawStored("r", "resource"), test.e, rawStored("B.class", "tag"))))
			out := filepath.Join(dir, "out.jar")
			outcome := mustRewrite(t, options(out), in)
			if diff := cmp.Diff([]string{"A.class unreadable: " + test.report, "B.class tagged"}, outcome.Reports); diff != "" {
				t.Errorf("reports (-want +got):\n%s", diff)
			}
			z, err := zip.OpenReader(out)
			if err != nil {
				t.Fatal(err)
			}
			defer z.Close()
			if got := string(rawOf(t, z.File[1])); got != test.e.data {
				t.Errorf("the class has %q, want its bytes as they were: %q", got, test.e.data)
			}
			if f := z.File[1]; f.Method != test.e.method || f.Flags&1 != test.e.flags&1 || f.CRC32 != test.e.crc {
				t.Errorf("the class's header changed: %+v", f.FileHeader)
			}

			// It can't be unpacked, so no directory is made.
			_, err = rewrite(t, options(filepath.Join(dir, "out")), in)
			if want := in + "!A.class: " + test.report; err == nil || err.Error() != want {
				t.Errorf("into a directory: got error %v, want %s", err, want)
			}
			onlyFiles(t, dir, "in.jar", "out.jar")
		})
	}
}

func deflate(s string) (string, error) {
	var w worker[string]
	var c content
	err := w.deflate(&c, []byte(s))
	return string(c.bytes), err
}

func TestBadJarsAreRefused(t *testing.T) {
	far := uint32(1 << 20)
	overlap := func(name string) rawEntry { e := rawStored(name, strings.Repeat("x", 200)); return e }
	zero := uint32(0)
	second := overlap("b")
	second.offset, second.data = &zero, ""
	displaced := rawStored("r", "x")
	displaced.offset = &far
	hidden := rawEntry{name: "a", data: strings.Repeat("x", 1000)} // declares nothing
	long := rawStored("r", "x")
	long.compressed, long.content = 900, 900 // would fit into the jar, but not behind a
	good := rawJar(rawStored("A.class", "tag"), rawStored("r", "resource"))
	for _, test := range []struct {
		name string
		jar  []byte
		want string
	}{
		{"empty file", nil, "is not a jar, or is cut off: it has no central directory that could be read"},
		{"text", []byte(strings.Repeat("hello ", 100)), "is not a jar, or is cut off: it has no central directory that could be read"},
		{"cut off", good[:len(good)-30], "is not a jar, or is cut off: it has no central directory that could be read"},
		{"entries that overlap", rawJar(overlap("a"), second, second, second), `entry "b": the entries are larger together than the jar, so they overlap`},
		{"entry larger than the jar", rawJar(rawEntry{name: "r", compressed: 1 << 30}), `entry "r": the entries are larger together than the jar, so they overlap`},
		{"entry that reaches beyond the jar", rawJar(hidden, long), "r: the jar is cut off in it"},
		{"entry outside the jar", rawJar(displaced), "r: its local header is not where the central directory says"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			in := writeFile(t, filepath.Join(dir, "in.jar"), string(test.jar))
			for _, out := range []string{"out.jar", "out"} {
				_, err := rewrite(t, options(filepath.Join(dir, out)), in)
				if err == nil || !strings.HasSuffix(err.Error(), test.want) || !strings.Contains(err.Error(), in) {
					t.Errorf("%s: got error %v, want one that names the jar and ends in %q", out, err, test.want)
				}
				if err != nil && strings.Contains(err.Error(), "\n") {
					t.Errorf("%s: the error has several lines: %v", out, err)
				}
			}
			onlyFiles(t, dir, "in.jar")
		})
	}
}

// TestEveryTruncationOfAJar cuts a jar at every byte: an error, and no output.
func TestEveryTruncationOfAJar(t *testing.T) {
	dir := t.TempDir()
	whole, err := os.ReadFile(writeJar(t, filepath.Join(dir, "whole.jar"), deflated("A.class", "tag"), stored("r", "resource")))
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(whole) - len("made for a test") {
		in := writeFile(t, filepath.Join(dir, "in.jar"), string(whole[:n]))
		if _, err := rewrite(t, options(filepath.Join(dir, "out.jar")), in); err == nil {
			t.Errorf("cut to %d of %d bytes: no error", n, len(whole))
		}
		onlyFiles(t, dir, "in.jar", "whole.jar")
	}
}

func TestNamesThatLeadOutOfTheDirectory(t *testing.T) {
	for _, name := range []string{
		"../A.class", "a/../../A.class", "/etc/A.class", `..\A.class`, `C:\A.class`, "C:A.class", "a\x00b", `a\b`, "..", "../", "",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			in := writeFile(t, filepath.Join(dir, "in.jar"), string(rawJar(rawStored("ok", "x"), rawStored(name, "tag"))))
			_, err := rewrite(t, options(filepath.Join(dir, "out")), in)
			if want := in + "!" + name + ": its name leads out of the output directory"; err == nil || err.Error() != want {
				t.Errorf("got error %v, want %s", err, want)
			}
			onlyFiles(t, dir, "in.jar")
			if name == "" || strings.HasSuffix(name, "/") {
				return
			}
			// A jar may keep any name.
			out := filepath.Join(dir, "out.jar")
			mustRewrite(t, options(out), in)
			z, err := zip.OpenReader(out)
			if err != nil && err != zip.ErrInsecurePath {
				t.Fatal(err)
			}
			defer z.Close()
			if z.File[1].Name != name {
				t.Errorf("name became %q", z.File[1].Name)
			}
		})
	}
}

func TestOutputsThatAreRefused(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	in := writeJar(t, at("in.jar"), deflated("A.class", "tag"))
	writeFile(t, at("classes/A.class"), "tag")
	writeFile(t, at("mine/precious.txt"), "do not delete")
	writeFile(t, at("file"), "a file")
	for _, link := range [][2]string{{"in.jar", "link.jar"}, {"classes", "linked"}} {
		if err := os.Symlink(at(link[0]), at(link[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(at("dir.jar"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, input, output, want string }{
		{"no output", in, "", "no output: name a jar or a directory"},
		{"the input", in, in, "output " + in + ": is also an input"},
		{"a link to the input", in, at("link.jar"), "output " + at("link.jar") + ": is also an input"},
		{"the input directory", at("classes"), at("classes"), "output " + at("classes") + ": is also an input"},
		{"inside the input", at("classes"), at("classes/out"), "output " + at("classes/out") + ": lies inside the input " + at("classes")},
		{"a jar inside the input", at("linked"), at("classes/out.jar"), "output " + at("classes/out.jar") + ": lies inside the input " + at("linked")},
		{"around the input", at("classes/A.class"), at("classes"), "output " + at("classes") + ": holds the input " + at("classes/A.class")},
		{"somebody's directory", in, at("mine"), "output " + at("mine") + ": is not empty, and was not made by jiffy; remove it or name another"},
		{"a file", in, at("file"), "output " + at("file") + ": exists and is not a directory (a jar's name ends in .jar)"},
		{"a directory with a jar's name", in, at("dir.jar"), "output " + at("dir.jar") + ": exists and is not a file"},
		{"in no directory", in, at("no/out.jar"), "output " + at("no/out.jar") + ": there is no directory " + at("no")},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := readDir(t, dir)
			_, err := rewrite(t, options(test.output), test.input)
			if err == nil || err.Error() != test.want {
				t.Errorf("got error  %v\nwant error %s", err, test.want)
			}
			if diff := cmp.Diff(before, readDir(t, dir)); diff != "" {
				t.Errorf("files (-before +after):\n%s", diff)
			}
		})
	}
}

func TestFilesBesideTheOutput(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	jar := writeJar(t, at("in.jar"), deflated("A.class", "tag"))
	writeFile(t, at("classes/A.class"), "tag")
	in, err := Open([]string{jar, at("classes")})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := os.Mkdir(at("out"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ path, output, want string }{
		{at("map.csv"), at("out"), ""},
		{at("map.csv"), at("out.jar"), ""},
		{at("out.jar"), at("out.jar"), "lies inside the output " + at("out.jar")},
		{at("out/map.csv"), at("out"), "lies inside the output " + at("out")},
		{jar, at("out"), "lies inside the input " + jar},
		{at("classes/map.csv"), at("out"), "lies inside the input " + at("classes")},
	} {
		want := ""
		if test.want != "" {
			want = "output " + test.path + ": " + test.want
		}
		got := ""
		if err := in.CheckBeside(test.path, test.output); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s beside %s: got error %q, want %q", test.path, test.output, got, want)
		}
	}
}

func TestInputsThatAreRefused(t *testing.T) {
	dir := t.TempDir()
	in := writeJar(t, filepath.Join(dir, "in.jar"), deflated("A.class", "tag"))
	missing := filepath.Join(dir, "missing.jar")
	for _, test := range []struct {
		name   string
		inputs []string
		want   string
	}{
		{"none", nil, "no inputs: name a jar, a directory or a class"},
		{"missing", []string{in, missing}, "input " + missing + ": there is no such file or directory"},
		{"twice", []string{in, dir + "/./in.jar"}, "input " + dir + "/./in.jar: is given twice (as " + in + ")"},
		{"a device", []string{os.DevNull}, "input " + os.DevNull + ": is neither a jar nor a directory nor a class"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := rewrite(t, options(filepath.Join(dir, "out.jar")), test.inputs...)
			if err == nil || err.Error() != test.want {
				t.Errorf("got error %v, want %s", err, test.want)
			}
			onlyFiles(t, dir, "in.jar")
		})
	}
}

func TestUnwritableOutput(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write everywhere")
	}
	dir := t.TempDir()
	in := writeJar(t, filepath.Join(dir, "in.jar"), deflated("A.class", "tag"))
	locked := filepath.Join(dir, "locked")
	if err := os.Mkdir(locked, 0o555); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"out.jar", "out"} {
		out := filepath.Join(locked, name)
		_, err := rewrite(t, options(out), in)
		if want := "output " + out + ": permission denied"; err == nil || err.Error() != want {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
}

func TestPendingFile(t *testing.T) {
	dir := t.TempDir()
	path := writeFile(t, filepath.Join(dir, "map.csv"), "old")
	read := func() string {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	f, err := CreatePending(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Fill(func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }); err != nil {
		t.Fatal(err)
	}
	if read() != "old" {
		t.Errorf("before Commit the file has %q", read())
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	f.Abort() // does nothing any more
	if read() != "new" {
		t.Errorf("after Commit the file has %q", read())
	}

	if f, err = CreatePending(path); err != nil {
		t.Fatal(err)
	}
	err = f.Fill(func(io.Writer) error { return &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC} })
	if want := "output " + path + ": no space left on device"; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
	f.Abort()
	if read() != "new" {
		t.Errorf("after Abort the file has %q", read())
	}
	onlyFiles(t, dir, "map.csv")
}

func TestFailureKeepsTheOldOutput(t *testing.T) {
	dir := t.TempDir()
	in := writeJar(t, filepath.Join(dir, "in.jar"), deflated("A.class", "tag"))
	marked := func(reports []string) ([]File, error) { return []File{{"META-INF/jiffy/probes-0.csv", nil}}, nil }
	for _, name := range []string{"out.jar", "out"} {
		o := options(filepath.Join(dir, name))
		o.Added = marked
		mustRewrite(t, o, in)
	}
	bad := rawStored("A.class", "tag")
	bad.crc++
	badJar := writeFile(t, filepath.Join(dir, "bad.jar"), string(rawJar(bad)))
	for _, name := range []string{"out.jar", "out"} {
		o := options(filepath.Join(dir, name))
		o.Added = func([]string) ([]File, error) { return nil, io.ErrClosedPipe }
		if _, err := rewrite(t, o, badJar); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	onlyFiles(t, dir, "bad.jar", "in.jar", "out", "out.jar")
	if diff := cmp.Diff([]string{"A.class deflated tag#", "META-INF/jiffy/probes-0.csv deflated "}, readJar(t, filepath.Join(dir, "out.jar"))); diff != "" {
		t.Errorf("old jar (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"A.class tag#", "META-INF/jiffy/probes-0.csv "}, readDir(t, filepath.Join(dir, "out"))); diff != "" {
		t.Errorf("old directory (-want +got):\n%s", diff)
	}

	// Our own output is replaced as a whole: what it held before is gone.
	next := writeJar(t, filepath.Join(dir, "next.jar"), deflated("B.class", "tag"))
	o := options(filepath.Join(dir, "out"))
	o.Added = marked
	mustRewrite(t, o, next)
	if diff := cmp.Diff([]string{"B.class tag#", "META-INF/jiffy/probes-0.csv "}, readDir(t, filepath.Join(dir, "out"))); diff != "" {
		t.Errorf("new directory (-want +got):\n%s", diff)
	}
	onlyFiles(t, dir, "bad.jar", "in.jar", "next.jar", "out", "out.jar")
}

// FuzzRewrite feeds damaged jars: there may be errors, but no panic, no half output, and no memory that the jar's size doesn't
// justify.
func FuzzRewrite(f *testing.F) {
	class, resource := rawStored("A.class", "tag"), rawStored("META-INF/MANIFEST.MF", signedManifest)
	f.Add(rawJar(class, resource))
	class.zip64 = true
	f.Add(rawJar(resource, class, rawStored("../up", "x"), rawStored("META-INF/A.SF", "x"), rawStored("d/", "")))
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("A.class")
	if err != nil {
		f.Fatal(err)
	}
	io.WriteString(w, strings.Repeat("tag", 1000))
	if err := z.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(append([]byte("#!/bin/sh\n"), b.Bytes()...))
	f.Fuzz(func(t *testing.T, jar []byte) {
		dir := t.TempDir()
		path := filepath.Join(dir, "in.jar")
		if err := os.WriteFile(path, jar, 0o666); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"out.jar", "out"} {
			in, err := Open([]string{path})
			if err != nil {
				return
			}
			o := options(filepath.Join(dir, name))
			o.Workers = 1
			_, err = Rewrite(t.Context(), in, o)
			in.Close()
			checkWhole(t, o.Output, err)
		}
	})
}

// checkWhole fails unless there is a whole output, or an error and nothing.
func checkWhole(t *testing.T, output string, err error) {
	t.Helper()
	_, statErr := os.Stat(output)
	if (err == nil) != (statErr == nil) {
		t.Fatalf("%s: error %v, but the output: %v", output, err, statErr)
	}
	if err == nil {
		in, err := Open([]string{output})
		if err != nil {
			t.Fatalf("%s can't be read again: %v", output, err)
		}
		in.Close()
	}
	entries, err := os.ReadDir(filepath.Dir(output))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			t.Fatalf("%s is left behind", e.Name())
		}
	}
}
