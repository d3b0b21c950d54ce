package instrument

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/jiffyperf/jiffy/instrument/archive"
	"github.com/jiffyperf/jiffy/instrument/mapping"
	"github.com/jiffyperf/jiffy/instrument/probe"
)

// earlier is an output directory that is to be brought up to date.
type earlier struct {
	changes *changes
	sources map[string]source
	probes  []mapping.Row
}

// openEarlier prepares a run with Options.Changed. Where the earlier output can't be built on, everything is read again: the result
// is the same, and full says why.
func (j *job) openEarlier() (full string, err error) {
	changed, err := readChanges(j.options.Changed, j.inputs)
	if err != nil {
		return "", err
	}
	if len(j.hot) > 0 {
		return "the inputs are a part of the Java library", nil
	}
	content, err := os.ReadFile(j.inOutput(recordName))
	if errors.Is(err, fs.ErrNotExist) {
		return "there is no earlier output that was made as a directory", nil
	}
	if err != nil {
		return fmt.Sprintf("the earlier output can't be read: %v", err), nil
	}
	r, err := readRecord(content)
	if err != nil {
		return fmt.Sprintf("the earlier output can't be built on: %v", err), nil
	}
	if key := difference(r.options, j.recordOptions()); key != "" {
		return fmt.Sprintf("the earlier output was made with other options (%s)", key), nil
	}
	probes, ok := j.earlierProbes(r)
	if !ok {
		return "the probe map of the earlier output is missing or was changed", nil
	}
	j.earlier = &earlier{changed, r.sources, probes}
	return "", nil
}

func (j *job) inOutput(name string) string {
	return filepath.Join(j.options.Output, filepath.FromSlash(name))
}

// earlierProbes reads the probe map of the earlier output, and checks that it is what its name says and has all that the record
// refers to.
func (j *job) earlierProbes(r *record) (probes []mapping.Row, ok bool) {
	content, err := os.ReadFile(j.inOutput(mapping.FileName(r.mapHash)))
	if err != nil {
		return nil, false
	}
	rows, err := mapping.ReadRows(bytes.NewReader(content))
	if err != nil {
		return nil, false
	}
	if again, hash := mapping.Encode(rows); hash != r.mapHash || !bytes.Equal(again, content) {
		return nil, false
	}
	probes = slices.DeleteFunc(rows, func(r mapping.Row) bool { return r.Kind == mapping.KindOption })
	for _, s := range r.sources {
		for _, n := range s.probes {
			if n >= len(probes) {
				return nil, false
			}
		}
	}
	return probes, true
}

// difference returns the name of an option that differs; "" if none does. The order of an option's values counts.
func difference(a, b [][2]string) string {
	values := func(options [][2]string, key string) (list []string) {
		for _, o := range options {
			if o[0] == key {
				list = append(list, o[1])
			}
		}
		return list
	}
	for _, o := range slices.Concat(a, b) {
		if !slices.Equal(values(a, o[0]), values(b, o[0])) {
			return o[0]
		}
	}
	return ""
}

// keep takes an entry that didn't change from the earlier output.
func (j *job) keep(e *archive.Entry) (c class, changed, ok bool) {
	from, known := j.earlier.sources[e.Name]
	if !known || from.input != e.Input() || from.class != e.IsClass() || j.earlier.changes.has(e) {
		return class{}, false, false
	}
	if !e.IsClass() {
		return class{}, false, true
	}
	c = class{entry: e, place: e.Place(), kept: true, name: classNameOf(e.Name)}
	for _, n := range from.probes {
		c.probes = append(c.probes, j.earlier.probes[n])
	}
	c.changed = len(c.probes) > 0
	if c.changed {
		c.name = c.probes[0].Class
	}
	return c, c.changed, true
}

// classNameOf guesses the name of a class that has no probes from the name of its entry. It is for messages.
func classNameOf(entry string) string {
	name := strings.TrimSuffix(entry, ".class")
	if rest, ok := strings.CutPrefix(name, "META-INF/versions/"); ok {
		if _, below, ok := strings.Cut(rest, "/"); ok {
			name = below
		}
	}
	return strings.ReplaceAll(name, "/", ".")
}

// record returns the record of an output directory. Entries that it leaves out are read again by every run.
func (j *job) record(classes []class, mapHash string) archive.File {
	w := newRecordWriter()
	for _, o := range j.recordOptions() {
		w.row(recordOption, o[0], "", o[1])
	}
	w.row(recordMap, mapHash, "", "")
	for i := range classes {
		if c := &classes[i]; c.repeatable() {
			w.entry(recordClass, c.entry.Name, c.entry.Input(), ranges(c.rows))
		}
	}
	seen := make(map[string]bool)
	for _, e := range j.inputs.Entries() {
		// Of META-INF, a part is merged or depends on whether anything changed.
		if e.IsDir() || e.IsClass() || seen[e.Name] || strings.HasPrefix(strings.ToUpper(e.Name), "META-INF/") {
			continue
		}
		seen[e.Name] = true
		w.entry(recordFile, e.Name, e.Input(), "")
	}
	return archive.File{Name: recordName, Content: w.bytes()}
}

// repeatable reports whether a class can be kept by a later run. One that has to be warned about can't: the warning would be lost.
func (c *class) repeatable() bool {
	return c.err == nil && c.dropped == 0 && !isModuleInfo(c.entry.Name) && !slices.ContainsFunc(c.skipped, func(s probe.Skip) bool {
		return s.Reason == probe.ReasonDefect || s.Reason == probe.ReasonMalformed
	})
}

// recordOptions is everything but the inputs' contents that the output depends on.
func (j *job) recordOptions() [][2]string {
	o := &j.options
	var options [][2]string
	for _, row := range j.optionRows() {
		options = append(options, [2]string{row.Class, row.Method})
	}
	add := func(key, value string) { options = append(options, [2]string{key, value}) }
	add("verify", fmt.Sprint(o.Verify))
	for _, p := range o.Rules.Include() {
		add("include", p.String())
	}
	for _, p := range o.Rules.Exclude() {
		add("exclude", p.String())
	}
	add("runtime", j.runtimeHash())
	add("inputs", j.inputsHash())
	return options
}

// runtimeHash stands for the runtime's classes that are added; "" if none are.
func (j *job) runtimeHash() string {
	if !j.options.AddRuntime {
		return ""
	}
	h := xxhash.New()
	for _, f := range j.options.Runtime {
		fmt.Fprintf(h, "%q %d ", f.Name, len(f.Content))
		h.Write(f.Content)
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

// inputsHash stands for which inputs there are, and in which order. The paths count from the output, so that the same project
// in another place has the same hash.
func (j *job) inputsHash() string {
	h := xxhash.New()
	output, err := filepath.Abs(j.options.Output)
	for i := range j.inputs.Len() {
		path, dir := j.inputs.Path(i)
		if abs, absErr := filepath.Abs(path); cmp.Or(err, absErr) == nil {
			if rel, err := filepath.Rel(output, abs); err == nil {
				path = rel
			}
		}
		fmt.Fprintf(h, "%q %v ", filepath.ToSlash(path), dir)
	}
	return fmt.Sprintf("%016x", h.Sum64())
}
