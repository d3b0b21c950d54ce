// Package instrument is the build-time job: it takes classes out of jars and directories, has the probes put in, and writes
// them back together with the probe map.
package instrument

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/jiffyperf/jiffy/instrument/archive"
	"github.com/jiffyperf/jiffy/instrument/mapping"
	"github.com/jiffyperf/jiffy/instrument/probe"
	"github.com/jiffyperf/jiffy/instrument/rules"
)

// Options are what Run needs.
type Options struct {
	Inputs []string // jars, directories, classes
	Output string   // a jar if it ends in .jar, else a directory

	Rules       *rules.Rules // which methods; nil for all
	Clock       probe.Clock
	Exits       probe.Exits
	Salt        string // changes every probe id
	Huge        bool   // also methods that would cross 8,000 bytes
	SkipTrivial bool
	Verify      bool // check every rewritten method, and restore one that fails

	Compression archive.Compression
	Workers     int    // 0: one for each CPU
	Mapping     string // also write the probe map to this file, if set
	Report      string // write a CSV row for each method to this file, if set

	// Changed is a file that lists what changed in the inputs since Output, a directory, was made; only that is read then. See
	// docs/instrument.md for its lines. "" if everything is to be read.
	Changed string

	// Runtime are the class files of the runtime. They are needed if the inputs are a part of the Java library, and to be added.
	Runtime []archive.File
	// AddRuntime says that the runtime's classes are to be added to the output.
	AddRuntime bool
	// Version of jiffy, for the probe map.
	Version string
	// Progress is called with the bytes of input that are done, of how many. It may be nil.
	Progress func(done, total int64)
}

