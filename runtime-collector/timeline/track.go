package timeline

import (
	"slices"
	"strconv"

	"github.com/jiffyperf/jiffy/runtime-collector/eventlog"
)

// trackKey finds the track of a log's thread.
type trackKey struct {
	process int
	javaID  int64
	log     *eventlog.Log // set for threads without a Java id, and for stripes
	index   uint32
}

// addLogs joins the threads of the logs with those of the samples. One thread
// may be in several logs: two runtimes in one process, or a log and its snapshot
// of folded calls. Its Java id, unique in a process, joins them.
func (b *builder) addLogs() {
	tracks := map[trackKey]*Track{}
	for _, l := range b.in.Logs {
		process := b.process(l.Process)
		if l.Events != nil {
			if cost, ok := l.Events.Cost(); ok {
				b.costs[process] = cost
			}
			for _, t := range l.Events.Threads {
				track := b.trackOf(tracks, process, l.Events, t)
				if l.Events.EventsOf(t.Index) > 0 {
					track.sources = append(track.sources, source{l.Events, t.Index})
				}
			}
		}
		if l.Folded == nil {
			continue
		}
		for _, t := range l.Folded.Threads {
			track := b.trackOf(tracks, process, l.Folded, described(l, t))
			track.folds = append(track.folds, source{l.Folded, t.Index})
		}
	}
	b.joinByName()
}

// described returns what the log knows of a thread that the snapshot doesn't
// describe.
func described(l Log, t eventlog.Thread) eventlog.Thread {
	if t.Unknown && l.Events != nil {
		if known, ok := l.Events.Thread(t.Index); ok {
			return known
		}
	}
	return t
}

func (b *builder) trackOf(tracks map[trackKey]*Track, process int, log *eventlog.Log, t eventlog.Thread) *Track {
	key := trackKey{process: process, javaID: t.JavaID}
	stripe := t.Flags&eventlog.Stripe != 0
	if t.JavaID <= 0 || t.Unknown || stripe {
		key = trackKey{process: process, log: log, index: t.Index}
	}
	track := tracks[key]
	if track == nil {
		track = b.sampled(process, t)
		if track == nil {
			track = &Track{Process: process, TID: t.TID}
			b.tracks = append(b.tracks, track)
		}
		track.joined = track.series != nil
		tracks[key] = track
	}
	if t.Name != "" {
		track.Name = t.Name
	}
	if track.Name == "" {
		track.Name = "thread-" + strconv.FormatUint(uint64(t.Index), 10)
	}
	track.JavaID = t.JavaID
	track.Main = track.Main || t.Flags&eventlog.MainThread != 0
	track.Virtual = track.Virtual || stripe
	return track
}

// sampled finds the samples of a log's thread: the same tid, and the same start
// time where the log knows it. Two threads that had the same tid one after the
// other, without a start time to tell them apart, are not joined.
func (b *builder) sampled(process int, t eventlog.Thread) *Track {
	if t.TID == 0 || t.Flags&eventlog.Stripe != 0 {
		return nil
	}
	return b.only(process, func(track *Track) bool {
		return track.TID == t.TID && (t.StartTime == 0 || uint64(t.StartTime) == track.series.startTime)
	})
}

// only returns the one sampled thread of a process that fits and isn't joined
// yet; nil if there is none, or more than one.
func (b *builder) only(process int, fits func(*Track) bool) *Track {
	var found *Track
	for _, track := range b.tracks {
		if track.Process != process || track.series == nil || track.joined || !fits(track) {
			continue
		}
		if found != nil {
			return nil
		}
		found = track
	}
	return found
}

// joinByName joins the threads whose tid the log doesn't know: it takes the
// runtime a moment to find tids out, and short threads are gone by then. A name
// joins only if one thread on either side has it, and if the samples are from
// the time of the events.
func (b *builder) joinByName() {
	type key struct {
		process int
		comm    string
	}
	comms := map[key]int{}
	for _, t := range b.tracks {
		if len(t.sources)+len(t.folds) > 0 {
			comms[key{t.Process, b.comm(t)}]++
		}
	}
	taken := map[*Track]bool{}
	for _, t := range b.tracks {
		if t.series != nil || t.TID != 0 || t.Virtual || len(t.sources) == 0 || comms[key{t.Process, b.comm(t)}] != 1 {
			continue
		}
		comm := b.comm(t)
		pid := int64(b.Processes[t.Process].PID)
		sampled := b.only(t.Process, func(s *Track) bool {
			return s.series.comm == comm && !(t.Main && s.TID == pid)
		})
		if sampled == nil || !t.during(sampled.series, 1_000_000_000/b.HZ) {
			continue
		}
		t.TID, t.series = sampled.TID, sampled.series
		sampled.joined, t.joined = true, true
		taken[sampled] = true
	}
	b.tracks = slices.DeleteFunc(b.tracks, func(t *Track) bool { return taken[t] })
}

// commLength is how much of a name the kernel keeps, bytes (proc_pid_comm(5)).
const commLength = 15

// comm is what the kernel calls a thread of the log. A JVM gives its threads
// their Java names, but the main thread keeps the launcher's name, which is that
// of the process's first thread.
func (b *builder) comm(t *Track) string {
	if t.Main {
		for _, s := range b.tracks {
			if s.Process == t.Process && s.series != nil && s.TID == int64(b.Processes[t.Process].PID) {
				return s.series.comm
			}
		}
	}
	return t.Name[:min(len(t.Name), commLength)]
}

// during tells whether the first and the last event of a track are within the
// life of a sampled thread, give or take a tick.
func (t *Track) during(s *series, tick int64) bool {
	for _, src := range t.sources {
		mono := func(e *eventlog.Event) int64 { return src.log.Clocks.Mono(e.Clock, e.End) }
		first, last := src.log.Forward(src.thread).Next(), src.log.Backward(src.thread).Next()
		if first == nil || last == nil {
			return false
		}
		if s.fresh && mono(first) < s.birth()-tick || s.exited > 0 && mono(last) > s.exited {
			return false
		}
	}
	return true
}
