package mapping

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// writeJar makes a jar of the entries, given as name, content, name, content, …
func writeJar(t *testing.T, path string, entries ...string) {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(entries); i += 2 {
		w, err := z.Create(entries[i])
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, entries[i+1])
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, b.String())
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestFindInClassPath(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	content, hash := Encode(sample)
	name := FileName(hash)
	writeJar(t, at("app.jar"), "com/acme/Foo.class", "", name, string(content))
	writeJar(t, at("two.jar"), name, string(content), FileName("0000000000000001"), "id\n")
	writeJar(t, at("lib/a.jar"), name, string(content))
	writeJar(t, at("lib/b.JAR"), name, string(content))
	writeJar(t, at("lib/none.jar"), "com/acme/Foo.class", "")
	writeJar(t, at("lib/c.zip"), name, string(content))
	writeFile(t, at("lib/readme.txt"), "not a jar")
	writeFile(t, at("classes/"+name), string(content))
	writeFile(t, at("classes/META-INF/jiffy/other.csv"), "")
	writeFile(t, at("text.jar"), "not a jar")
	writeJar(t, at("launcher.jar"), "META-INF/MANIFEST.MF",
		"Manifest-Version: 1.0\r\nClass-Path: lib/none.jar with%20bla\r\n nk.jar ../missing.jar\r\n  launcher.jar https://acme.com/x.jar\r\n\r\nName: x\r\nClass-Path: app.jar\r\n")
	writeJar(t, at("with blank.jar"), name, string(content))

	for _, test := range []struct {
		name, classPath string
		want            []string
	}{
		{"jar", "app.jar", []string{"app.jar!" + name}},
		{"absolute jar", at("app.jar"), []string{"app.jar!" + name}},
		{"order of the path, each once", "classes:app.jar:./app.jar:classes", []string{"classes/" + name, "app.jar!" + name}},
		{"several maps in a jar", "two.jar", []string{"two.jar!" + name, "two.jar!" + FileName("0000000000000001")}},
		{"wildcard takes jars only", "lib/*", []string{"lib/a.jar!" + name, "lib/b.JAR!" + name}},
		{"manifest's class path", "launcher.jar", []string{"with blank.jar!" + name}},
		{"missing and unreadable entries", "nope.jar:nope/*:text.jar:lib/readme.txt:app.jar", []string{"app.jar!" + name}},
		{"empty entry is the directory", "", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			sources, err := FindInClassPath(test.classPath, dir)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range sources {
				got = append(got, strings.TrimPrefix(s.Name, dir+string(filepath.Separator)))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("sources (-want +got):\n%s", diff)
			}
		})
	}

	t.Run("sources can be read", func(t *testing.T) {
		sources, err := FindInClassPath("app.jar:classes", dir)
		if err != nil {
			t.Fatal(err)
		}
		m, err := LoadSources(sources...)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(sample[1:], m.Rows()); diff != "" {
			t.Errorf("rows (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{hash}, m.Hashes()); diff != "" {
			t.Errorf("hashes (-want +got):\n%s", diff)
		}
	})
}

func TestFindInModulePath(t *testing.T) {
	dir := t.TempDir()
	content, hash := Encode(sample)
	writeFile(t, filepath.Join(dir, "mods", "exploded", filepath.FromSlash(FileName(hash))), string(content))
	writeJar(t, filepath.Join(dir, "mods", "m.jar"), FileName(hash), string(content))
	sources, err := FindInModulePath("mods", dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(sources) != 2 {
		t.Errorf("got %d sources, want one in the exploded module and one in the jar: %v", len(sources), sources)
	}
}
