package proof

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/jiffyperf/jiffy/instrument/classfile"
	"github.com/jiffyperf/jiffy/instrument/code"
)

func TestParseAndWriteIsIdentity(t *testing.T) {
	for _, j := range newestAndOldest() {
		for _, module := range modules {
			t.Run(fmt.Sprintf("JDK %d %s", j.Release, module), func(t *testing.T) {
				t.Parallel()
				in, err := zip.OpenReader(moduleJar(t, j, module, t.TempDir()))
				check(t, err)
				defer in.Close()
				var class classfile.Class
				var body code.Body
				var out []byte
				bodies := 0
				for _, entry := range in.File {
					data := readEntry(t, entry)
					if err := class.Parse(data); err != nil {
						t.Errorf("%s: %v", entry.Name, err)
						continue
					}
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
				}
				t.Logf("%d classes, %d method bodies", len(in.File), bodies)
			})
		}
	}
}

// One worker and many write the same bytes; the order in which they get done must not show.
func TestWorkersDoNotChangeTheOutput(t *testing.T) {
	dir := t.TempDir()
	var inputs []string
	for _, module := range []string{"java.xml", "jdk.compiler"} {
		inputs = append(inputs, moduleJar(t, jdks[0], module, dir))
	}
	for _, form := range []string{"jar", "directory"} {
		t.Run(form, func(t *testing.T) {
			outputs := map[int]string{}
			for _, workers := range []int{1, 7} {
				out := filepath.Join(dir, form+strconv.Itoa(workers))
				if form == "jar" {
					out += ".jar"
				}
				args := []string{"instrument", "-j", strconv.Itoa(workers), "-o", out}
				jiffy(t, append(args, inputs...)...)
				outputs[workers] = out
			}
			if form == "directory" {
				sameTrees(t, outputs[1], outputs[7])
				return
			}
			one, err := os.ReadFile(outputs[1])
			check(t, err)
			many, err := os.ReadFile(outputs[7])
			check(t, err)
			if !bytes.Equal(one, many) {
				t.Errorf("the jars of one worker and of seven differ")
			}
		})
	}
}