// Run instruments the inputs. If it fails there is no output, and an older one is still there.
func Run(ctx context.Context, o Options) (*Summary, error) {
	in, err := archive.Open(o.Inputs)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if o.Changed != "" && archive.JarName(o.Output) {
		return nil, fmt.Errorf("output %s: only a directory can be brought up to date with a list of changes", o.Output)
	}
	modules, err := findModules(in)
	if err != nil {
		return nil, err
	}
	if o.AddRuntime && len(modules) > 1 {
		return nil, fmt.Errorf("the runtime can't be in two modules, %s and %s; instrument them one by one, with --runtime for one of them",
			modules[0], modules[1])
	}
	if o.Rules == nil {
		o.Rules = new(rules.Rules)
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	j := &job{options: o, inputs: in, modules: modules, entries: entryNames(in)}
	if o.AddRuntime {
		j.runtimeLeft = j.hasAny(o.Runtime)
		j.options.AddRuntime = !j.runtimeLeft
	}
	if j.hot, err = hotClasses(in, o.Runtime); err != nil {
		return nil, err
	}
	var keep func(*archive.Entry) (class, bool, bool)
	if o.Changed != "" {
		if j.full, err = j.openEarlier(); err != nil {
			return nil, err
		}
		if j.earlier != nil {
			keep = j.keep
		}
	}
	defer j.abortFiles()
	if err := j.createFiles(); err != nil {
		return nil, err
	}
	outcome, err := archive.Rewrite(ctx, in, archive.Options[class]{
		Output:       o.Output,
		Workers:      o.Workers,
		Compression:  o.Compression,
		NewRewriter:  j.newRewriter,
		Keep:         keep,
		Added:        j.added,
		BeforeCommit: j.beforeCommit,
		Progress:     o.Progress,
	})
	if err != nil {
		return nil, err
	}
	return j.summarize(outcome), nil
}

// job is one run.
type job struct {
	options     Options
	inputs      *archive.Inputs
	modules     []string        // named modules among the inputs
	entries     map[string]bool // names of all entries of the inputs
	runtimeLeft bool            // the inputs have a runtime already, which stays
	hot         hotSet
	explains    bool     // Explain needs details of methods
	earlier     *earlier // nil if everything is read
	full        string   // why, although there is a list of changes

	files      []file // beside the output
	probeMap   []byte
	collisions []string
}

// class is what happened to one class.
type class struct {
	entry   *archive.Entry
	kept    bool   // it is as it was in the earlier output, and was not read
	place   string // for messages
	name    string // binary name; "" if it could not be read
	matched bool
	changed bool
	probes  []mapping.Row
	rows    []int // the numbers of the probes in the map
	skipped []probe.Skip
	detail  *detail // only with Options.Report, of classes that match
	dropped int     // attributes that nobody here understands
	err     error   // why it can't be read
}

// added returns the files to add to the output: the runtime, then the probe map.
func (j *job) added(classes []class) ([]archive.File, error) {
	var hash string
	j.probeMap, hash = mapping.Encode(j.rows(classes))
	var files []archive.File
	if j.options.AddRuntime {
		files = slices.Clone(j.options.Runtime)
	}
	if name := mapping.FileName(hash); !j.entries[name] { // the hash says that a map of this name has the same content
		files = append(files, archive.File{Name: name, Content: j.probeMap})
	}
	if !archive.JarName(j.options.Output) {
		files = append(files, j.record(classes, hash))
	}
	return files, nil
}

func (j *job) hasAny(files []archive.File) bool {
	return slices.ContainsFunc(files, func(f archive.File) bool { return j.entries[f.Name] })
}

func entryNames(in *archive.Inputs) map[string]bool {
	names := make(map[string]bool, len(in.Entries()))
	for _, e := range in.Entries() {
		names[e.Name] = true
	}
	return names
}

// optionRows returns the rows of the probe map that say what the build was made with.
func (j *job) optionRows() []mapping.Row {
	o := &j.options
	return []mapping.Row{
		mapping.Option("jiffy_version", o.Version),
		mapping.Option("probes", "methods"),
		mapping.Option("clock", o.Clock.String()),
		mapping.Option("exits", o.Exits.String()),
		mapping.Option("id_salt", o.Salt),
		mapping.Option("huge", fmt.Sprint(o.Huge)),
		mapping.Option("skip_trivial", fmt.Sprint(o.SkipTrivial)),
	}
}

// rows returns the rows of the probe map: the options, then the probes in the order of the inputs, each once. The classes get the numbers
// of theirs.
func (j *job) rows(classes []class) []mapping.Row {
	rows := j.optionRows()
	options := len(rows)
	at := make(map[uint64]int)
	for i := range classes {
		c := &classes[i]
		c.rows = make([]int, 0, len(c.probes))
		for _, r := range c.probes {
			first, seen := at[r.ID]
			switch {
			case !seen:
				at[r.ID] = len(rows)
			case rows[first] == r:
				c.rows = append(c.rows, first-options)
				continue
			case !rows[first].SameProbe(r):
				j.collisions = append(j.collisions, fmt.Sprintf("%s and %s have the same probe id; another --id-salt tells them apart",
					rows[first].Name(), r.Name()))
			}
			c.rows = append(c.rows, len(rows)-options)
			rows = append(rows, r)
		}
	}
	return rows
}

// file is one that was asked for beside the output.
type file struct {
	*archive.PendingFile
	write func(io.Writer, *archive.Outcome[class]) error
}

// createFiles starts the files beside the output, so that what stands against them is said before the work is done.
func (j *job) createFiles() error {
	if o := &j.options; o.Mapping != "" && o.Mapping == o.Report {
		return fmt.Errorf("output %s: can't be both the probe map and the report", o.Mapping)
	}
	writeMap := func(w io.Writer, _ *archive.Outcome[class]) error {
		_, err := w.Write(j.probeMap)
		return err
	}
	writeRows := func(w io.Writer, outcome *archive.Outcome[class]) error { return writeReport(w, outcome.Reports) }
	for _, f := range []struct {
		path  string
		write func(io.Writer, *archive.Outcome[class]) error
	}{{j.options.Mapping, writeMap}, {j.options.Report, writeRows}} {
		if f.path == "" {
			continue
		}
		if err := j.inputs.CheckBeside(f.path, j.options.Output); err != nil {
			return err
		}
		pending, err := archive.CreatePending(f.path)
		if err != nil {
			return err
		}
		j.files = append(j.files, file{pending, f.write})
	}
	return nil
}

func (j *job) abortFiles() {
	for _, f := range j.files {
		f.Abort()
	}
}

// beforeCommit completes the files beside the output, once it is known to be complete itself.
func (j *job) beforeCommit(outcome *archive.Outcome[class]) error {
	for _, f := range j.files {
		if err := f.Fill(func(w io.Writer) error { return f.write(w, outcome) }); err != nil {
			return err
		}
	}
	for _, f := range j.files {
		if err := f.Commit(); err != nil {
			return err
		}
	}
	return nil
}

// newRewriter returns what one worker uses.
func (j *job) newRewriter() archive.Rewriter[class] {
	return &rewriter{job: j, instrumenter: j.newInstrumenter()}
}

func (j *job) newInstrumenter() *probe.Instrumenter {
	o := &j.options
	return probe.New(probe.Options{
		Clock: o.Clock, Exits: o.Exits, Salt: o.Salt, Huge: o.Huge, SkipTrivial: o.SkipTrivial, Verify: o.Verify,
		Detail: o.Report != "" || j.explains, Match: matcher{o.Rules, j.hot},
	})
}

// rewriter puts the probes into one class after the other.
type rewriter struct {
	job          *job
	instrumenter *probe.Instrumenter
}

func (w *rewriter) Rewrite(e *archive.Entry, in []byte) (out []byte, c class) {
	defer func() {
		// A bug in here must not cost a build. The class stays as it is and is listed; the memory that the instrumenter keeps may
		// be in any state.
		if p := recover(); p != nil {
			w.instrumenter = w.job.newInstrumenter()
			out, c = nil, class{entry: e, place: e.Place(), err: fmt.Errorf("internal error, please report it: %v", p)}
		}
	}()
	start := time.Now()
	r, err := w.instrumenter.Class(in)
	c = class{
		entry: e, place: e.Place(), name: r.Class, matched: r.Matched, changed: r.Changed,
		probes: r.Probes, skipped: r.Skipped, dropped: r.Dropped, err: err,
	}
	if w.job.hot.has(r.Class) {
		c.skipped = []probe.Skip{{Reason: reasonHot}}
	}
	if w.job.options.Report != "" && err == nil && (r.Matched || len(c.skipped) > 0) {
		c.detail = &detail{methods: r.Methods, before: len(in), after: len(in), spent: time.Since(start)}
		if r.Changed {
			c.detail.after = len(r.Out)
		}
	}
	if err == nil && isModuleInfo(e.Name) && w.job.options.AddRuntime {
		return withoutModulePackages(in), c
	}
	return r.Out, c
}

func (w *rewriter) Unreadable(e *archive.Entry, err error) class {
	return class{entry: e, place: e.Place(), err: err}
}

// sortedByCount returns the keys of m, the most frequent first.
func sortedByCount(m map[string]int) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(cmp.Compare(m[b], m[a]), strings.Compare(a, b))
	})
	return keys
}
