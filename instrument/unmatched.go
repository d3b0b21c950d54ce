package instrument

import (
	"fmt"
	"strings"

	"github.com/jiffyperf/jiffy/instrument/rules"
)

// unmatched returns a warning for each include pattern that selected nothing, and one if nothing was instrumented for
// another reason.
func (j *job) unmatched(classes []class, instrumented int) []string {
	var names []string
	for i := range classes {
		if classes[i].name != "" {
			names = append(names, classes[i].name)
		}
	}
	if len(names) == 0 {
		return []string{"the inputs hold no classes"}
	}
	var warnings []string
	for _, p := range j.options.Rules.Include() {
		switch matched := matchedClasses(p, classes); {
		case len(matched) == 0:
			warnings = append(warnings, fmt.Sprintf("--include %s matches no class; the closest is %s", p, p.Closest(names)))
		case !hasMethod(p, matched):
			warnings = append(warnings, fmt.Sprintf("--include %s matches %s, but none of their methods", p, count(len(matched), "class")))
		}
	}
	if instrumented == 0 && warnings == nil {
		warnings = append(warnings, "no method was instrumented: all are excluded or can't be")
	}
	return warnings
}

// matchedClasses returns the classes that a pattern's class part selects.
func matchedClasses(p *rules.Pattern, classes []class) []*class {
	var matched []*class
	for i := range classes {
		if c := &classes[i]; c.name != "" && p.MatchClass([]byte(strings.ReplaceAll(c.name, ".", "/"))) {
			matched = append(matched, c)
		}
	}
	return matched
}

// hasMethod reports whether a pattern selects a method of the classes that was instrumented, or was listed with a reason.
func hasMethod(p *rules.Pattern, classes []*class) bool {
	if !p.OfMethods() {
		return true
	}
	for _, c := range classes {
		if c.kept {
			return true // it was not read, so what it has beside its probes is not known
		}
		for _, r := range c.probes {
			if p.MatchMethod([]byte(r.Method), []byte(r.Descriptor)) {
				return true
			}
		}
		for _, s := range c.skipped {
			if p.MatchMethod([]byte(s.Method), []byte(s.Desc)) {
				return true
			}
		}
	}
	return false
}
