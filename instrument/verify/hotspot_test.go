package verify

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jiffyperf/jiffy/instrument/classfile"
	"github.com/jiffyperf/jiffy/proof/jdk"
)

// A trial is a class that HotSpot and the verifier judge.
type trial struct {
	name  string // of the test
	class string // as Class.forName wants it
	data  []byte
	world *world
}

// A world is the classes that others can see, by names as Class.forName wants them.
type world struct{ classes map[string][]byte }

// allJDKs returns the JDKs of the machine, the oldest first, and skips the test where there is none.
func allJDKs(t testing.TB) []jdk.JDK {
	t.Helper()
	all, err := jdk.Find()
	if err != nil {
		t.Skip(err)
	}
	return all
}

// hotspot returns what a virtual machine says about each trial: "ok" or the error and its message. It runs once.
func hotspot(t *testing.T, j jdk.JDK, trials []trial) []string {
	t.Helper()
	dir := t.TempDir()
	var cases []byte
	class := func(name string, data []byte) {
		cases = binary.BigEndian.AppendUint16(cases, uint16(len(name)))
		cases = append(cases, name...)
		cases = binary.BigEndian.AppendUint32(cases, uint32(len(data)))
		cases = append(cases, data...)
	}
	for i, trial := range trials {
		repeated := i > 0 && trial.world == trials[i-1].world
		count := uint32(0)
		if !repeated {
			count = uint32(1 + len(trial.world.classes))
		}
		cases = binary.BigEndian.AppendUint32(cases, count)
		class(trial.class, trial.data)
		if !repeated {
			for name, data := range trial.world.classes {
				class(name, data)
			}
		}
	}
	in, out := filepath.Join(dir, "cases"), filepath.Join(dir, "verdicts")
	if err := os.WriteFile(in, cases, 0o600); err != nil {
		t.Fatal(err)
	}
	options := []string{"-XX:+UnlockDiagnosticVMOptions", "-XX:+BytecodeVerificationRemote", "-XX:-PrintWarnings", "testdata/Judge.java"}
	if _, err := j.Run("java", append(options, in, out)...); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var verdicts []string
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		verdicts = append(verdicts, lines.Text())
	}
	if len(verdicts) != len(trials) {
		t.Fatalf("%d verdicts for %d classes", len(verdicts), len(trials))
	}
	return verdicts
}

// refusal returns the first reason why a virtual machine would refuse a class; nil if there is none.
func refusal(data []byte) (*Finding, error) {
	findings, err := Class(data)
	for i := range findings {
		if findings[i].Kind == Refused {
			return &findings[i], err
		}
	}
	return nil, err
}

// refused reports whether a verdict of HotSpot's is about the class itself, and not about what it refers to.
func refused(verdict string) bool {
	return strings.HasPrefix(verdict, "java.lang.VerifyError") || strings.HasPrefix(verdict, "java.lang.ClassFormatError")
}

// assumed matches the verdicts of HotSpot's that need another class to be looked at: whether one class, or the elements of
// an array, can be assigned to another, and what is protected where.
var assumed = regexp.MustCompile(`Type '[^'\[]+' \([^)]*\) is not assignable to '[^'\[]+'` +
	`|Type '(\[+)L[^']*' \([^)]*\) is not assignable to '\[+L` +
	`|Bad access to protected|Catch type is not a subclass of Throwable|current class isn't assignable to reference class`)

// judge compares the verifier's verdicts with HotSpot's: it must refuse nothing that HotSpot accepts, and what it accepts
// and HotSpot refuses must need another class to be seen.
func judge(t *testing.T, trials []trial, verdicts []string) {
	t.Helper()
	count := map[string]int{}
	for i, trial := range trials {
		ours, err := refusal(trial.data)
		if err != nil {
			count["not parsed"]++
			if verdicts[i] == "ok" {
				t.Errorf("%s: HotSpot accepts it, but: %v", trial.name, err)
			}
			continue
		}
		switch theirs := verdicts[i]; {
		case theirs == "ok" && ours == nil:
			count["both accept"]++
		case theirs == "ok":
			t.Errorf("%s: HotSpot accepts it, the verifier says: %v", trial.name, ours)
			keep(t, trial)
		case !refused(theirs):
			count["other error"]++
		case ours != nil:
			count["both refuse"]++
		case unchecked(trial.data):
			count["without frames"]++
		case assumed.MatchString(theirs):
			count["assumed"]++
		default:
			t.Errorf("%s: the verifier accepts it, HotSpot says: %s", trial.name, theirs)
			keep(t, trial)
		}
	}
	t.Logf("%d classes: %v", len(trials), count)
}

// unchecked reports whether a class is too old to have frames.
func unchecked(data []byte) bool {
	var c classfile.Class
	return c.Parse(data) == nil && c.Major < framesBinding
}

// keep writes a class that the two disagree about where somebody asked for it.
func keep(t *testing.T, trial trial) {
	dir := os.Getenv("JIFFY_KEEP")
	if dir == "" {
		return
	}
	name := strings.NewReplacer("/", "_", " ", "_", "#", "_").Replace(trial.name)
	if err := os.WriteFile(filepath.Join(dir, name+".class"), trial.data, 0o600); err != nil {
		t.Log(err)
	}
}
