package archive

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/flate"
)

// rawEntry is an entry whose headers say what the test wants.
type rawEntry struct {
	name                string
	flags, method       uint16
	crc                 uint32
	compressed, content uint32 // the sizes that are declared; ^0 takes them from zip64
	zip64               bool
	data                string
	offset              *uint32 // of the local header, as declared
}

// rawStored is an entry without tricks, to start from.
func rawStored(name, data string) rawEntry {
	return rawEntry{
		name: name, data: data, crc: crc32.ChecksumIEEE([]byte(data)), compressed: uint32(len(data)), content: uint32(len(data)),
	}
}

// rawJar lays out a jar byte by byte (APPNOTE.TXT 4.3).
func rawJar(entries ...rawEntry) []byte {
	le := binary.LittleEndian
	var out, central []byte
	for _, e := range entries {
		offset := uint32(len(out))
		var extra []byte
		compressed, content := e.compressed, e.content
		if e.zip64 {
			extra = le.AppendUint16(le.AppendUint16(nil, 1), 16)
			extra = le.AppendUint64(le.AppendUint64(extra, uint64(content)), uint64(compressed))
			compressed, content = ^uint32(0), ^uint32(0)
		}
		common := le.AppendUint16(le.AppendUint16(nil, e.flags), e.method)
		common = le.AppendUint32(le.AppendUint32(common, 0x5a216000), e.crc)
		common = le.AppendUint32(le.AppendUint32(common, compressed), content)
		common = le.AppendUint16(le.AppendUint16(common, uint16(len(e.name))), uint16(len(extra)))

		out = append(append(append(out, "PK\x03\x04\x2d\x00"...), common...), e.name...)
		out = append(append(out, extra...), e.data...)
		if e.offset != nil {
			offset = *e.offset
		}
		central = append(append(central, "PK\x01\x02\x2d\x00\x2d\x00"...), common...)
		central = append(central, make([]byte, 10)...) // comment, disk, attributes
		central = append(le.AppendUint32(central, offset), e.name...)
		central = append(central, extra...)
	}
	start := len(out)
	out = append(append(out, central...), "PK\x05\x06\x00\x00\x00\x00"...)
	out = le.AppendUint16(le.AppendUint16(out, uint16(len(entries))), uint16(len(entries)))
	out = le.AppendUint32(le.AppendUint32(out, uint32(len(central))), uint32(start))
	return le.AppendUint16(out, 0)
}

func TestZip64(t *testing.T) {
	dir := t.TempDir()
	class, resource := rawStored("A.class", "tag"), rawStored("r.txt", "resource")
	class.zip64, resource.zip64 = true, true
	in := writeFile(t, filepath.Join(dir, "in.jar"), string(rawJar(class, resource)))
	mustRewrite(t, options(filepath.Join(dir, "out.jar")), in)
	want := []string{"A.class stored tag#", "r.txt stored resource"}
	if diff := cmp.Diff(want, readJar(t, filepath.Join(dir, "out.jar"))); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	mustRewrite(t, options(filepath.Join(dir, "out")), in)
	if diff := cmp.Diff([]string{"A.class tag#", "r.txt resource"}, readDir(t, filepath.Join(dir, "out"))); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// streamed reads a jar as java.util.zip.ZipInputStream does, by its local headers alone, and returns its entries.
func streamed(t *testing.T, path string) []string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	var entries []string
	for bytes.HasPrefix(b, []byte("PK\x03\x04")) {
		flags, method, crc := le.Uint16(b[6:]), le.Uint16(b[8:]), le.Uint32(b[14:])
		compressed, size := int(le.Uint32(b[18:])), int(le.Uint32(b[22:]))
		name := string(b[30 : 30+le.Uint16(b[26:])])
		if extra := b[30+len(name):][:le.Uint16(b[28:])]; bytes.HasPrefix(extra, []byte{1, 0}) {
			t.Errorf("%s: has a zip64 field without need", name)
		}
		b = b[30+len(name)+int(le.Uint16(b[28:])):]
		var content []byte
		rest := bytes.NewReader(b)
		switch {
		case method == zip.Deflate:
			if content, err = io.ReadAll(flate.NewReader(rest)); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		case flags&flagDescriptor != 0:
			t.Fatalf("%s: is stored, and its size follows the data", name)
		default:
			content = make([]byte, size)
			if _, err := io.ReadFull(rest, content); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		used := len(b) - rest.Len()
		if b = b[used:]; flags&flagDescriptor != 0 { // signature, checksum, two sizes
			crc, compressed, size = le.Uint32(b[4:]), int(le.Uint32(b[8:])), int(le.Uint32(b[12:]))
			b = b[16:]
		}
		if crc != crc32.ChecksumIEEE(content) || size != len(content) || compressed != used {
			t.Errorf("%s: declares checksum %08x and sizes %d, %d; has %08x, %d, %d", name, crc, compressed, size,
				crc32.ChecksumIEEE(content), used, len(content))
		}
		entries = append(entries, name+" "+string(content))
	}
	if !bytes.HasPrefix(b, []byte("PK\x01\x02")) {
		t.Errorf("behind the last entry come %q, not the central directory", b[:min(len(b), 4)])
	}
	return entries
}

func TestOutputCanBeReadAsAStream(t *testing.T) {
	dir := t.TempDir()
	zip64 := rawStored("Z.class", "tag")
	zip64.zip64 = true
	raw := writeFile(t, filepath.Join(dir, "raw.jar"), string(rawJar(
		zip64, rawEntry{name: "com/", method: zip.Deflate, compressed: 2, data: "\x03\x00"}, rawStored("S.class", "tag"), rawStored("r", "x"))))
	// The standard library writes data descriptors.
	written := writeJar(t, filepath.Join(dir, "written.jar"), deflated("D.class", "tag"), deflated("r", "x"), deflated("L.class", "left"))
	files := filepath.Join(dir, "files")
	writeFile(t, filepath.Join(files, "F.class"), "tag")
	large := strings.Repeat("x", maxWhole+1)
	writeFile(t, filepath.Join(files, "large"), large)
	for _, test := range []struct {
		input string
		want  []string
	}{
		{raw, []string{"Z.class tag#", "com/ ", "S.class tag#", "r x", "new n"}},
		{written, []string{"D.class tag#", "r x", "L.class left", "new n"}},
		{files, []string{"F.class tag#", "large " + large, "new n"}},
	} {
		for _, c := range []Compression{Keep, Store, Deflate} {
			o := options(filepath.Join(dir, "out.jar"))
			o.Compression = c
			o.Added = func([]string) ([]File, error) { return []File{{"new", []byte("n")}}, nil }
			mustRewrite(t, o, test.input)
			if diff := cmp.Diff(test.want, streamed(t, o.Output)); diff != "" {
				t.Errorf("%s, compression %d: entries (-want +got):\n%s", filepath.Base(test.input), c, diff)
			}
		}
	}
}

func TestMoreEntriesThanSixteenBitsCount(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 70,000 entries")
	}
	dir := t.TempDir()
	var entries []entry
	for i := range 70_000 {
		entries = append(entries, stored(fmt.Sprintf("%d.txt", i), ""))
	}
	entries = append(entries, stored("A.class", "tag"))
	in := writeJar(t, filepath.Join(dir, "in.jar"), entries...)
	out := filepath.Join(dir, "out.jar")
	mustRewrite(t, options(out), in)
	got := readJar(t, out)
	if len(got) != 70_001 || got[70_000] != "A.class stored tag#" || got[65_536] != "65536.txt stored " {
		t.Errorf("got %d entries, the last one %q", len(got), got[len(got)-1])
	}
}

