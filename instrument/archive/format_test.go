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
