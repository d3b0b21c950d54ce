package eventlog_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/jiffyperf/jiffy/runtime-collector/eventlog"
	"github.com/jiffyperf/jiffy/runtime-collector/eventlog/eventlogtest"
)

func TestFoldedRowsReadBack(t *testing.T) {
	rows := []eventlog.FoldRow{
		{Thread: 2, ID: 7, Calls: 3, Thrown: 1, Suspended: 2, Total: 100, Self: 60, Max: 50, Children: 4, First: 10,
			Last: 900, Clock: eventlog.NanoTime, SelfApprox: true,
			Histogram: []eventlog.BucketCount{{Bucket: 3, Count: 1}, {Bucket: 30, Count: 2}}},
		{Thread: 2, ID: 8, Calls: 1, Clock: eventlog.NanoTime},
	}
	w := eventlogtest.New()
	w.Fold(1, eventlog.FoldRow{ID: 99}).Fold(2, rows...)
	var got []eventlog.FoldRow
	for row, err := range open(t, w.Bytes()).Folded(2) {
		if err != nil {
			t.Fatal(err)
		}
		r := *row
		r.Histogram = append([]eventlog.BucketCount(nil), row.Histogram...)
		got = append(got, r)
	}
	if diff := cmp.Diff(rows, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func TestFoldedRowWithTooManyBuckets(t *testing.T) {
	w := eventlogtest.New()
	payload := make([]byte, 12*8)
	payload[11*8+7] = 0x7f
	w.Chunk(eventlog.ChunkFold, 0, 1, payload)
	w.Fold(0, eventlog.FoldRow{ID: 9})
	var errs, rows int
	for _, err := range open(t, w.Bytes()).Folded(0) {
		if err != nil {
			errs++
		} else {
			rows++
		}
	}
	if errs != 1 || rows != 1 {
		t.Errorf("%d errors and %d rows, want one each", errs, rows)
	}
}

func TestBuckets(t *testing.T) {
	next := int64(0)
	for b := range uint16(488) {
		low, high := eventlog.Bounds(b)
		if low != next {
			t.Fatalf("bucket %d begins at %d, want %d", b, low, next)
		}
		if eventlog.Bucket(low) != b || eventlog.Bucket(high) != b {
			t.Fatalf("bucket %d: its bounds %d and %d are in %d and %d", b, low, high, eventlog.Bucket(low), eventlog.Bucket(high))
		}
		if width := high - low + 1; low >= 16 && width > low/8 {
			t.Fatalf("bucket %d is %d wide at %d", b, width, low)
		}
		next = high + 1
	}
	if low, high := eventlog.Bounds(65535); low > high || high < 0 {
		t.Errorf("bounds of an impossible bucket: %d, %d", low, high)
	}
}

func TestSnapshotTakesTheNewestWhole(t *testing.T) {
	snapshot := func(mono int64, id uint64) *eventlogtest.Writer {
		w := eventlogtest.New()
		w.Pairing.Mono = mono
		return w.Fold(0, eventlog.FoldRow{ID: id}).End("snapshot")
	}
	older, newer := snapshot(100, 1), snapshot(200, 2)
	mixed := eventlogtest.New()
	mixed.Pairing.Mono = 300
	mixed.Fold(0, eventlog.FoldRow{ID: 3})
	mixed.Pairing.Mono = 100
	mixed.End("snapshot")
	cut := func(w *eventlogtest.Writer) []byte { return w.Bytes()[:len(w.Bytes())-8] }

	tests := map[string]struct {
		slots [2][]byte
		want  uint64 // id of the row; 0 no snapshot
	}{
		"both whole":                  {[2][]byte{newer.Bytes(), older.Bytes()}, 2},
		"newest cut":                  {[2][]byte{older.Bytes(), cut(newer)}, 1},
		"newest over an older one":    {[2][]byte{mixed.Bytes(), older.Bytes()}, 1},
		"none whole":                  {[2][]byte{cut(older), cut(newer)}, 0},
		"other slot is no log at all": {[2][]byte{[]byte("something else, long enough"), older.Bytes()}, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var paths []string
			for i, content := range test.slots {
				paths = append(paths, eventlogtest.WriteBytes(t, content, dir, string(rune('0'+i))))
			}
			l, err := eventlog.OpenSnapshot(paths...)
			if err != nil {
				t.Fatal(err)
			}
			var got uint64
			if l != nil {
				defer l.Close()
				for row := range l.Folded(0) {
					got = row.ID
				}
			}
			if got != test.want {
				t.Errorf("snapshot with row %d, want %d", got, test.want)
			}
		})
	}
}
