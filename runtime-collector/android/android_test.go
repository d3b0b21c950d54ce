package android

import (
	"path/filepath"
	"testing"

	"github.com/jiffyperf/jiffy/runtime-collector/eventlog"
)

// device runs the program App as if the JVM were a device: with classes named like Android's.
func device(t *testing.T, files string, options, args []string) result {
	t.Helper()
	j := anyJDK(t)
	classPath := programClasses(t, j, "testdata/device", "--release", "8", "-Xlint:-options")
	r := run{jdk: j, noLog: true, program: "App", options: append(options, "-Dfiles="+files), args: args}
	return r.startWith(t, classPath)
}

func TestOnDevice(t *testing.T) {
	tests := []struct {
		name    string
		options []string
		dir     string
	}{
		{"external files", nil, "external/jiffy"},
		{"no external files", []string{"-Dno.external=true"}, "internal/jiffy"},
		{"folded", []string{"-Djiffy.quota=0"}, "external/jiffy"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			files := t.TempDir()
			r := device(t, files, test.options, []string{"100"})
			if r.code != 3 || r.stdout != "true true\ndying of an exception\n" || r.stderr != "" {
				t.Fatalf("exit code %d, stdout:\n%sstderr:\n%s", r.code, r.stdout, r.stderr)
			}
			r.dir = filepath.Join(files, test.dir)
			log := r.open(t)
			log.want(t, 1, 1000, 0)
			log.want(t, 2, 2000, 1000)
			log.want(t, 3, 2000, 1000)
			log.want(t, 4, 1000, 0)
			log.want(t, 5, 1000, 0)
			log.want(t, 6, 1, 1) // written by the crash handler: the process halts right after
			if got := log.Header.Properties["platform"]; got != "android" {
				t.Errorf("platform %q", got)
			}
			for _, thread := range log.Threads {
				if thread.TID == 0 {
					t.Errorf("thread without tid: %+v", thread)
				}
			}
			log.wantClocks(t)
		})
	}
}

// wantClocks fails the test unless each method's calls bear the clock that took them, and its times.
func (r *recorded) wantClocks(t *testing.T) {
	t.Helper()
	first, last := r.Pairings()[0], r.Pairings()[len(r.Pairings())-1]
	for _, thread := range r.Threads {
		c := r.Forward(thread.Index)
		for e := c.Next(); e != nil; e = c.Next() {
			want := eventlog.ElapsedRealtimeNanos
			if e.ID == 3 || e.ID == 4 {
				want = eventlog.ElapsedRealtime
			}
			if e.Clock != want {
				t.Fatalf("method %d bears clock %v, want %v", e.ID, e.Clock, want)
			}
			if e.Start < first.Boot-5e9 || e.End > last.Boot || e.Duration() > 1e9 {
				t.Fatalf("a call from %d to %d, the log was written from %d to %d", e.Start, e.End, first.Boot, last.Boot)
			}
		}
	}
}

func TestIsolatedProcessWritesNothing(t *testing.T) {
	files := t.TempDir()
	r := device(t, files, []string{"-Disolated=true"}, []string{"0"})
	if r.code != 3 || r.stdout != "false false\ndying of an exception\n" {
		t.Errorf("exit code %d, stdout:\n%s", r.code, r.stdout)
	}
	if written, _ := filepath.Glob(filepath.Join(files, "*")); len(written) > 0 {
		t.Errorf("written: %v", written)
	}
	if want := 1; len(splitLines(r.stderr)) != want {
		t.Errorf("stderr, want one line:\n%s", r.stderr)
	}
}
