package instrument

import (
	"errors"
	"slices"
	"strings"

	"github.com/jiffyperf/jiffy/instrument/archive"
	"github.com/jiffyperf/jiffy/instrument/hotpath"
	"github.com/jiffyperf/jiffy/instrument/probe"
	"github.com/jiffyperf/jiffy/instrument/rules"
)

// reasonHot is why a class of the Java library stays as it is.
const reasonHot probe.Reason = "the runtime runs through it"

// hotSet holds the internal names of the classes among the inputs that the runtime runs through when a probe calls it. A probe in
// there would call itself.
type hotSet map[string]bool

// has reports whether a class is in the set, by its binary name.
func (h hotSet) has(class string) bool {
	return len(h) > 0 && h[strings.ReplaceAll(class, ".", "/")]
}

// hotClasses computes the set, if the inputs are a part of the Java library.
func hotClasses(in *archive.Inputs, runtime []archive.File) (hotSet, error) {
	library := slices.ContainsFunc(in.Entries(), func(e *archive.Entry) bool {
		return strings.HasSuffix(e.Name, ".class") && (strings.HasPrefix(e.Name, "java/") || strings.HasPrefix(e.Name, "jdk/internal/"))
	})
	if !library {
		return nil, nil
	}
	if len(runtime) == 0 {
		return nil, errors.New("the inputs are a part of the Java library, and what of it the runtime needs can't be told without the runtime: build jiffy with `make build`")
	}
	classes := make(map[string]*archive.Entry)
	for _, e := range in.Entries() {
		if name, ok := strings.CutSuffix(e.Name, ".class"); ok {
			classes[name] = e
		}
	}
	own := make(map[string][]byte)
	for _, f := range runtime {
		own[strings.TrimSuffix(f.Name, ".class")] = f.Content
	}
	hot := make(hotSet)
	for _, name := range hotpath.Classes(probe.Runtime, func(name string) []byte {
		if class, ok := own[name]; ok {
			return class
		}
		if e, ok := classes[name]; ok {
			if class, err := e.Content(); err == nil {
				return class
			}
		}
		return nil
	}) {
		hot[name] = true
	}
	return hot, nil
}

// matcher leaves the hot classes out of what the rules select.
type matcher struct {
	*rules.Rules
	hot hotSet
}

func (m matcher) MatchClass(internalName []byte) (all, some bool) {
	if m.hot[string(internalName)] {
		return false, false
	}
	return m.Rules.MatchClass(internalName)
}
