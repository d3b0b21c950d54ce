package instrument

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/jiffyperf/jiffy/instrument/archive"
	"github.com/jiffyperf/jiffy/instrument/probe"
)

// Summary is what a run did, for people.
type Summary struct {
	Output       string
	Classes      int            // in the inputs
	Kept         int            // of these, the ones that are as they were in the earlier output, and were not read
	Changed      int            // classes with probes
	Instrumented int            // methods
	Skipped      map[string]int // methods that match the rules and were left as they are, by reason
	Failed       []string       // classes and methods that are damaged and stayed as they are, each with its reason
	Notes        []string       // what else should be known
	Warnings     []string       // what is likely to be wrong
}

func (j *job) summarize(outcome *archive.Outcome[class]) *Summary {
	s := &Summary{Output: j.options.Output, Classes: len(outcome.Reports), Changed: outcome.Changed, Skipped: make(map[string]int)}
	dropped := 0
	for i := range outcome.Reports {
		c := &outcome.Reports[i]
		s.Instrumented += len(c.probes)
		if c.kept {
			s.Kept++
		}
		dropped += c.dropped
		for _, skip := range c.skipped {
			s.Skipped[string(skip.Reason)]++
			if skip.Reason == probe.ReasonDefect {
				s.Warnings = append(s.Warnings, fmt.Sprintf("%s: %s%s stays as it was: %s; please report this", c.place, skip.Method, skip.Desc, skip.Detail))
			}
			if skip.Reason == probe.ReasonMalformed {
				s.Failed = append(s.Failed, fmt.Sprintf("%s.%s%s: %s", c.place, skip.Method, skip.Desc, cmp.Or(skip.Detail, string(skip.Reason))))
			}
		}
		if c.err != nil {
			s.Failed = append(s.Failed, fmt.Sprintf("%s: %v", c.place, c.err))
		}
	}
	s.Warnings = append(s.Warnings, j.unmatched(outcome.Reports, s.Instrumented)...)
	s.Warnings = append(s.Warnings, j.collisions...)
	s.Warnings = append(s.Warnings, outcome.Duplicates...)
	for _, p := range j.inputs.PassedOver() {
		s.Warnings = append(s.Warnings, p+"; it is left out")
	}
	s.note(j.full != "", "everything was read: "+j.full)
	s.note(outcome.SignaturesDropped, "the signature was dropped: it can't hold for changed classes")
	s.note(dropped > 0, fmt.Sprintf("%d attributes of methods were dropped: they are not known, and may hold offsets that are no longer true", dropped))
	s.note(len(outcome.Nested) > 0, "jars inside the inputs are left as they are: "+some(outcome.Nested))
	s.note(j.runtimeLeft, "the runtime was not added: the inputs have one already")
	s.note(len(j.hot) > 0, fmt.Sprintf("%s of the Java library stay as they are, because the runtime itself runs through them; --report lists them",
		count(len(j.hot), "class")))
	j.noteModules(s)
	return s
}

func (s *Summary) note(when bool, text string) {
	if when {
		s.Notes = append(s.Notes, text)
	}
}

// noteModules says what named modules need to reach the runtime.
func (j *job) noteModules(s *Summary) {
	for _, m := range j.modules {
		if j.options.AddRuntime {
			s.Notes = append(s.Notes, fmt.Sprintf("the runtime is inside module %s", m))
			continue
		}
		text := fmt.Sprintf("module %s needs `java --add-reads %s=ALL-UNNAMED` and the runtime on the class path", m, m)
		if platformModule(m) {
			text = fmt.Sprintf("module %s needs `java --patch-module %s=%s --add-reads %s=ALL-UNNAMED -Xbootclasspath/a:` with the runtime's jar",
				m, m, j.options.Output, m)
		}
		s.Notes = append(s.Notes, text)
	}
}

// platformModule reports whether a module is the JDK's own, so that it can only be replaced by patching.
func platformModule(name string) bool {
	return strings.HasPrefix(name, "java.") || strings.HasPrefix(name, "jdk.")
}

// some returns the first few of a list.
func some(list []string) string {
	const most = 3
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
}

// Write writes the summary as a few lines of text.
func (s *Summary) Write(w io.Writer, seconds float64) error {
	skipped := 0
	for _, n := range s.Skipped {
		skipped += n
	}
	var b strings.Builder
	fmt.Fprintf(&b, "instrumented %s in %d of %s, in %.2f s: %s\n",
		count(s.Instrumented, "method"), s.Changed, count(s.Classes, "class"), seconds, s.Output)
	if s.Kept > 0 {
		fmt.Fprintf(&b, "not read, as they did not change: %s\n", count(s.Kept, "class"))
	}
	if skipped > 0 {
		fmt.Fprintf(&b, "left as they are: %s\n", count(skipped, "method"))
		for _, reason := range sortedByCount(s.Skipped) {
			fmt.Fprintf(&b, "  %8d  %s\n", s.Skipped[reason], reason)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// count is a number with its noun.
func count(n int, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "s"):
		noun += "es"
	default:
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
