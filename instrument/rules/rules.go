// Package rules decides which methods are instrumented: include and exclude patterns, and the configuration file that
// holds them.
package rules

import "bytes"

// ownPackage is where the runtime lives. It never instruments itself.
const ownPackage = "io/github/jiffyperf/"

// Rules say which methods are instrumented: those that match an include pattern, or all if there is none, and that match no exclude
// pattern. jiffy's own classes never do. Rules are used from several goroutines at a time, and allocate nothing.
type Rules struct {
	include, exclude []*Pattern
}

// New parses the patterns. The error is a *PatternError.
func New(include, exclude []string) (*Rules, error) {
	r := new(Rules)
	for _, list := range []struct {
		texts []string
		to    *[]*Pattern
	}{{include, &r.include}, {exclude, &r.exclude}} {
		for _, text := range list.texts {
			p, err := Parse(text)
			if err != nil {
				return nil, err
			}
			*list.to = append(*list.to, p)
		}
	}
	return r, nil
}

// Include returns the include patterns.
func (r *Rules) Include() []*Pattern { return r.include }

// Exclude returns the exclude patterns.
func (r *Rules) Exclude() []*Pattern { return r.exclude }

// MatchClass reports whether all methods of a class match, or only some may, so that MatchMethod has to be asked. The name
// is internal: java/util/Map$Entry.
func (r *Rules) MatchClass(internalName []byte) (all, some bool) {
	if bytes.HasPrefix(internalName, []byte(ownPackage)) {
		return false, false
	}
	all = len(r.include) == 0
	for _, p := range r.include {
		if p.MatchClass(internalName) {
			all = all || !p.ofMethods
			some = true
		}
	}
	if !all && !some {
		return false, false
	}
	for _, p := range r.exclude {
		if !p.MatchClass(internalName) {
			continue
		}
		if !p.ofMethods {
			return false, false
		}
		all, some = false, true
	}
	return all, !all && some
}

// MatchMethod reports whether one method matches.
func (r *Rules) MatchMethod(class, method, desc []byte) bool {
	if bytes.HasPrefix(class, []byte(ownPackage)) {
		return false
	}
	if len(r.include) > 0 && !matchAny(r.include, class, method, desc) {
		return false
	}
	return !matchAny(r.exclude, class, method, desc)
}

func matchAny(patterns []*Pattern, class, method, desc []byte) bool {
	for _, p := range patterns {
		if p.MatchClass(class) && p.MatchMethod(method, desc) {
			return true
		}
	}
	return false
}
