package eventlog_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/jiffyperf/jiffy/runtime-collector/eventlog"
	"github.com/jiffyperf/jiffy/runtime-collector/eventlog/eventlogtest"
)

func open(t testing.TB, log []byte) *eventlog.Log {
	t.Helper()
	l, err := eventlog.Read("test.jiffy", bytes.NewReader(log), int64(len(log)))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func collect(t testing.TB, c *eventlog.Cursor) []eventlog.Event {
	t.Helper()
	var events []eventlog.Event
	for e := c.Next(); e != nil; e = c.Next() {
		events = append(events, *e)
	}
	if err := c.Err(); err != nil {
		t.Fatal(err)
	}
	return events
}

func call(id uint64, start, end int64) eventlog.Event {
	return eventlog.Event{ID: id, Start: start, End: end, Clock: eventlog.NanoTime}
}

// full has every kind of chunk.
func full() *eventlogtest.Writer {
	w := eventlogtest.New("pid", "42", "java_class_path", "a:b")
	w.Thread(eventlog.Thread{Index: 0, JavaID: 1, TID: 43, StartTime: 7, Flags: eventlog.MainThread, Name: "main"})
	w.Cost("start", 60, 20)
	w.Events(0, call(5, 1100, 1200), call(4, 1000, 1300))
	w.Events(0, call(6, 1400, 1500))
	w.Counters("events", "3", "dropped", "0")
	w.End("shutdown")
	return w
}

func TestReadsEverythingBack(t *testing.T) {
	w := full()
	w.Open(0, "taken_ns", "99", "java_id", "1", "state", "RUNNABLE", "depth", "2",
		"frame0", "com.acme.Oven#bake:12", "frame1", "com.acme.Main#<init>:-1")
	w.Phase(1500, "quota")
	l := open(t, w.Bytes())

	want := &eventlog.Log{
		Path: "test.jiffy",
		Size: int64(len(w.Bytes())),
		Header: eventlog.Header{Version: 1,
			Properties: map[string]string{"pid": "42", "java_class_path": "a:b"}},
		Threads: []eventlog.Thread{{JavaID: 1, TID: 43, StartTime: 7, Flags: eventlog.MainThread, Name: "main"}},
		Counters: eventlog.Counters{Events: 3, DiscardedOwn: -1, Folded: -1, Threads: -1, Blocks: -1,
			BytesWritten: -1, WriterCPU: -1},
		Costs: []eventlog.Cost{{When: "start", Clock: "nanoTime", Pairs: 10000, PairNS: 60, InnerNS: 20}},
		Stacks: []eventlog.Stack{{Taken: 99, JavaID: 1, State: "RUNNABLE", Depth: 2, Frames: []eventlog.Frame{
			{Class: "com.acme.Oven", Method: "bake", Line: 12}, {Class: "com.acme.Main", Method: "<init>", Line: -1}}}},
		Phase: &eventlog.Phase{ExactUntil: 1500, Clock: eventlog.NanoTime, Reason: "quota"},
		End:   &eventlog.End{Reason: "shutdown", Mono: 1e9},
	}
	if diff := cmp.Diff(want, l, cmpopts.IgnoreUnexported(eventlog.Log{}), cmpopts.IgnoreFields(eventlog.Log{}, "Clocks")); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	if got := l.Events(); got != 3 {
		t.Errorf("Events() = %d, want 3", got)
	}
	if got := l.EventsOf(0); got != 3 {
		t.Errorf("EventsOf(0) = %d, want 3", got)
	}
}

func TestCursorsGiveEndOrderAndItsReverse(t *testing.T) {
	l := open(t, full().Bytes())
	want := []eventlog.Event{call(5, 1100, 1200), call(4, 1000, 1300), call(6, 1400, 1500)}
	if diff := cmp.Diff(want, collect(t, l.Forward(0))); diff != "" {
		t.Errorf("forward (-want +got):\n%s", diff)
	}
	want[0], want[2] = want[2], want[0]
	if diff := cmp.Diff(want, collect(t, l.Backward(0))); diff != "" {
		t.Errorf("backward (-want +got):\n%s", diff)
	}
	if got := collect(t, l.Backward(7)); got != nil {
		t.Errorf("a thread without events has %v", got)
	}
}

// The bytes are worked out by hand from docs/event-log.md, so that the reader
// and the writer of the tests can't be wrong in the same way.
func TestRecordLayout(t *testing.T) {
	tests := map[string]struct {
		words string // after the base of 1000, in the order of the page: big-endian words
		want  eventlog.Event
	}{
		"short": {
			words: "000000000abc" + "4000" + "00000a" + "0000000014",
			want:  eventlog.Event{ID: 0xabc, Outcome: eventlog.Thrown, Start: 1010, End: 1020},
		},
		"suspended": {
			words: "000000000001" + "8000" + "000003" + "0000000000",
			want:  eventlog.Event{ID: 1, Outcome: eventlog.Suspended, Start: 997, End: 1000},
		},
		"longest short duration": {
			words: "ffffffffffff" + "3fff" + "ffffff" + "ffffffffff",
			want:  eventlog.Event{ID: 1<<48 - 1, Start: 1000 + 1<<40 - 1 - (1<<38 - 1), End: 1000 + 1<<40 - 1},
		},
		"escape": {
			words: "000000000002" + "c001" + "0000000000000001" + "0000010000000000" + "0000000000000000",
			want:  eventlog.Event{ID: 2, Outcome: eventlog.Thrown, Start: 1, End: 1 << 40},
		},
		"cover": {
			words: "000000000000" + "c004" + "0000000000000064" + "00000000000000c8" + "0000000000000032",
			want:  eventlog.Event{Kind: eventlog.Cover, Start: 100, End: 200, Covered: 50},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			words, err := hex.DecodeString("00000000000003e8" + test.words)
			if err != nil {
				t.Fatal(err)
			}
			var payload []byte
			for ; len(words) > 0; words = words[8:] {
				for i := 7; i >= 0; i-- {
					payload = append(payload, words[i])
				}
			}
			w := eventlogtest.New()
			w.Clock = eventlog.ElapsedRealtimeNanos
			w.Chunk(eventlog.ChunkEvents, 0, 1, payload)
			test.want.Clock = eventlog.ElapsedRealtimeNanos
			if diff := cmp.Diff([]eventlog.Event{test.want}, collect(t, open(t, w.Bytes()).Forward(0))); diff != "" {
				t.Errorf("event (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSharedChunksCarryTheJavaThread(t *testing.T) {
	a, b := call(1, 10, 20), call(2, 0, 1<<41)
	a.JavaThread, b.JavaThread = 100, 101
	w := eventlogtest.New()
	w.Shared(3, a, b)
	if diff := cmp.Diff([]eventlog.Event{a, b}, collect(t, open(t, w.Bytes()).Forward(3))); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestImpossibleRecordsAreCountedAndLeftOut(t *testing.T) {
	good := call(1, 10, 20)
	tests := map[string]eventlog.Event{
		"end before start":      {ID: 1, Start: 1 << 42, End: 1 << 41},
		"difference overflows":  {ID: 1, Start: math.MinInt64, End: math.MaxInt64},
		"cover beyond its span": {Kind: eventlog.Cover, Start: 1, End: 2, Covered: 3},
		"unknown kind":          {Kind: 9, Start: 1, End: 2},
	}
	for name, bad := range tests {
		t.Run(name, func(t *testing.T) {
			w := eventlogtest.New()
			w.Events(0, good, bad, good)
			c := open(t, w.Bytes()).Backward(0)
			if got := len(collect(t, c)); got != 2 {
				t.Errorf("%d events, want 2", got)
			}
			if c.Bad() != 1 {
				t.Errorf("Bad() = %d, want 1", c.Bad())
			}
		})
	}
}

// Wherever a log is cut, all chunks before the cut are read, and the bytes
// after the last of them are counted.
func TestCutAtEveryByte(t *testing.T) {
	whole := full().Bytes()
	ends, headerEnd := chunkEnds(whole)
	for n := range whole {
		l, err := eventlog.Read("cut", bytes.NewReader(whole[:n]), int64(n))
		if err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		chunks, kept := 0, 0
		for _, end := range ends {
			if end <= n {
				chunks, kept = chunks+1, end
			}
		}
		if n >= headerEnd && kept == 0 {
			kept = headerEnd
		}
		if got := len(l.Pairings()); got != chunks {
			t.Errorf("cut at %d: %d chunks, want %d", n, got, chunks)
		}
		if got := l.Torn(); got != int64(n-kept) {
			t.Errorf("cut at %d: %d bytes torn, want %d", n, got, n-kept)
		}
		if l.Header.Damaged != (n < headerEnd) {
			t.Errorf("cut at %d: Header.Damaged = %v", n, l.Header.Damaged)
		}
	}
}

// chunkEnds returns the offset after each chunk, and after the file header.
func chunkEnds(log []byte) (ends []int, header int) {
	var starts []int
	for i := 0; i < len(log); i += 8 {
		if string(log[i:i+4]) == "CHNK" {
			starts = append(starts, i)
		}
	}
	ends = append(ends, starts[1:]...)
	return append(ends, len(log)), starts[0]
}

// A flipped bit anywhere costs at most its own chunk.
func TestFlippedBitCostsOneChunk(t *testing.T) {
	whole := full().Bytes()
	ends, headerEnd := chunkEnds(whole)
	for i := range whole {
		damaged := bytes.Clone(whole)
		damaged[i] ^= 0x10
		l, err := eventlog.Read("flipped", bytes.NewReader(damaged), int64(len(damaged)))
		if err != nil {
			t.Fatalf("byte %d: %v", i, err)
		}
		want := len(ends)
		if i >= headerEnd {
			want--
		}
		// The zero at the end of the header isn't under its checksum.
		if got := len(l.Pairings()); got != want {
			t.Errorf("byte %d flipped: %d chunks, want %d", i, got, want)
		}
		if i >= headerEnd && (len(l.Damage) != 1 || l.Missing > 1) {
			t.Errorf("byte %d flipped: damage %v, %d chunks missing", i, l.Damage, l.Missing)
		}
	}
}

func TestHoleInTheMiddle(t *testing.T) {
	w := full()
	before := len(w.Bytes())
	w.Events(0, call(7, 1600, 1700))
	hole := len(w.Bytes()) - before
	w.Events(0, call(8, 1800, 1900))
	log := bytes.Clone(w.Bytes())
	clear(log[before : before+hole])

	l := open(t, log)
	if got := l.Events(); got != 4 {
		t.Errorf("%d events, want the 4 outside the hole", got)
	}
	want := []eventlog.Gap{{Offset: int64(before), Length: int64(hole), Reason: "no chunk here"}}
	if diff := cmp.Diff(want, l.Damage); diff != "" {
		t.Errorf("damage (-want +got):\n%s", diff)
	}
	if l.Missing != 1 {
		t.Errorf("Missing = %d, want 1", l.Missing)
	}
}

func TestStrayWordsBetweenChunks(t *testing.T) {
	log := bytes.Clone(full().Bytes())
	_, first := chunkEnds(log)
	stray := append(append(bytes.Clone(log[:first]), "CHNK\x02\x01 !"...), log[first:]...)
	l := open(t, stray)
	if l.Events() != 3 || l.Torn() != 8 || l.Missing != 0 {
		t.Errorf("%d events, %d bytes torn, %d chunks missing, want 3, 8 and 0", l.Events(), l.Torn(), l.Missing)
	}
}

func TestHugeChunkLengthIsNotAllocated(t *testing.T) {
	w := full()
	log := bytes.Clone(w.Bytes())
	_, first := chunkEnds(log)
	copy(log[first+8:], "\xf8\xff\xff\xff")
	l := open(t, log)
	if len(l.Damage) != 1 || l.Damage[0].Reason != "bad chunk length" {
		t.Errorf("damage = %v", l.Damage)
	}
	if l.Events() != 3 {
		t.Errorf("%d events, want 3", l.Events())
	}
	if len(l.Threads) != 1 || !l.Threads[0].Unknown {
		t.Errorf("threads = %v, want one that is unknown", l.Threads)
	}
}

func TestOpenRefuses(t *testing.T) {
	version2 := bytes.Clone(eventlogtest.New().Bytes())
	dir := t.TempDir()
	tests := map[string]struct {
		content []byte
		want    error
	}{
		"another format":          {[]byte("PK\x03\x04 this is not a log at all"), eventlog.ErrNotLog},
		"a version from tomorrow": {withVersion(version2, 2), eventlog.ErrVersion},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, "events-1-2-0.jiffy")
			if err := os.WriteFile(path, test.content, 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := eventlog.Open(path)
			if !errors.Is(err, test.want) {
				t.Fatalf("error %v, want %v", err, test.want)
			}
			if !strings.HasPrefix(err.Error(), path) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error doesn't name the file in one line: %v", err)
			}
		})
	}
	if _, err := eventlog.Open(dir); !errors.Is(err, eventlog.ErrNotLog) {
		t.Errorf("a directory: error %v", err)
	}
	if _, err := eventlog.Open(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: error %v", err)
	}
}

func TestPropertyEscapes(t *testing.T) {
	w := eventlogtest.New("main_class", "a=b\nc\\n\rd", "empty", "")
	got := open(t, w.Bytes()).Header.Properties
	want := map[string]string{"main_class": "a=b\nc\\n\rd", "empty": ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("properties (-want +got):\n%s", diff)
	}
}

func TestFileNames(t *testing.T) {
	tests := map[string]struct {
		want eventlog.FileName
		bad  bool
	}{
		"x/events-42-7000-0.jiffy":              {want: eventlog.FileName{PID: 42, StartTime: 7000}},
		"folded-42-7000-1-1.jiffy":              {want: eventlog.FileName{Folded: true, PID: 42, StartTime: 7000, N: 1, Slot: 1}},
		"events-42-7000-0":                      {bad: true},
		"events-42-7000.jiffy":                  {bad: true},
		"events-42-x-0.jiffy":                   {bad: true},
		"events--1-7-0.jiffy":                   {bad: true},
		"events-99999999999999999999-7-0.jiffy": {bad: true},
		"folded-42-7000-1.jiffy":                {bad: true},
		"thread-42-7000-1.jiffy":                {bad: true},
	}
	for path, test := range tests {
		got, err := eventlog.ParseFileName(path)
		if (err != nil) != test.bad || got != test.want {
			t.Errorf("%s: %+v, %v", path, got, err)
		}
	}
}

func withVersion(log []byte, version byte) []byte {
	log[8] = version
	return eventlogtest.SealHeader(log)
}

func TestCostPrefersTheExport(t *testing.T) {
	w := eventlogtest.New()
	w.Cost("start", 60, 20).Cost("export", 50, 15)
	if got, _ := open(t, w.Bytes()).Cost(); got.PairNS != 50 {
		t.Errorf("cost %+v, want the one at export", got)
	}
	w = eventlogtest.New()
	w.Cost("start", 60, 20).Cost("export", math.NaN(), 1)
	if got, _ := open(t, w.Bytes()).Cost(); got.PairNS != 60 {
		t.Errorf("cost %+v, want the only valid one", got)
	}
}

func FuzzOpen(f *testing.F) {
	whole := full().Bytes()
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	folded := eventlogtest.New()
	folded.Fold(0, eventlog.FoldRow{ID: 1, Calls: 2, Histogram: []eventlog.BucketCount{{Bucket: 9, Count: 2}}})
	folded.Shared(0, eventlog.Event{ID: 2, Start: 3, End: 1 << 45}).Phase(3, "memory")
	f.Add(folded.Bytes())
	f.Fuzz(func(t *testing.T, log []byte) {
		for _, log := range [][]byte{log, eventlogtest.Seal(bytes.Clone(log))} {
			l, err := eventlog.Read("fuzz", bytes.NewReader(log), int64(len(log)))
			if err != nil {
				continue
			}
			for _, thread := range l.Threads {
				forward, backward := l.Forward(thread.Index), l.Backward(thread.Index)
				n, m := len(collect(t, forward)), len(collect(t, backward))
				if n != m || forward.Bad() != backward.Bad() {
					t.Fatalf("%d events forward, %d backward", n, m)
				}
			}
			for _, thread := range l.Threads {
				for row, err := range l.Folded(thread.Index) {
					if err == nil && (row.ID >= 1<<48 || row.Thread != thread.Index) {
						t.Fatalf("id %x of thread %d", row.ID, row.Thread)
					}
				}
			}
			for _, p := range l.Pairings() {
				l.Clocks.Mono(eventlog.ElapsedRealtime, p.Boot)
			}
			if l.Torn() > l.Size {
				t.Fatalf("%d bytes torn of %d", l.Torn(), l.Size)
			}
		}
	})
}
