package mapping

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var sample = []Row{
	Option("exits", "normal"),
	{ID: 0xffffffffffff, Kind: "method", Class: "com.acme.Foo$Bar", Method: "<init>", Descriptor: "(I)V",
		File: "Foo.java", Line: 12, Flags: "constructor", BodyHash: 0xfedcba9876543210, BodySize: 17},
	{ID: 0xabc, Kind: "method", Class: "com.acme.Übung", Method: `a, "b"`, Descriptor: "()V", Site: 3,
		Flags: "synchronized suspend", BodyHash: 1},
}

func TestEncodeReadRoundTrip(t *testing.T) {
	content, hash := Encode(sample)
	m, err := Read(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sample[1:], m.Rows()); diff != "" {
		t.Errorf("rows (-written +read):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"normal"}, m.Option("exits")); diff != "" {
		t.Errorf("option exits (-written +read):\n%s", diff)
	}
	if diff := cmp.Diff([]string{hash}, m.Hashes()); diff != "" {
		t.Errorf("hash (-of Encode +of Read):\n%s", diff)
	}
	if !IsFileName(FileName(hash)) {
		t.Errorf("IsFileName(%q) = false", FileName(hash))
	}
}

func TestEncodeLayout(t *testing.T) {
	content, _ := Encode(sample[1:2])
	want := "id,kind,class,method,descriptor,site,file,line,flags,body_hash,body_size\n" +
		"ffffffffffff,method,com.acme.Foo$Bar,<init>,(I)V,0,Foo.java,12,constructor,fedcba9876543210,17\n"
	if got := string(content); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
}

func TestReadConcatenatedMaps(t *testing.T) {
	a, _ := Encode(sample[:2])
	b, _ := Encode([]Row{Option("exits", "all"), sample[1], sample[2]})
	m, err := Read(bytes.NewReader(append(a, b...)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sample[1:], m.Rows()); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"normal", "all"}, m.Option("exits")); diff != "" {
		t.Errorf("option exits (-want +got):\n%s", diff)
	}
}

func TestReadAcceptsOtherColumnOrderAndUnknownColumns(t *testing.T) {
	m, err := Read(strings.NewReader("method,future,class,kind,id\nrun,x,A,method,00000000000a\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []Row{{ID: 10, Kind: "method", Class: "A", Method: "run"}}
	if diff := cmp.Diff(want, m.Rows()); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func TestReadRefusesWhatIsNoMap(t *testing.T) {
	const header = "id,kind,class,method,descriptor,site,file,line,flags,body_hash,body_size\n"
	for _, test := range []struct{ name, in, want string }{
		{"empty", "", "not a probe map: it is empty"},
		{"other CSV", "key,value\n", `line 1: not a probe map: the header has no column "id"`},
		{"id is no number", header + "xyz,method,A,b,()V,0,,0,,0,0\n", `line 2: id "xyz" is not a number of 12 hex digits`},
		{"id has 52 bits", header + "fffffffffffff,method,A,b,()V,0,,0,,0,0\n", `line 2: id "fffffffffffff" is not a number of 12 hex digits`},
		{"id is missing", header + ",method,A,b,()V,0,,0,,0,0\n", `line 2: id "" is not a number of 12 hex digits`},
		{"negative line", header + "1,method,A,b,()V,0,,-4,,0,0\n", `line 2: line "-4" is not a number`},
		{"short row", header + "1,method,A\n", "line 2: 3 fields instead of 11"},
		{"open quote", header + "1,method,\"A\n", `line 2: extraneous or missing " in quoted-field`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Read(strings.NewReader(test.in))
			if err == nil || err.Error() != test.want {
				t.Errorf("got error %v, want %s", err, test.want)
			}
		})
	}
}

func TestLookup(t *testing.T) {
	var m Map
	if _, ok := m.Lookup(1); ok {
		t.Error("an empty map has id 1")
	}
	foo := Row{ID: 1, Kind: "method", Class: "com.acme.Foo", Method: "a", Descriptor: "()V", Line: 3}
	older := foo
	older.Line, older.BodyHash = 4, 99 // the same method in META-INF/versions/9
	m.AddRow(foo)
	m.AddRow(older)
	if got, ok := m.Lookup(1); !ok || got != foo {
		t.Errorf("the same probe twice: got %v, %v; want the first row", got, ok)
	}

	bar := Row{ID: 1, Kind: "method", Class: "com.acme.Bar", Method: "b", Descriptor: "(J)V"}
	m.AddRow(bar)
	m.AddRow(foo)
	m.AddRow(bar)
	got, ok := m.Lookup(1)
	want := Row{ID: 1, Kind: "method", Class: "ambiguous", Method: "com.acme.Foo#a()V or com.acme.Bar#b(J)V", Flags: "ambiguous"}
	if !ok || got != want || !got.HasFlag(FlagAmbiguous) {
		t.Errorf("two probes with one id: got %+v, %v; want %+v", got, ok, want)
	}
	if diff := cmp.Diff([]Row{foo, bar}, m.AmbiguousRows(1)); diff != "" {
		t.Errorf("AmbiguousRows (-want +got):\n%s", diff)
	}
	if m.Len() != 1 {
		t.Errorf("Len() = %d, want 1", m.Len())
	}
}

func TestLoadNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "broken.csv")
	if err := os.WriteFile(path, []byte("nonsense\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := Load(path)
	if err == nil || !strings.HasPrefix(err.Error(), path+": line 1: ") {
		t.Errorf("got error %v, want one that starts with the path and the line", err)
	}
	missing := filepath.Join(t.TempDir(), "missing.csv")
	if _, err = Load(missing); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("got error %v, want one that names %s", err, missing)
	}
}

// manyRows is about what a large app has.
func manyRows(n int) []Row {
	rows := make([]Row, n)
	for i := range rows {
		rows[i] = Row{
			ID: uint64(i+1) * 0x9e3779b97f4a % (1 << 48), Kind: "method",
			Class: fmt.Sprintf("com.acme.module%d.Class%d", i%50, i/10), Method: fmt.Sprintf("method%d", i%10),
			Descriptor: "(ILjava/lang/String;)V", File: fmt.Sprintf("Class%d.java", i/10), Line: i % 900, BodyHash: uint64(i), BodySize: i % 300,
		}
	}
	return rows
}

func BenchmarkRead200000Rows(b *testing.B) {
	content, _ := Encode(manyRows(200_000))
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		if _, err := Read(bytes.NewReader(content)); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzRead(f *testing.F) {
	content, _ := Encode(sample)
	f.Add(content)
	f.Add([]byte("id,kind,class,method\nid\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		m, err := Read(bytes.NewReader(in))
		if err != nil {
			return
		}
		for _, r := range m.Rows() {
			if got, ok := m.Lookup(r.ID); !ok || got != r {
				t.Fatalf("Lookup(%012x) = %v, %v; want %v", r.ID, got, ok, r)
			}
		}
	})
}
