package rules

import (
	"maps"
	"slices"
	"strings"
)

// Closest returns what exists and is most like a pattern's class part: a pattern for a class, or for a package, of those
// given. Classes are binary names (com.acme.Foo). It returns "" if there are no classes.
func (p *Pattern) Closest(classes []string) string {
	wanted, _, _ := strings.Cut(p.text, "#")
	wanted = strings.ReplaceAll(wanted, "/", ".")
	name := strings.TrimRight(wanted, "*?.")
	candidates := make(map[string]bool)
	for _, class := range classes {
		outer, _, _ := strings.Cut(class, "$")
		candidates[outer] = true
		for i := len(outer) - 1; i >= 0; i-- { // the packages it is in
			if outer[i] == '.' {
				candidates[outer[:i]+".**"] = true
			}
		}
	}
	if candidates[name+".**"] { // a package, written as if it were a class, or by its wildcards with too few levels
		return name + ".**"
	}
	return closest(wanted, slices.Collect(maps.Keys(candidates)))
}

// closest returns the candidate with the smallest edit distance from name; of equals, the first in the alphabet.
func closest(name string, candidates []string) string {
	best, least := "", -1
	for _, c := range candidates {
		d := distance(strings.ToLower(name), strings.ToLower(c))
		if least < 0 || d < least || d == least && c < best {
			best, least = c, d
		}
	}
	return best
}

// distance is the edit distance of two strings: how many bytes have to be inserted, removed or replaced (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
