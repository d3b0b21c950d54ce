package verify

import (
	"archive/zip"
	"io"
	"strings"
	"testing"
)

// eachClass visits the classes of a jar.
func eachClass(t testing.TB, jar string, visit func(name string, data []byte)) {
	t.Helper()
	z, err := zip.OpenReader(jar)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, f := range z.File {
		if !strings.HasSuffix(f.Name, ".class") {
			continue
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		r.Close()
		visit(f.Name, data)
	}
}
