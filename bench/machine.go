package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/jiffyperf/jiffy/proof/jdk"
)

// machine describes what the figures were taken on, in one line.
func machine(j jdk.JDK) string {
	model := "unknown CPU"
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(info)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	kernel, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		kernel = []byte("unknown")
	}
	vm := fmt.Sprint("JDK ", j.Release)
	if release, err := os.ReadFile(j.Home + "/release"); err == nil {
		for line := range strings.Lines(string(release)) {
			if version, ok := strings.CutPrefix(strings.TrimSpace(line), "JAVA_VERSION="); ok {
				vm = "JDK " + strings.Trim(version, `"`)
			}
		}
	}
	return fmt.Sprintf("%s, %d cores, %s, Linux %s, %s, %s", model, runtime.NumCPU(), runtime.GOARCH, strings.TrimSpace(string(kernel)), vm, runtime.Version())
}
