// Package jdk finds the JDKs of a machine and runs their tools, for tests and benchmarks.
package jdk

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Oldest is the oldest feature release that Find returns.
const Oldest = 17

// ErrNone says that the machine has no JDK that is new enough.
var ErrNone = fmt.Errorf("no JDK %d or newer in JAVA_HOME, on PATH or below /usr/lib/jvm", Oldest)

// A JDK is one installed JDK.
type JDK struct {
	Home    string // without symbolic links
	Release int    // feature release, such as 17
}

// Find returns the machine's JDKs from release Oldest on, oldest release first, each release once. JAVA_HOME wins over PATH, and PATH
// over /usr/lib/jvm. It returns ErrNone if there is none.
func Find() ([]JDK, error) {
	homes := []string{os.Getenv("JAVA_HOME")}
	if javac, err := exec.LookPath("javac"); err == nil {
		if javac, err = filepath.EvalSymlinks(javac); err == nil {
			homes = append(homes, filepath.Dir(filepath.Dir(javac)))
		}
	}
	installed, err := filepath.Glob("/usr/lib/jvm/*")
	if err != nil {
		return nil, err
	}
	homes = append(homes, installed...)

	var found []JDK
	for _, home := range homes {
		j, err := at(home)
		if err != nil || j.Release < Oldest {
			continue
		}
		if !slices.ContainsFunc(found, func(other JDK) bool { return other.Release == j.Release }) {
			found = append(found, j)
		}
	}
	if len(found) == 0 {
		return nil, ErrNone
	}
	slices.SortFunc(found, func(a, b JDK) int { return a.Release - b.Release })
	return found, nil
}

// at returns the JDK in a folder; an error if there is none, or only a Java runtime.
func at(home string) (JDK, error) {
	home, err := filepath.EvalSymlinks(home)
	if err != nil {
		return JDK{}, err
	}
	if _, err := os.Stat(filepath.Join(home, "bin", "javac")); err != nil {
		return JDK{}, err
	}
	release, err := os.ReadFile(filepath.Join(home, "release"))
	if err != nil {
		return JDK{}, err
	}
	for line := range strings.Lines(string(release)) {
		version, ok := strings.CutPrefix(strings.TrimSpace(line), `JAVA_VERSION="`)
		if !ok {
			continue
		}
		feature, _, _ := strings.Cut(strings.TrimSuffix(version, `"`), ".")
		n, err := strconv.Atoi(feature)
		return JDK{Home: home, Release: n}, err
	}
	return JDK{}, errors.New("no JAVA_VERSION in " + filepath.Join(home, "release"))
}

// Tool returns the path of one of the JDK's programs, such as java.
func (j JDK) Tool(name string) string {
	return filepath.Join(j.Home, "bin", name)
}

// Run runs one of the JDK's programs and returns its standard output. The error holds what the program wrote to standard error.
func (j JDK) Run(tool string, args ...string) (string, error) {
	cmd := exec.Command(j.Tool(tool), args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("%s %s: %w\n%s%s", tool, strings.Join(args, " "), err, stdout.Bytes(), stderr.Bytes())
	}
	return stdout.String(), nil
}

// Compile compiles Java sources, files or folders, into the folder classes. flags come before the sources.
func (j JDK) Compile(classes string, flags []string, sources ...string) error {
	var files []string
	for _, source := range sources {
		err := filepath.WalkDir(source, func(path string, _ os.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".java") {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	_, err := j.Run("javac", slices.Concat(flags, []string{"-d", classes}, files)...)
	return err
}
