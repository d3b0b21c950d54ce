package collect

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func started() facts {
	return facts{
		version: "v1.2.3", command: []string{"java", "-cp", "a b.jar", "Main"}, pid: 42,
		start: time.Date(2024, 2, 29, 23, 59, 58, 7, time.FixedZone("", 5400)), startMono: 123456789,
		hz: 100, cpus: 2, cpusPossible: 8, host: "box", kernel: "Linux 6.1 x86_64", interval: time.Second,
	}
}

// readFacts writes the facts and reads the file back.
func readFacts(t *testing.T, f facts) map[string]string {
	t.Helper()
	path := filepath.Join(t.TempDir(), factsFile)
	if err := writeCSV(path, f.rows()); err != nil {
		t.Fatal(err)
	}
	return readKeyValues(t, path)
}

func readKeyValues(t *testing.T, path string) map[string]string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(records[0], []string{"key", "value"}) {
		t.Errorf("header %q", records[0])
	}
	values := make(map[string]string)
	for _, r := range records[1:] {
		if _, twice := values[r[0]]; twice {
			t.Errorf("key %s is there twice", r[0])
		}
		values[r[0]] = r[1]
	}
	return values
}

func TestFactsAtStart(t *testing.T) {
	want := map[string]string{
		"schema_version": "1", "jiffy_version": "v1.2.3", "command": "java -cp 'a b.jar' Main", "attached": "false", "pid": "42",
		"start": "2024-02-29T23:59:58.000000007+01:30", "start_mono_ns": "123456789", "hz": "100", "cpus": "2", "cpus_possible": "8",
		"host": "box", "kernel": "Linux 6.1 x86_64", "interval_ns": "1000000000", "complete": "false",
		"duration_ns": "", "collector_cpu_ns": "", "samples": "", "samples_missed": "", "exit_code": "", "exit_signal": "", "rusage_cpu_ns": "",
	}
	if diff := cmp.Diff(want, readFacts(t, started())); diff != "" {
		t.Errorf("collect.csv (-want +got):\n%s", diff)
	}
}

func TestFactsAtEnd(t *testing.T) {
	for _, c := range []struct {
		name              string
		exit              *exit
		code, signal, cpu string
		status            int
	}{
		{"exit code", &exit{code: 7, cpu: 1500 * time.Millisecond}, "7", "", "1500000000", 7},
		{"exit code 0", &exit{}, "0", "", "0", 0},
		{"killed", &exit{code: -1, signal: "SIGKILL", number: 9, cpu: time.Nanosecond}, "", "SIGKILL", "1", 137},
		{"attached", nil, "", "", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := started()
			f.complete, f.duration, f.collectorCPU, f.samples, f.missed = true, 3*time.Second, 99, 8, 0
			f.exit = c.exit
			got := readFacts(t, f)
			for key, want := range map[string]string{
				"exit_code": c.code, "exit_signal": c.signal, "rusage_cpu_ns": c.cpu,
				"complete": "true", "duration_ns": "3000000000", "collector_cpu_ns": "99", "samples": "8", "samples_missed": "0",
			} {
				if got[key] != want {
					t.Errorf("%s = %q, want %q", key, got[key], want)
				}
			}
			if c.exit != nil && c.exit.status() != c.status {
				t.Errorf("exit status %d, want %d", c.exit.status(), c.status)
			}
		})
	}
}

func TestWriteAtomicLeavesTheOldFileWhenItFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "taken")
	if err := os.Mkdir(path, 0o755); err != nil { // a rename onto it fails
		t.Fatal(err)
	}
	if err := writeAtomic(path, []byte("x")); err == nil || !strings.Contains(err.Error(), "taken") {
		t.Errorf("error %v", err)
	}
	if got := tree(t, dir); !slices.Equal(got, []string{"taken"}) {
		t.Errorf("left behind: %q", got)
	}
}
