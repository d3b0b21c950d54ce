package instrument

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jiffyperf/jiffy/instrument/rules"
)

func pattern(t *testing.T, text string) *rules.Pattern {
	t.Helper()
	p, err := rules.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func explain(t *testing.T, o Options, text string) string {
	t.Helper()
	var b strings.Builder
	if err := Explain(t.Context(), o, pattern(t, text), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestExplainShowsBothSides(t *testing.T) {
	in := fixture("Straight")
	want := `Straight#empty()V in ` + in + `
instrumented: entry, 1 return; bytecode from 1 to 12 bytes
method static empty()V            method static empty()V
  code stack=0 locals=0 bytes=1 |   code stack=4 locals=2 bytes=12
                                >         0  invokestatic io/github/jiffyperf/runtime/Probes.now()J
                                >         3  lstore_0
                                >         4  lload_0
                                >         5  ldc2_w 189206475636496L
                                >         8  invokestatic io/github/jiffyperf/runtime/Probes.returned(JJ)V
        0  return                        11  return
    line 0 4                          line 0 4
`
	if diff := cmp.Diff(want, explain(t, Options{Inputs: []string{in}}, "Straight#empty")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestExplainGivesReasons(t *testing.T) {
	twice := filepath.Join(t.TempDir(), "twice")
	run(t, Options{Inputs: []string{fixture("Straight")}, Output: twice})
	excluded, err := rules.New(nil, []string{"Straight#empty"})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, pattern, want string
		options             Options
	}{
		{"abstract", "Interfaces#abstractOne", "left as it is: abstract\n", Options{Inputs: []string{fixture("Interfaces")}}},
		{"excluded", "Straight#empty", "left as it is: the include and exclude patterns don't select it\n",
			Options{Inputs: []string{fixture("Straight")}, Rules: excluded}},
		{"instrumented before", "Straight#empty", "left as it is: already instrumented\n", Options{Inputs: []string{twice}}},
		{"trivial", "Straight#empty", "left as it is: trivial\n", Options{Inputs: []string{fixture("Straight")}, SkipTrivial: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := explain(t, test.options, test.pattern)
			_, reason, _ := strings.Cut(got, "\n")
			if !strings.HasPrefix(reason, test.want+"method ") || strings.Count(got, "method ") != 1 {
				t.Errorf("got %q, want the reason %q and the method once", got, test.want)
			}
		})
	}
}

func TestExplainWithoutAMethod(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "Bad.class")
	if err := os.WriteFile(bad, []byte("no class"), 0o666); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"Strait#empty":   "--explain Strait#empty matches no class; the closest is Straight",
		"Straight#epmty": "--explain Straight#epmty matches 1 class, but none of their methods",
		"Bad#m":          bad + ": ",
	} {
		err := Explain(t.Context(), Options{Inputs: []string{fixture("Straight"), bad}}, pattern(t, text), new(strings.Builder))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
	}
}

// TestAlign checks against the textbook's table of longest common subsequences that nothing is lost and that no more could be aligned.
func TestAlign(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	lines := func() []dumpLine {
		list := make([]dumpLine, random.IntN(12))
		for i := range list {
			list[i].place = string(rune('a' + random.IntN(3)))
		}
		return list
	}
	for range 3000 {
		l, r := lines(), lines()
		x, y, common := 0, 0, 0
		for _, p := range align(l, r) {
			if p.left >= 0 && p.left != x || p.right >= 0 && p.right != y {
				t.Fatalf("%v and %v: the pair %v comes after %d and %d lines", l, r, p, x, y)
			}
			if p.left >= 0 {
				x++
			}
			if p.right >= 0 {
				y++
			}
			if p.left >= 0 && p.right >= 0 {
				common++
				if l[p.left] != r[p.right] {
					t.Fatalf("%v and %v: the pair %v is not alike", l, r, p)
				}
			}
		}
		if x != len(l) || y != len(r) || common != longestCommon(l, r) {
			t.Fatalf("%v and %v: %d of %d and %d of %d lines, %d aligned", l, r, x, len(l), y, len(r), common)
		}
	}
}

func longestCommon(l, r []dumpLine) int {
	row := make([]int, len(r)+1)
	for i := range l {
		next := make([]int, len(r)+1)
		for j := range r {
			next[j+1] = max(row[j+1], next[j])
			if l[i] == r[j] {
				next[j+1] = row[j] + 1
			}
		}
		row = next
	}
	return row[len(r)]
}

func TestSideBySideMarks(t *testing.T) {
	left := []string{"        0  iload_0", "        1  ifle -> 5", "        4  pop", "    frame 5 same", "    catch 0..4 -> 5 any"}
	right := []string{"        0  iload_0", "        1  nop", "        2  ifle -> 9", "    frame 9 append [long]", "    catch 0..7 -> 9 any"}
	var b strings.Builder
	sideBySide(&b, left, right)
	want := []string{
		"        0  iload_0              0  iload_0",
		"                        >         1  nop",
		"        1  ifle -> 5            2  ifle -> 9",
		"        4  pop          <",
		"    frame 5 same        |     frame 9 append [long]",
		"    catch 0..4 -> 5 any       catch 0..7 -> 9 any",
	}
	got := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	for i := range want {
		want[i] = strings.Join(strings.Fields(want[i]), " ")
	}
	for i := range got {
		got[i] = strings.Join(strings.Fields(got[i]), " ")
	}
	if !slices.Equal(got, want) {
		t.Errorf("-want +got:\n%s", cmp.Diff(want, got))
	}
}

// TestSideBySideOfMuchThatDiffers: two methods that share nothing are shown one after the other.
func TestSideBySideOfMuchThatDiffers(t *testing.T) {
	left, right := slices.Repeat([]string{"a"}, maxEdits), slices.Repeat([]string{"b"}, maxEdits)
	var b strings.Builder
	sideBySide(&b, left, right)
	if got, want := b.String(), strings.Repeat("a <\n", maxEdits)+strings.Repeat("  > b\n", maxEdits); got != want {
		t.Errorf("%d bytes, want %d", len(got), len(want))
	}
}
