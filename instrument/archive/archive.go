// Package archive takes jars, directories and single classes in and writes a jar or a directory out.
//
// Classes are handed to a Rewriter, in parallel; everything else is copied as it is. The output has the order of the
// inputs, is the same for any number of workers, and appears under its name only when it is complete.
package archive

import (
	"fmt"
	"strings"
)

// A Rewriter rewrites classes, one after the other. Every worker has its own, so it needs no locks and can keep its memory.
// R is what it has to say about a class.
type Rewriter[R any] interface {
	// Rewrite returns what stands in for the class, or nil if the class stays as it is. class must not be changed or kept;
	// out need be valid only until the next call.
	Rewrite(e *Entry, class []byte) (out []byte, report R)
	// Unreadable reports a class whose bytes can't be had: it is encrypted, its checksum is wrong, … It is copied as it is.
	Unreadable(e *Entry, err error) R
}

// A File is an entry that no input has.
type File struct {
	Name    string // path in the jar, with slashes
	Content []byte
}

// Compression says how changed classes and added files are kept in an output jar. Everything else stays as it was.
type Compression int

const (
	Keep    Compression = iota // as the class was in its input; deflated if it was in no jar
	Store                      // not compressed: larger, and fastest to write and to load
	Deflate                    // compressed
)

// ParseCompression returns the Compression of that name: keep, store or deflate.
func ParseCompression(name string) (Compression, error) {
	switch name {
	case "keep":
		return Keep, nil
	case "store":
		return Store, nil
	case "deflate":
		return Deflate, nil
	}
	return Keep, fmt.Errorf("compression %q is not keep, store or deflate", name)
}

// Options are what Rewrite needs beside its inputs.
type Options[R any] struct {
	// Output is the jar to write if it ends in .jar, else the directory.
	Output string
	// Workers is how many classes are rewritten at a time; at least 1.
	Workers     int
	Compression Compression
	// NewRewriter is called once for each worker.
	NewRewriter func() Rewriter[R]
	// Keep reports whether an entry that is no directory is known to be, in the output directory as it is now, what it would become
	// again, and so need not be read. Of a class it says what it said then, and whether the class changed. It may be nil, and is
	// called from one goroutine.
	Keep func(e *Entry) (report R, changed, ok bool)
	// Added returns the files to add at the output's end. It may be nil, and is given the reports of all classes in the
	// order of the inputs.
	Added func(reports []R) ([]File, error)
	// BeforeCommit is called when the output is complete and not yet visible. If it fails there will be no output. It may be nil.
	BeforeCommit func(*Outcome[R]) error
	// Progress is called from one goroutine with the bytes of input that are done, of how many. It may be nil.
	Progress func(done, total int64)
}

// An Outcome is what Rewrite did.
type Outcome[R any] struct {
	Reports []R // of all classes, in the order of the inputs
	Changed int // classes that changed
	// SignaturesDropped is set if a jar was signed, and isn't any more because a class changed.
	SignaturesDropped bool
	// Nested are the jars inside the inputs. They are copied as they are.
	Nested []string
	// Duplicates are the entries that were left out because an earlier input has one of that name, as on a class path.
	// Only those whose content differs, or may differ, are listed.
	Duplicates []string
}

// JarName reports whether an output of this name is a jar.
func JarName(path string) bool { return strings.HasSuffix(path, ".jar") }

// isNested reports whether an entry is an archive of classes of its own.
func isNested(name string) bool {
	for _, suffix := range []string{".jar", ".war", ".aar", ".jmod"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}

// isSignature reports whether an entry is part of a jar's signature (JAR File Specification, "Signed JAR File").
func isSignature(name string) bool {
	const meta = "META-INF/"
	if len(name) < len(meta) || !strings.EqualFold(name[:len(meta)], meta) {
		return false
	}
	file := strings.ToUpper(name[len(meta):])
	if strings.Contains(file, "/") {
		return false
	}
	if strings.HasPrefix(file, "SIG-") {
		return true
	}
	for _, suffix := range []string{".SF", ".DSA", ".RSA", ".EC"} {
		if strings.HasSuffix(file, suffix) {
			return true
		}
	}
	return false
}

func isManifest(name string) bool { return strings.EqualFold(name, "META-INF/MANIFEST.MF") }

// isServices reports whether an entry is a provider-configuration file (java.util.ServiceLoader).
func isServices(name string) bool {
	rest, ok := strings.CutPrefix(name, "META-INF/services/")
	return ok && rest != "" && !strings.Contains(rest, "/")
}
