// Package mapping is the probe map: which class, method and source line a probe id stands for.
//
// A map is a set of rows in CSV. Probe ids are content-addressed, so maps of different jars, modules and builds can be
// concatenated; nothing in a row depends on another row.
package mapping

import "strings"

// Kinds of row that are not probes.
const (
	// KindOption is the kind of a row that carries a build option: its class is the key, its method the value.
	KindOption = "option"
)

// FlagAmbiguous marks the row that Lookup gives for an id which two different names share.
const FlagAmbiguous = "ambiguous"

// A Row is one probe of the map: where it sits, and what the method's body was before the probe was put in.
type Row struct {
	ID         uint64 // 48 bits; printed as 12 hex digits; zero in rows of kind option
	Kind       string // "method", …; KindOption for build options
	Class      string // binary name with dots (JLS §13.1): com.acme.Foo$Bar
	Method     string // name as in the class file: bar, <init>
	Descriptor string // method descriptor (JVMS §4.3.3): (I)V
	Site       int    // ordinal of the probe among those of one kind in one method, from 0
	File       string // SourceFile attribute (JVMS §4.7.10); "" if the class has none
	Line       int    // first line of the method (JVMS §4.7.12); 0 if not known
	Flags      string // separated by spaces: synchronized suspend constructor …
	BodyHash   uint64 // hash of the original body; printed as 16 hex digits
	BodySize   int    // bytes of the original code array
}

// Option returns the row that carries the build option key.
func Option(key, value string) Row {
	return Row{Kind: KindOption, Class: key, Method: value}
}

// HasFlag reports whether flag is one of r's flags.
func (r Row) HasFlag(flag string) bool {
	for f := range strings.FieldsSeq(r.Flags) {
		if f == flag {
			return true
		}
	}
	return false
}

// SameProbe reports whether r and o name the same probe. Their bodies and lines may differ: a multi-release jar holds one
// class several times.
func (r Row) SameProbe(o Row) bool {
	return r.Kind == o.Kind && r.Class == o.Class && r.Method == o.Method && r.Descriptor == o.Descriptor && r.Site == o.Site
}

// Name returns the probe's place as messages give it: com.acme.Foo#bar(I)V.
func (r Row) Name() string {
	return r.Class + "#" + r.Method + r.Descriptor
}
