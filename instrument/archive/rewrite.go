package archive

import (
	"context"
	"hash/crc32"
	"sync"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zip"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"
)

const (
	// maxHeld bounds the bytes of all entries that are in memory at a time: read, and not written yet.
	maxHeld = 64 << 20
	// entryCost is what an entry is counted with beside its bytes.
	entryCost = 1 << 10
	// maxWhole is the most bytes of a resource that are handled in memory; larger ones are streamed.
	maxWhole = 4 << 20
)

// Rewrite makes the output of the inputs. If it fails there is no output, and an older one is still there.
func Rewrite[R any](ctx context.Context, in *Inputs, o Options[R]) (*Outcome[R], error) {
	if err := checkOutput(in, o.Output); err != nil {
		return nil, err
	}
	outcome, err := attempt(ctx, in, o, true)
	if err != nil || outcome != nil {
		return outcome, err
	}
	// No class changed, so the signature that was left out still holds.
	return attempt(ctx, in, o, false)
}

// attempt makes the output with signatures left out, or in. Whether a class changes is only known at the end, and is nearly
// always so; if none did and signatures were left out in vain, it gives up and returns nil.
func attempt[R any](ctx context.Context, in *Inputs, o Options[R], strip bool) (*Outcome[R], error) {
	p, err := newPlan(in, o.Output, strip)
	if err != nil {
		return nil, err
	}
	out, err := newOutput(in, o.Output, o.Compression)
	if err != nil {
		return nil, err
	}
	defer out.abort()

	r := &run[R]{options: o, out: out, plan: p, held: semaphore.NewWeighted(maxHeld)}
	if err := r.all(ctx); err != nil {
		return nil, err
	}
	if strip && p.signed && r.changed == 0 && len(in.list) == 1 {
		return nil, nil
	}
	outcome := &Outcome[R]{
		Reports: r.reports, Changed: r.changed, SignaturesDropped: strip && p.signed,
		Nested: p.nested, Duplicates: p.duplicates,
	}
	if err := finish(o, out, outcome); err != nil {
		return nil, err
	}
	return outcome, nil
}

// finish adds the new files and makes the output visible.
func finish[R any](o Options[R], out output, outcome *Outcome[R]) error {
	if o.Added != nil {
		files, err := o.Added(outcome.Reports)
		if err != nil {
			return err
		}
		for _, f := range files {
			if err := out.add(f); err != nil {
				return err
			}
		}
	}
	if err := out.close(); err != nil {
		return err
	}
	if o.BeforeCommit != nil {
		if err := o.BeforeCommit(outcome); err != nil {
			return err
		}
	}
	return out.commit()
}

// run is one pass over the plan. One goroutine hands out tasks in order, workers do them, and one goroutine writes them in
// the same order; held bounds what is between the first and the last.
type run[R any] struct {
	options Options[R]
	out     output
	plan    *plan
	held    *semaphore.Weighted
	tasks   sync.Pool

	reports []R
	changed int
	written int64
}

// task is one item on its way.
type task[R any] struct {
	item
	content  content
	whole    bool  // content holds the entry; else it is copied from its input
	kept     bool  // the entry is taken from the earlier output
	changed  bool  // by the Rewriter
	reported bool  // report is set
	held     int64 // what it was counted with
	report   R
	err      error
	done     chan struct{} // has room for one
}

// content is what is written for an entry, in the form in which the output keeps it.
type content struct {
	bytes  []byte
	method uint16 // zip.Store or zip.Deflate
	crc    uint32 // of the bytes before compression
	size   int    // before compression
}

func (r *run[R]) all(ctx context.Context) error {
	workers := max(r.options.Workers, 1)
	// Several tasks for each worker, so that one large class doesn't stop the others.
	work := make(chan *task[R], workers)
	ordered := make(chan *task[R], 16*workers+64)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(work)
		defer close(ordered)
		return r.produce(ctx, work, ordered)
	})
	for range workers {
		group.Go(func() error {
			w := worker[R]{rewriter: r.options.NewRewriter(), compression: r.options.Compression, toJar: JarName(r.options.Output)}
			for t := range work {
				t.err = w.do(t)
				t.done <- struct{}{}
			}
			return nil
		})
	}
	group.Go(func() error { return r.write(ctx, ordered) })
	return group.Wait()
}

