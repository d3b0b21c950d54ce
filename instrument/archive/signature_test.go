package archive

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWithoutDigests(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"nothing to remove", "Manifest-Version: 1.0\r\nMain-Class: a.B\r\n\r\n", "Manifest-Version: 1.0\r\nMain-Class: a.B\r\n\r\n"},
		{"sections that only hold digests",
			"Manifest-Version: 1.0\r\n\r\nName: a/B.class\r\nSHA-256-Digest: abc=\r\n\r\nName: a/C.class\r\nSHA-256-Digest: def=\r\n\r\n",
			"Manifest-Version: 1.0\r\n\r\n"},
		{"section that holds more",
			"Manifest-Version: 1.0\n\nName: a/\nSealed: true\nSHA1-Digest: abc=\n\n",
			"Manifest-Version: 1.0\n\nName: a/\nSealed: true\n\n"},
		{"long name and long digest are continued",
			"A: 1\r\n\r\nName: a/very/long\r\n  name.class\r\nSHA-512-Digest: abc\r\n def=\r\n\r\nName: x\r\nB: c\r\n d\r\n",
			"A: 1\r\n\r\nName: x\r\nB: c\r\n d\r\n"},
		{"digest for a language", "A: 1\n\nName: x\nMD5-Digest-de: abc=\n\n", "A: 1\n\n"},
		{"lower case, old Mac line ends, no end", "A: 1\r\rname: x\rsha-256-digest: abc=", "A: 1\r\r"},
		{"section that was empty before", "A: 1\n\nName: x\n\nName: y\nSHA1-Digest: abc=\n", "A: 1\n\nName: x\n\n"},
		{"main section with a digest", "Manifest-Version: 1.0\nSHA1-Digest: x\n\n", "Manifest-Version: 1.0\n\n"},
		{"value that looks like one", "A: SHA1-Digest\nB-Digester: x\n\n", "A: SHA1-Digest\nB-Digester: x\n\n"},
		{"empty", "", ""},
		{"only line ends", "\n\r\n", "\n\r\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, string(withoutDigests([]byte(test.in)))); diff != "" {
				t.Errorf("manifest (-want +got):\n%s", diff)
			}
			if got, want := hasDigests([]byte(test.in)), test.in != test.want; got != want {
				t.Errorf("hasDigests = %v, want %v", got, want)
			}
		})
	}
}

const signedManifest = "Manifest-Version: 1.0\r\nMain-Class: A\r\n\r\nName: A.class\r\nSHA-256-Digest: abc=\r\n\r\n"

func signedJar(t *testing.T, path, class string) string {
	return writeJar(t, path,
		deflated("META-INF/MANIFEST.MF", signedManifest), deflated("META-INF/KEY.SF", "sf"), deflated("META-INF/key.rsa", "rsa"),
		deflated("META-INF/KEY.EC", "ec"), deflated("META-INF/SIG-1", "sig"), deflated("META-INF/sub/KEY.SF", "not a signature"),
		deflated("A.class", class))
}

func TestSignatureIsDroppedWhenAClassChanged(t *testing.T) {
	dir := t.TempDir()
	in := signedJar(t, filepath.Join(dir, "in.jar"), "tag")
	outcome := mustRewrite(t, options(filepath.Join(dir, "out.jar")), in)
	want := []string{
		"META-INF/MANIFEST.MF deflated Manifest-Version: 1.0\r\nMain-Class: A\r\n\r\n",
		"META-INF/sub/KEY.SF deflated not a signature", "A.class deflated tag#",
	}
	if diff := cmp.Diff(want, readJar(t, filepath.Join(dir, "out.jar"))); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	if !outcome.SignaturesDropped {
		t.Error("SignaturesDropped is not set")
	}
}

func TestSignatureIsKeptWhenNothingChanged(t *testing.T) {
	dir := t.TempDir()
	in := signedJar(t, filepath.Join(dir, "in.jar"), "left")
	outcome := mustRewrite(t, options(filepath.Join(dir, "out.jar")), in)
	if diff := cmp.Diff(readJar(t, in), readJar(t, filepath.Join(dir, "out.jar"))); diff != "" {
		t.Errorf("entries (-in +out):\n%s", diff)
	}
	if outcome.SignaturesDropped || len(outcome.Reports) != 1 {
		t.Errorf("SignaturesDropped = %v, %d reports; want false, 1", outcome.SignaturesDropped, len(outcome.Reports))
	}
	onlyFiles(t, dir, "in.jar", "out.jar")
}

func TestSignaturesOfMergedJarsAreDropped(t *testing.T) {
	dir := t.TempDir()
	in := signedJar(t, filepath.Join(dir, "in.jar"), "left")
	other := writeJar(t, filepath.Join(dir, "other.jar"), deflated("B.class", "left"))
	mustRewrite(t, options(filepath.Join(dir, "out.jar")), in, other)
	want := []string{
		"META-INF/MANIFEST.MF deflated Manifest-Version: 1.0\r\nMain-Class: A\r\n\r\n",
		"META-INF/sub/KEY.SF deflated not a signature", "A.class deflated left", "B.class deflated left",
	}
	if diff := cmp.Diff(want, readJar(t, filepath.Join(dir, "out.jar"))); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}
