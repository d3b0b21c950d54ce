package report

import (
	"iter"
	"path/filepath"
	"strconv"
	"time"

	"github.com/jiffyperf/jiffy/csvexport"
	"github.com/jiffyperf/jiffy/runtime-collector/timeline"
)

// threadColumns keeps the columns of threads, which repeat for every call.
type threadColumns struct {
	m     *maker
	known map[threadKey]csvexport.Columns
	quote func(t *timeline.Track, name string) csvexport.Columns
}

type threadKey struct {
	track int32
	java  int64
}

// maxVirtual bounds how many threads' columns are kept: there can be millions of
// virtual threads.
const maxVirtual = 1 << 16

func (c *threadColumns) of(call *timeline.Call) csvexport.Columns {
	key := threadKey{call.Track, call.JavaThread}
	columns, ok := c.known[key]
	if ok {
		return columns
	}
	track := &c.m.t.Tracks[call.Track]
	threadName := track.Name
	if call.JavaThread != 0 {
		threadName = "virtual-" + strconv.FormatInt(call.JavaThread, 10)
	}
	if len(c.known) >= maxVirtual {
		clear(c.known)
	}
	columns = c.quote(track, threadName)
	c.known[key] = columns
	return columns
}

// sorted gives the calls of a sorter, until the report is cancelled.
func (m *maker) sorted(calls *timeline.CallSorter) iter.Seq2[*timeline.Call, error] {
	return func(yield func(*timeline.Call, error) bool) {
		n := int64(0)
		for c, err := range calls.Sorted() {
			if n++; n%progressStep == 0 {
				if err := m.ctx.Err(); err != nil {
					yield(nil, err)
					return
				}
				m.progress(progressStep)
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// progressStep is after how many calls progress is told.
const progressStep = 1 << 14

// writeCalls writes calls.csv.
func (m *maker) writeCalls() error {
	return m.file(csvexport.CallsFile, func(f *csvexport.File) error {
		w, err := csvexport.NewCallWriter(f)
		if err != nil {
			return err
		}
		threads := threadColumns{m: m, known: map[threadKey]csvexport.Columns{}, quote: tidAndName}
		for c, err := range m.sorted(m.calls) {
			if err != nil {
				return err
			}
			n := m.name(c.ID)
			err = w.Row(c.Start-m.start.mono, c.End-m.start.mono, int64(c.Depth), threads.of(c), n.columns,
				c.Outcome.String(), m.pid(m.t.Tracks[c.Track].Process))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func tidAndName(t *timeline.Track, name string) csvexport.Columns {
	id := ""
	if t.TID > 0 && !t.Virtual {
		id = strconv.FormatInt(t.TID, 10)
	}
	return csvexport.Quote(id, name)
}

func nameOnly(_ *timeline.Track, name string) csvexport.Columns { return csvexport.Quote(name) }

// file writes a file of the report that is there whole or not at all.
func (m *maker) file(name string, write func(*csvexport.File) error) error {
	f, err := csvexport.Create(filepath.Join(m.Out, name))
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.Abort()
		return err
	}
	if err := f.Commit(); err != nil {
		return err
	}
	m.Files = append(m.Files, name)
	return nil
}

// writeDemeter writes the two layouts of Demeter.
func (m *maker) writeDemeter() error {
	began := m.start.wall
	if began.IsZero() {
		began = time.Unix(0, 0).UTC()
	}
	threads := threadColumns{m: m, known: map[threadKey]csvexport.Columns{}, quote: nameOnly}
	err := m.file(csvexport.DemeterTracerFile(began), func(f *csvexport.File) error {
		w := csvexport.DemeterTracer{W: f}
		for c, err := range m.sorted(m.calls) {
			if err != nil {
				return err
			}
			err = w.Row(c.Start-m.start.mono, c.End-m.start.mono, int64(c.Depth), m.name(c.ID).short, threads.of(c))
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	byThread, err := timeline.NewCallSorter(m.Out, timeline.ByThread)
	if err != nil {
		return err
	}
	defer byThread.Close()
	if err := byThread.AddAll(m.sorted(m.calls)); err != nil {
		return err
	}
	return m.file(csvexport.DemeterTreeFile(began), func(f *csvexport.File) error {
		if _, err := f.WriteString(csvexport.DemeterTreeHeader); err != nil {
			return err
		}
		w := csvexport.DemeterTree{W: f}
		for c, err := range m.sorted(byThread) {
			if err != nil {
				return err
			}
			if err := w.Row(int64(c.Depth), c.End-c.Start, threads.of(c), m.name(c.ID).short); err != nil {
				return err
			}
		}
		return nil
	})
}
