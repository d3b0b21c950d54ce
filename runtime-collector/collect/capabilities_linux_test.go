package collect

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

func TestCapabilitiesSayWhatCanBeReadAndWhyNot(t *testing.T) {
	const nobody = 1<<22 + 1 // above the largest pid_max
	for pid, want := range map[int][2]string{
		os.Getpid(): {"true", ""},
		nobody:      {"false", "no such file or directory"},
	} {
		rows := probeCapabilities(pid)
		of := "/proc/" + strconv.Itoa(pid) + "/"
		found := 0
		for _, row := range rows[1:] {
			if strings.HasPrefix(row[0], of) && !strings.HasSuffix(row[0], "/time_in_state") && !strings.HasSuffix(row[0], "/schedstat") {
				found++
				if row[1] != want[0] || row[2] != want[1] {
					t.Errorf("%q, want %q", row, want)
				}
			}
		}
		if found != 3 {
			t.Errorf("%d files of pid %d, want stat, and the leader's stat and comm", found, pid)
		}
	}
}
