package proof

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/jiffyperf/jiffy/instrument/classfile"
	"github.com/jiffyperf/jiffy/instrument/code"
	"github.com/jiffyperf/jiffy/instrument/verify"
	"github.com/jiffyperf/jiffy/proof/jdk"
)

// A corpus is a jar that `make corpora` fetched.
type corpus struct {
	name      string   // of the jar, without .jar
	libraries []string // jars of the cache that its classes need
	modules   *jdk.JDK // the corpus is this JDK's modules; nil: a jar of the cache
	timedOnce func() (timedCorpus, error)
}

// A timedCorpus is what `jiffy instrument --huge` made of a corpus, or of a sample of it.
type timedCorpus struct {
	plain, timed string         // jars
	instrumented int            // methods
	skipped      map[string]int // methods, by reason
	listed       []string       // the methods behind every reason but the usual ones
	failed       []string       // classes that can't be read
}

var corpora = []*corpus{
	{name: "guava"},
	{name: "groovy"},
	{name: "groovy-indy"},
	{name: "scala-library"},
	{name: "jython"},
	{name: "jython-2.5"},
	{name: "ecj"},
	{name: "closure-compiler"},
	{name: "selenium-server"},
	{name: "react-android", libraries: []string{"kotlin-stdlib.jar"}},
	{name: "r8"},
	{name: "kotlin-compiler", libraries: []string{"kotlin-stdlib.jar", "kotlin-reflect.jar", "kotlinx-coroutines-core-jvm.jar", "kotlin-script-runtime.jar", "annotations.jar"}},
	{name: "kotlin-stdlib"},
	{name: "kotlinx-coroutines-core-jvm", libraries: []string{"kotlin-stdlib.jar"}},
}

func init() {
	for _, c := range corpora {
		c.timedOnce = sync.OnceValues(c.instrument)
	}
}

// addModules adds the oldest and the newest JDK's modules, which need no fetching.
func addModules() {
	for _, j := range newestAndOldest() {
		c := &corpus{name: fmt.Sprintf("jdk-%d", j.Release), modules: &j}
		c.timedOnce = sync.OnceValues(c.instrument)
		corpora = append(corpora, c)
	}
}

// corpusLimit returns how many classes of each corpus are taken: JIFFY_CORPORA_LIMIT, where 0 is all; a few if it is not set, so that `go test` stays quick.
func corpusLimit() (int, error) {
	text := os.Getenv("JIFFY_CORPORA_LIMIT")
	if text == "" {
		return 60, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("JIFFY_CORPORA_LIMIT is %q, want a number of classes, or 0 for all", text)
	}
	return n, nil
}

var errNoCorpora = errors.New("not fetched; run `make corpora`")

// cached returns the path of a file that `make corpora` fetched. The error is errNoCorpora if it is not there.
func cached(name string) (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	if cache := os.Getenv("XDG_CACHE_HOME"); cache == "" && os.Getenv("HOME") != "" {
		dir = filepath.Join(os.Getenv("HOME"), ".cache") // also on macOS, as make/corpora.sh has it
	}
	path := filepath.Join(dir, "jiffy", "corpora", name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s: %w", name, errNoCorpora)
	}
	return path, nil
}

// needCached is cached; the test is skipped if a file is not there.
func needCached(t *testing.T, names ...string) (paths []string) {
	t.Helper()
	for _, name := range names {
		path, err := cached(name)
		if errors.Is(err, errNoCorpora) {
			t.Skip(err)
		}
		check(t, err)
		paths = append(paths, path)
	}
	return paths
}

// jars returns the paths of what a corpus's classes may need: the whole jar, since a sample needs the rest, and its libraries. Nothing for a JDK's modules.
func (c *corpus) jars(t *testing.T) []string {
	t.Helper()
	if c.modules != nil {
		return nil
	}
	return needCached(t, append([]string{c.name + ".jar"}, c.libraries...)...)
}

// eachCorpus runs a test for each corpus, one after the other: they are large.
func eachCorpus(t *testing.T, test func(t *testing.T, c *corpus, made timedCorpus)) {
	t.Helper()
	if testing.Short() {
		t.Skip("reads whole corpora")
	}
	for _, c := range corpora {
		t.Run(c.name, func(t *testing.T) {
			c.jars(t)
			made, err := c.timedOnce()
			check(t, err)
			test(t, c, made)
		})
	}
}

// instrument makes the corpus's jars, once for all tests.
func (c *corpus) instrument() (made timedCorpus, err error) {
	base := filepath.Join(filepath.Dir(jiffyBinary), c.name)
	if c.modules != nil {
		made.plain = base + "-modules.jar"
		_, err = c.modules.Run("java", "-cp", helpers, "ModuleJar", "all", made.plain)
	} else {
		made.plain, err = cached(c.name + ".jar")
	}
	if err != nil {
		return made, err
	}
	limit, err := corpusLimit()
	if err != nil {
		return made, err
	}
	if limit > 0 {
		if made.plain, err = sample(made.plain, base+".jar", limit); err != nil {
			return made, err
		}
	}
	made.timed = base + "-jiffy.jar"
	if _, err := runJiffy("instrument", "-q", "--huge", "--compression", "store", "--report", base+".csv", "-o", made.timed, made.plain); err != nil {
		return made, err
	}
	defer os.Remove(base + ".csv")
	return made, made.readReport(base + ".csv")
}