func (r *run[R]) produce(ctx context.Context, work, ordered chan<- *task[R]) error {
	for _, i := range r.plan.items {
		t, _ := r.tasks.Get().(*task[R])
		if t == nil {
			t = &task[R]{done: make(chan struct{}, 1)}
		}
		*t = task[R]{item: i, content: content{bytes: t.content.bytes[:0]}, done: t.done}
		busy := !r.keep(t) && r.needsWorker(i)
		if busy {
			t.held = min(entryCost+i.entry.stored()+2*min(i.entry.declared(), maxClass), maxHeld)
			if err := r.held.Acquire(ctx, t.held); err != nil {
				return err
			}
		} else {
			t.done <- struct{}{}
		}
		select {
		case ordered <- t:
		case <-ctx.Done():
			return ctx.Err()
		}
		if !busy {
			continue
		}
		select {
		case work <- t:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// keep asks whether a task's entry is as it is in the earlier output.
func (r *run[R]) keep(t *task[R]) bool {
	if r.options.Keep == nil || t.action != copyEntry && t.action != rewriteClass {
		return false
	}
	report, changed, ok := r.options.Keep(t.entry)
	if !ok || !r.out.has(t.entry) {
		return false
	}
	t.kept = true
	if t.action == rewriteClass {
		t.reported, t.report, t.changed = true, report, changed
	}
	return true
}

// needsWorker reports whether an item takes more than copying.
func (r *run[R]) needsWorker(i item) bool {
	if i.action != copyEntry {
		return true
	}
	// From a jar to a jar, and from a file to a file, bytes are copied; in between they are compressed or inflated.
	inJar := i.entry.zip != nil
	return inJar != JarName(r.options.Output) && i.entry.declared() <= maxWhole && !i.entry.IsDir()
}

func (r *run[R]) write(ctx context.Context, ordered <-chan *task[R]) error {
	for t := range ordered {
		select {
		case <-t.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if t.err != nil {
			return t.err
		}
		if err := r.writeTask(t); err != nil {
			return err
		}
		if t.reported {
			r.reports = append(r.reports, t.report)
		}
		if t.changed {
			r.changed++
		}
		if r.written += t.entry.stored(); r.options.Progress != nil {
			r.options.Progress(r.written, r.plan.bytes)
		}
		r.held.Release(t.held)
		if cap(t.content.bytes) > maxWhole {
			t.content.bytes = nil // a rare giant; the next ones are small
		}
		r.tasks.Put(t)
	}
	return ctx.Err()
}

func (r *run[R]) writeTask(t *task[R]) error {
	switch {
	case t.kept:
		return r.out.keep(t.entry)
	case t.whole:
		return r.out.put(t.entry, &t.content)
	}
	return r.out.copy(t.entry)
}

// worker does tasks. It keeps its memory from one to the next.
type worker[R any] struct {
	reader
	rewriter    Rewriter[R]
	compression Compression
	toJar       bool
	deflater    *flate.Writer
}

func (w *worker[R]) do(t *task[R]) error {
	switch t.action {
	case rewriteClass:
		return w.rewrite(t)
	case stripManifest:
		manifest, err := w.read(t.entry, maxClass)
		if err != nil {
			return placed(t.entry, err)
		}
		return w.keep(t, withoutDigests(manifest))
	case mergeServices:
		return w.merge(t)
	}
	b, err := w.read(t.entry, maxWhole)
	if err != nil {
		return placed(t.entry, err)
	}
	return w.keep(t, b)
}

func (w *worker[R]) rewrite(t *task[R]) error {
	t.reported = true
	class, err := w.read(t.entry, maxClass)
	if err != nil {
		if t.report = w.rewriter.Unreadable(t.entry, err); w.toJar != (t.entry.zip != nil) {
			return placed(t.entry, err) // it can't be copied without being read
		}
		return nil
	}
	out, report := w.rewriter.Rewrite(t.entry, class)
	t.report = report
	t.changed = out != nil
	switch {
	case out != nil:
		return w.keep(t, out)
	case w.toJar == (t.entry.zip != nil):
		return nil // copied from its input
	}
	return w.keep(t, class)
}

func (w *worker[R]) merge(t *task[R]) error {
	var files [][]byte
	for _, e := range append([]*Entry{t.entry}, t.others...) {
		b, err := e.Content()
		if err != nil {
			return placed(e, err)
		}
		files = append(files, b)
	}
	return w.keep(t, mergeLines(files))
}

// keep copies b into the task, in the form that the output needs.
func (w *worker[R]) keep(t *task[R], b []byte) error {
	t.whole = true
	c := &t.content
	c.size = len(b)
	c.method = zip.Store
	if !w.toJar {
		c.bytes = append(c.bytes[:0], b...)
		return nil
	}
	c.crc = crc32.ChecksumIEEE(b)
	c.method = w.compression.method(t.entry)
	if c.method == zip.Store {
		c.bytes = append(c.bytes[:0], b...)
		return nil
	}
	return w.deflate(c, b)
}

func (w *worker[R]) deflate(c *content, b []byte) error {
	to := appender{c.bytes[:0]}
	if w.deflater == nil {
		var err error
		if w.deflater, err = flate.NewWriter(&to, flate.DefaultCompression); err != nil {
			return err
		}
	} else {
		w.deflater.Reset(&to)
	}
	if _, err := w.deflater.Write(b); err != nil {
		return err
	}
	err := w.deflater.Close()
	c.bytes = to.bytes
	return err
}

// method is the compression method of an entry that is written anew.
func (c Compression) method(e *Entry) uint16 {
	switch {
	case c == Store:
		return zip.Store
	case c == Keep && e.zip != nil && e.zip.Method == zip.Store:
		return zip.Store
	}
	return zip.Deflate
}

// appender is an io.Writer that appends.
type appender struct{ bytes []byte }

func (a *appender) Write(b []byte) (int, error) {
	a.bytes = append(a.bytes, b...)
	return len(b), nil
}
