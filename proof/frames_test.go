package proof

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jiffyperf/jiffy/proof/jdk"
)

// frameHelper compiles testdata/Frames.java against ASM and returns the class path to run it with.
func frameHelper(t *testing.T) string {
	t.Helper()
	path := needCached(t, "asm.jar", "asm-tree.jar")
	classes := filepath.Join(t.TempDir(), "frames")
	libraries := strings.Join(path, string(filepath.ListSeparator))
	check(t, jdks[0].Compile(classes, []string{"--release", strconv.Itoa(jdk.Oldest), "-cp", libraries}, "testdata/Frames.java"))
	return classes + string(filepath.ListSeparator) + libraries
}

// compareFrames holds the frames of a jar against those that ASM computes. Returns how many of what kind there are, and the differences.
func compareFrames(t *testing.T, j jdk.JDK, helper, jar string, libraries []string) (counts map[string]int, differences []string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "frames.txt")
	_, err := j.Run("java", slices.Concat([]string{"-Xss8m", "-cp", helper, "Frames", "compare", out, jar}, libraries)...)
	check(t, err)
	data, err := os.ReadFile(out)
	check(t, err)
	counts = map[string]int{}
	for line := range strings.Lines(string(data)) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if kind == "difference" {
			differences = append(differences, rest)
			continue
		}
		if counts[kind], err = strconv.Atoi(rest); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	return counts, differences
}

// Rewriting commutes with ASM's COMPUTE_FRAMES, as JaCoCo's FramesTest has it: ASM computes the frames of a corpus, jiffy instruments that, and what it
// made of the frames is what ASM computes from the new instructions. Three differences are harmless, and by design:
//   - the frame of the probe's handler knows nothing of the old locals, while ASM keeps those that are the same wherever the handler can be reached from;
//   - code that can't be reached, which ASM makes nop and athrow with a frame without locals, has the probe's long in its frame, as every other;
//   - a goto on the way of a branch that outgrew 16 bits has a copy of its target's frame, which may say less than is known there.
func TestCorporaFramesAreThoseASMComputes(t *testing.T) {
	helper := frameHelper(t)
	eachCorpus(t, func(t *testing.T, c *corpus, made timedCorpus) {
		libraries, j := c.jars(t), jdks[0]
		if c.modules != nil {
			j = *c.modules
		}
		dir := t.TempDir()
		normal, timed := filepath.Join(dir, "normal.jar"), filepath.Join(dir, "timed.jar")
		_, err := j.Run("java", slices.Concat([]string{"-Xss8m", "-cp", helper, "Frames", "normalise", normal, made.plain}, libraries)...)
		check(t, err)
		jiffy(t, "instrument", "-q", "--huge", "--compression", "store", "-o", timed, normal)
		counts, differences := compareFrames(t, j, helper, timed, libraries)
		if counts["classes"] == 0 {
			t.Skip("its class files are too old for frames")
		}
		for _, kind := range slices.Sorted(maps.Keys(counts)) {
			t.Logf("%8d %s", counts[kind], strings.ReplaceAll(kind, "_", " "))
		}
		for i, difference := range differences {
			if i == 20 {
				t.Errorf("%d more frames differ", len(differences)-i)
				break
			}
			t.Error(difference)
		}
	})
}

// Frames that say too much or too little must be noticed, else the test above proves nothing: before ASM has computed them, the compilers' frames differ from ASM's.
func TestCorporaFramesThatDifferAreNoticed(t *testing.T) {
	helper := frameHelper(t)
	jar := needCached(t, "guava.jar")
	counts, differences := compareFrames(t, jdks[0], helper, jar[0], nil)
	if len(differences) < 100 {
		t.Errorf("only %d differences between javac's frames and ASM's: %s", len(differences), fmt.Sprint(counts))
	}
}