// TestDirectoriesWithData covers directories that are deflated to two bytes, as some versions of the jar tool write them.
func TestDirectoriesWithData(t *testing.T) {
	dir := t.TempDir()
	d := rawEntry{name: "com/", method: zip.Deflate, compressed: 2, data: "\x03\x00"}
	in := writeFile(t, filepath.Join(dir, "in.jar"), string(rawJar(d, rawStored("com/A.class", "tag"))))
	out := filepath.Join(dir, "out.jar")
	mustRewrite(t, options(out), in)
	if diff := cmp.Diff([]string{"com/ stored ", "com/A.class stored tag#"}, readJar(t, out)); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	mustRewrite(t, options(filepath.Join(dir, "out")), in)
}

func TestScriptBeforeTheJarIsKept(t *testing.T) {
	dir := t.TempDir()
	jar, err := os.ReadFile(writeJar(t, filepath.Join(dir, "plain.jar"), deflated("A.class", "tag"), deflated("b", "b")))
	if err != nil {
		t.Fatal(err)
	}
	const script = "#!/bin/sh\n# PK\x03\x04 is how a jar starts\nexec java -jar \"$0\"\n"
	in := writeFile(t, filepath.Join(dir, "in.jar"), script+string(jar))
	if err := os.Chmod(in, 0o755); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out.jar")
	mustRewrite(t, options(out), in)
	if diff := cmp.Diff([]string{"A.class deflated tag#", "b deflated b"}, readJar(t, out)); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(b), script+"PK\x03\x04") {
		t.Errorf("the output starts with %q", b[:len(script)+4])
	}
	// Offsets count from the start of the file, as tools that don't guess need it.
	end := bytes.LastIndex(b, []byte("PK\x05\x06"))
	if at := binary.LittleEndian.Uint32(b[end+16:]); !bytes.HasPrefix(b[at:], []byte("PK\x01\x02")) {
		t.Errorf("the central directory is not at its offset %d", at)
	}
	if info, err := os.Stat(out); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("mode %v, want 0755", info.Mode())
	}
}

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
	long := rawStored("r", "x")
	long.compressed, long.content = 100, 100 // reaches into the central directory
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

func TestWriteFileOnAFullDisk(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("/dev/full is Linux's")
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	dir := t.TempDir()
	err = WriteFile(filepath.Join(dir, "map.csv"), func(io.Writer) error { _, err := full.WriteString("x"); return err })
	if want := filepath.Join(dir, "map.csv") + ": no space left on device"; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
	onlyFiles(t, dir)
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
