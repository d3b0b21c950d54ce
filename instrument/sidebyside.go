package instrument

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// dumpLine is a line of jiffy dump, and what it is compared by.
type dumpLine struct {
	text  string
	place string // lines of the same place are put beside each other
	what  string // the line without pcs, which all move; of such a pair, those that differ are marked
}

var (
	instructionLine = regexp.MustCompile(`^ +\d+  `)
	targets         = regexp.MustCompile(`(->|uninitialized@) ?\d+`)
	attributeLine   = regexp.MustCompile(`^ +(frame|catch|line|variable|variabletype) \d+(?:\.\.\d+)?`)
)

func parseDump(lines []string) []dumpLine {
	parsed := make([]dumpLine, len(lines))
	for i, text := range lines {
		l := dumpLine{text: text}
		if at := instructionLine.FindStringIndex(text); at != nil {
			l.what = text[at[1]:]
		} else if at := attributeLine.FindStringSubmatchIndex(text); at != nil {
			l.what = text[at[2]:at[3]] + text[at[1]:]
		} else {
			l.what = strings.TrimSpace(text)
		}
		l.what = targets.ReplaceAllString(l.what, "$1")
		l.place = l.what
		// Every frame gets the probe's local, and the code its new size.
		if word, _, _ := strings.Cut(l.what, " "); word == "frame" || word == "code" {
			l.place = word
		}
		parsed[i] = l
	}
	return parsed
}

// maxColumn is how wide the left column may get. What is wider moves the right one.
const maxColumn = 90

// sideBySide writes lines beside each other. As in `diff -y` the mark between them is < or > where only one side has a line, and |
// where they differ in more than where code is.
func sideBySide(b *strings.Builder, left, right []string) {
	l, r := parseDump(left), parseDump(right)
	width := 0
	for _, text := range left {
		if n := utf8.RuneCountInString(text); n <= maxColumn {
			width = max(width, n)
		}
	}
	for _, p := range align(l, r) {
		switch {
		case p.left < 0:
			fmt.Fprintf(b, "%-*s > %s\n", width, "", r[p.right].text)
		case p.right < 0:
			fmt.Fprintf(b, "%-*s <\n", width, l[p.left].text)
		case l[p.left].what != r[p.right].what:
			fmt.Fprintf(b, "%-*s | %s\n", width, l[p.left].text, r[p.right].text)
		default:
			fmt.Fprintf(b, "%-*s   %s\n", width, l[p.left].text, r[p.right].text)
		}
	}
}

// pair is two lines that belong together; -1 where one side has none.
type pair struct{ left, right int }

// maxEdits bounds the search for what belongs together, in lines that only one side has. Beyond it the rest is not aligned.
const maxEdits = 2000

// align finds the fewest lines that only one side has (E. Myers, An O(ND) Difference Algorithm, 1986).
func align(l, r []dumpLine) []pair {
	same := func(x, y int) bool { return l[x].place == r[y].place }
	// reached[d][k+d] is how far into l a path with d edits gets on diagonal k = x-y.
	var reached [][]int32
	at := func(d, k int) int {
		if d < 0 || k < -d || k > d || (k+d)%2 != 0 {
			return -1
		}
		return int(reached[d][k+d])
	}
	// start is where a path with d edits comes onto diagonal k: by a line of r (down) or of l.
	start := func(d, k int) (x int, down bool) {
		if d == 0 {
			return 0, false
		}
		byRight, byLeft := at(d-1, k+1), at(d-1, k-1)+1
		if at(d-1, k-1) < 0 || byRight >= byLeft {
			return byRight, true
		}
		return byLeft, false
	}
	for d := 0; d <= min(len(l)+len(r), maxEdits); d++ {
		reached = append(reached, make([]int32, 2*d+1))
		for k := -d; k <= d; k += 2 {
			x, _ := start(d, k)
			if x < 0 || x > len(l) || x-k > len(r) || x-k < 0 {
				reached[d][k+d] = -1
				continue
			}
			for x < len(l) && x-k < len(r) && same(x, x-k) {
				x++
			}
			reached[d][k+d] = int32(x)
			if x == len(l) && x-k == len(r) {
				return walkBack(d, k, at, start)
			}
		}
	}
	return unaligned(len(l), len(r))
}

// walkBack lists the pairs of a path to its end with d edits on diagonal k.
func walkBack(d, k int, at func(d, k int) int, start func(d, k int) (int, bool)) []pair {
	var pairs []pair
	for ; d >= 0; d-- {
		from, down := start(d, k)
		for x := at(d, k); x > from; x-- {
			pairs = append(pairs, pair{x - 1, x - 1 - k})
		}
		switch {
		case d == 0:
		case down:
			pairs = append(pairs, pair{-1, from - k - 1})
			k++
		default:
			pairs = append(pairs, pair{from - 1, -1})
			k--
		}
	}
	slices.Reverse(pairs)
	return pairs
}

func unaligned(left, right int) []pair {
	var pairs []pair
	for i := range left {
		pairs = append(pairs, pair{i, -1})
	}
	for i := range right {
		pairs = append(pairs, pair{-1, i})
	}
	return pairs
}
