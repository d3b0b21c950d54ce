package archive

import (
	"bytes"
	"strings"
)

// withoutDigests returns a manifest without the digests of a signature (JAR File Specification, "Signed JAR File"), and
// without the sections that held nothing else. All other bytes stay as they are.
func withoutDigests(manifest []byte) []byte {
	out := make([]byte, 0, len(manifest))
	for rest, main := manifest, true; len(rest) > 0; main = false {
		var s section
		s, rest = cutSection(rest)
		kept, removed := s.attributes[:0:0], false
		for _, a := range s.attributes {
			if isDigest(a) {
				removed = true
				continue
			}
			kept = append(kept, a)
		}
		onlyName := len(kept) == 1 && attributeName(kept[0]) == "NAME"
		if removed && !main && onlyName {
			continue
		}
		for _, a := range kept {
			out = append(out, a...)
		}
		out = append(out, s.end...)
	}
	return out
}

// hasDigests reports whether withoutDigests would change the manifest.
func hasDigests(manifest []byte) bool {
	return len(withoutDigests(manifest)) != len(manifest)
}

// section is one section of a manifest: its attributes with their continuation lines, and the empty lines that end it.
type section struct {
	attributes [][]byte
	end        []byte
}

// cutSection splits off the first section.
func cutSection(manifest []byte) (s section, rest []byte) {
	rest = manifest
	for len(rest) > 0 && !isNewline(rest[0]) {
		n := lineLength(rest)
		for n < len(rest) && rest[n] == ' ' { // continuation lines
			n += lineLength(rest[n:])
		}
		s.attributes = append(s.attributes, rest[:n])
		rest = rest[n:]
	}
	n := 0
	for n < len(rest) && isNewline(rest[n]) {
		n++
	}
	s.end = rest[:n]
	return s, rest[n:]
}

// lineLength returns the length of the first line with its end: CR LF, LF or CR.
func lineLength(b []byte) int {
	i := bytes.IndexAny(b, "\r\n")
	switch {
	case i < 0:
		return len(b)
	case b[i] == '\r' && i+1 < len(b) && b[i+1] == '\n':
		return i + 2
	}
	return i + 1
}

func isNewline(c byte) bool { return c == '\r' || c == '\n' }

// attributeName returns an attribute's name in upper case; names are compared without regard to case.
func attributeName(attribute []byte) string {
	name, _, _ := bytes.Cut(attribute, []byte(":"))
	return strings.ToUpper(string(name))
}

// isDigest reports whether the attribute is x-Digest, or x-Digest-y where y is a language.
func isDigest(attribute []byte) bool {
	name := attributeName(attribute)
	return strings.HasSuffix(name, "-DIGEST") || strings.Contains(name, "-DIGEST-")
}

// mergeLines returns the lines of all files in order, each line once. It makes one provider-configuration file of
// several: java.util.ServiceLoader finds the providers that it would have found in all.
func mergeLines(files [][]byte) []byte {
	var out []byte
	seen := make(map[string]bool)
	for _, file := range files {
		for line := range bytes.Lines(file) {
			text := strings.TrimSpace(string(line))
			if text != "" && seen[text] {
				continue
			}
			seen[text] = true
			out = append(out, bytes.TrimRight(line, "\r\n")...)
			out = append(out, '\n')
		}
	}
	return out
}