// sample copies at most limit classes of a jar, chosen by the hashes of their names, and returns the copy's path.
func sample(jar, to string, limit int) (string, error) {
	in, err := zip.OpenReader(jar)
	if err != nil {
		return "", err
	}
	defer in.Close()
	classes := slices.DeleteFunc(slices.Clone(in.File), func(f *zip.File) bool { return !strings.HasSuffix(f.Name, ".class") })
	slices.SortFunc(classes, func(a, b *zip.File) int {
		return cmp.Or(cmp.Compare(xxhash.Sum64String(a.Name), xxhash.Sum64String(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	file, err := os.Create(to)
	if err != nil {
		return "", err
	}
	defer file.Close()
	out := zip.NewWriter(file)
	for _, f := range classes[:min(limit, len(classes))] {
		if err := out.Copy(f); err != nil {
			return "", err
		}
	}
	return to, out.Close()
}

// usual are the reasons that need no list of methods: there is no code to change, or none that somebody wrote; and the classes of a JDK (not methods)
// that the in-app runtime itself calls.
var usual = []string{"abstract", "native", "only forwards to another method", "the runtime runs through it"}

func (made *timedCorpus) readReport(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	made.skipped = map[string]int{}
	for lines, first := csv.NewReader(file), true; ; first = false {
		line, err := lines.Read()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case first: // class,method,descriptor,action,reason,…
			continue
		}
		name, action, reason := line[0]+"#"+line[1]+line[2], line[3], line[4]
		if line[1] == "" && action != "failed" { // the row is about the class
			continue
		}
		switch action {
		case "instrumented":
			made.instrumented++
		case "skipped":
			made.skipped[reason]++
			if !slices.Contains(usual, reason) {
				made.listed = append(made.listed, name+": "+reason)
			}
		default:
			made.failed = append(made.failed, name+": "+reason)
		}
	}
}

// withCode returns how many methods have code, forwarding ones left out.
func (made *timedCorpus) withCode() int {
	n := made.instrumented
	for reason, count := range made.skipped {
		if !slices.Contains(usual, reason) {
			n += count
		}
	}
	return n
}

// The rest that is not instrumented can't be: it would be too large.
func TestCorporaAreInstrumented(t *testing.T) {
	instrumented, withCode := 0, 0
	eachCorpus(t, func(t *testing.T, c *corpus, made timedCorpus) {
		t.Logf("%d of %d methods with code instrumented; not: %v", made.instrumented, made.withCode(), made.skipped)
		for _, method := range made.listed {
			if strings.Contains(method, "defect of jiffy") {
				t.Error(method)
			} else {
				t.Log(method)
			}
		}
		for _, class := range made.failed {
			t.Errorf("can't be read: %s", class)
		}
		instrumented += made.instrumented
		withCode += made.withCode()
	})
	t.Logf("all corpora: %d of %d methods with code instrumented, %.4f %%", instrumented, withCode, 100*float64(instrumented)/float64(max(withCode, 1)))
	if float64(instrumented) < 0.9999*float64(withCode) {
		t.Errorf("less than 99.99 %% of all methods with code are instrumented")
	}
}

// linkJar links the classes of a jar in a VM. Returns "ok" or the error, by entry.
func linkJar(t *testing.T, j jdk.JDK, jar string, libraries []string) map[string]string {
	t.Helper()
	classes, err := filepath.Abs(runtimeClasses)
	check(t, err)
	out := filepath.Join(t.TempDir(), "linked.txt")
	args := slices.Concat(verifyAll, []string{"-Xss4m", "-cp", helpers + string(filepath.ListSeparator) + classes, "LinkJar", out, jar}, libraries)
	_, err = j.Run("java", args...)
	check(t, err)
	return readResults(t, out)
}

// spoilt is broken, and those too that a verifier refuses now and only lacked another class before.
func spoilt(before, after map[string]string) []string {
	refused := func(result string) bool {
		return strings.Contains(result, "VerifyError") || strings.Contains(result, "ClassFormatError")
	}
	bad := broken(before, after)
	for name, result := range before {
		if result != "ok" && !refused(result) && refused(after[name]) {
			bad = append(bad, name+": "+after[name]+"; before: "+result)
		}
	}
	slices.Sort(bad)
	return bad
}

func TestCorporaLinkAsBefore(t *testing.T) {
	eachCorpus(t, func(t *testing.T, c *corpus, made timedCorpus) {
		if c.modules != nil {
			t.Skip("modules can't be loaded from a jar; TestInstrumentedModulesLink patches the VM with them")
		}
		libraries := c.jars(t)
		for _, j := range newestAndOldest() {
			before := linkJar(t, j, made.plain, libraries)
			after := linkJar(t, j, made.timed, libraries)
			linked := 0
			for _, result := range before {
				if result == "ok" {
					linked++
				}
			}
			t.Logf("JDK %d: %d of %d classes linked before", j.Release, linked, len(before))
			if linked < len(before)/5 {
				t.Errorf("JDK %d: too few classes link for this to prove anything", j.Release)
			}
			bad := spoilt(before, after)
			for _, class := range bad[:min(20, len(bad))] {
				t.Errorf("JDK %d: links no more: %s", j.Release, class)
			}
			if len(bad) > 20 {
				t.Errorf("JDK %d: %d classes link no more", j.Release, len(bad))
			}
		}
	})
}

// eachClass calls visit for each class of a jar that can be parsed. The class is valid until visit returns.
func eachClass(t *testing.T, jar string, visit func(entry *zip.File, data []byte, class *classfile.Class)) {
	t.Helper()
	in, err := zip.OpenReader(jar)
	check(t, err)
	defer in.Close()
	var class classfile.Class
	for _, entry := range in.File {
		if !strings.HasSuffix(entry.Name, ".class") {
			continue
		}
		data := readEntry(t, entry)
		if err := class.Parse(data); err != nil {
			t.Errorf("%s: %v", entry.Name, err)
			continue
		}
		visit(entry, data, &class)
	}
}

func TestCorporaParseAndWriteIsIdentity(t *testing.T) {
	eachCorpus(t, func(t *testing.T, c *corpus, made timedCorpus) {
		var body code.Body
		var out []byte
		classes, bodies := 0, 0
		eachClass(t, made.plain, func(entry *zip.File, data []byte, class *classfile.Class) {
			classes++
			if out = class.Append(out[:0], nil); !bytes.Equal(out, data) {
				t.Errorf("%s: written, it is not what was read", entry.Name)
			}
			for _, m := range class.Methods {
				if m.Code.Empty() {
					continue
				}
				bodies++
				if err := body.Parse(class.Bytes(m.Code), &class.Pool); err != nil {
					t.Errorf("%s.%s: %v", entry.Name, class.Pool.Utf8(m.Name), err)
				}
			}
		})
		t.Logf("%d classes, %d method bodies", classes, bodies)
	})
}

func TestCorporaDoNotDependOnWorkers(t *testing.T) {
	eachCorpus(t, func(t *testing.T, c *corpus, made timedCorpus) {
		var jars [][]byte
		for _, workers := range []string{"1", "7"} {
			out := filepath.Join(t.TempDir(), "out.jar")
			jiffy(t, "instrument", "-q", "--huge", "--compression", "store", "-j", workers, "-o", out, made.plain)
			data, err := os.ReadFile(out)
			check(t, err)
			jars = append(jars, data)
		}
		if !bytes.Equal(jars[0], jars[1]) {
			t.Errorf("the jars of one worker and of seven differ")
		}
	})
}

// findings returns what the verifier says of the classes of a jar, by kind, each as class and method.
func findings(t *testing.T, jar string) map[verify.Kind]map[string]string {
	t.Helper()
	found := map[verify.Kind]map[string]string{}
	var v verify.Verifier
	eachClass(t, jar, func(entry *zip.File, _ []byte, class *classfile.Class) {
		for _, f := range v.Class(nil, class) {
			if found[f.Kind] == nil {
				found[f.Kind] = map[string]string{}
			}
			found[f.Kind][entry.Name+"#"+f.Method] = f.String()
		}
	})
	return found
}

// A lock that was released on every way out still is (JVMS §2.11.10), and what the verifier had nothing to say about stays so.
func TestCorporaVerifyAsBefore(t *testing.T) {
	eachCorpus(t, func(t *testing.T, c *corpus, made timedCorpus) {
		before, after := findings(t, made.plain), findings(t, made.timed)
		for _, kind := range []verify.Kind{verify.Refused, verify.Frames, verify.Locking} {
			t.Logf("%v: %d methods before, %d after", kind, len(before[kind]), len(after[kind]))
			for _, method := range slices.Sorted(maps.Keys(after[kind])) {
				if _, ok := before[kind][method]; !ok {
					t.Errorf("%s: new: %s", method, after[kind][method])
				}
			}
		}
	})
}

// Classes that can't be verified must be noticed, else the test of linking proves nothing.
func TestCorporaBrokenFramesAreNoticed(t *testing.T) {
	whole := needCached(t, "guava.jar")
	jar, err := sample(whole[0], filepath.Join(t.TempDir(), "sample.jar"), 100)
	check(t, err)
	broke := 0
	spoiled := rewrite(t, jar, func(class []byte) []byte {
		if bytes.Contains(class, []byte("StackMapTable")) {
			broke++
		}
		return bytes.ReplaceAll(class, []byte("StackMapTable"), []byte("StackMopTable"))
	})
	j := jdks[0]
	if bad := spoilt(linkJar(t, j, jar, whole), linkJar(t, j, spoiled, whole)); broke < 10 || len(bad) < broke*9/10 {
		t.Errorf("%d classes have lost their frames, only %d don't link", broke, len(bad))
	}
}
