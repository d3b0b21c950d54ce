package collect

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestParseJavaCommand(t *testing.T) {
	dir := t.TempDir()
	for name, contents := range map[string]string{
		"args":    "-cp \"lib/a b.jar:classes\" # the class path\n-Xmx1g",
		"all":     "-Djiffy.log=/logs\n-jar app.jar",
		"nested":  "@args",
		"newline": "-cp one.jar:\\\n  two.jar",
		"joined":  "-cp \"one.jar:\\\n    two.jar\" 'C:\\\\x'",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(contents), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name    string
		command []string
		env     map[string]string
		class   []string
		module  []string
		logDir  string
	}{
		{name: "-cp", command: []string{"java", "-cp", "a.jar:b", "Main", "-cp", "of the program"}, class: []string{"a.jar:b"}},
		{name: "-classpath", command: []string{"/opt/jdk/bin/java", "-Xmx1g", "-classpath", "a.jar", "Main"}, class: []string{"a.jar"}},
		{name: "--class-path=", command: []string{"java", "--class-path=a.jar", "Main"}, class: []string{"a.jar"}},
		{name: "-jar", command: []string{"java", "-Djiffy.log=logs", "-jar", "app.jar", "-jar", "other.jar"}, class: []string{"app.jar"}, logDir: "logs"},
		{name: "last word is an option that needs another", command: []string{"java", "-cp"}},
		{name: "module path", command: []string{"java", "-p", "mods", "--add-modules", "ALL-SYSTEM", "--module-path=more", "-m", "m/Main", "-cp", "x"}, module: []string{"mods", "more"}},
		{name: "patched module", command: []string{"java", "--patch-module=java.base=out.jar", "--patch-module", "a=b=c", "Main"}, class: []string{"out.jar", "b=c"}},
		{name: "boot class path", command: []string{"java", "-Xbootclasspath/a:boot.jar", "Main"}, class: []string{"boot.jar"}},
		{name: "wrapped", command: []string{"taskset", "-c", "0", "env", "A=b", "java", "-cp", "a.jar", "Main"}, class: []string{"a.jar"}},
		{name: "not java", command: []string{"python3", "-cp", "a.jar"}},
		{name: "CLASSPATH", command: []string{"java", "Main"}, env: map[string]string{"CLASSPATH": "env.jar"}, class: []string{"env.jar"}},
		{name: "-cp wins over CLASSPATH", command: []string{"java", "-cp", "a.jar", "Main"}, env: map[string]string{"CLASSPATH": "env.jar"}, class: []string{"a.jar"}},
		{name: "JDK_JAVA_OPTIONS", command: []string{"java", "Main"}, env: map[string]string{"JDK_JAVA_OPTIONS": "-cp 'a b.jar'"}, class: []string{"a b.jar"}},
		{name: "JAVA_TOOL_OPTIONS", command: []string{"sh", "start.sh"}, env: map[string]string{"JAVA_TOOL_OPTIONS": "-Xmx1g -Djiffy.log=/l"}, logDir: "/l"},
		{name: "command line wins over JAVA_TOOL_OPTIONS", command: []string{"java", "-Djiffy.log=/mine", "Main"}, env: map[string]string{"JAVA_TOOL_OPTIONS": "-Djiffy.log=/l"}, logDir: "/mine"},
		{name: "argument file", command: []string{"java", "@args", "Main", "@all"}, class: []string{"lib/a b.jar:classes"}},
		{name: "argument file up to the main class", command: []string{"java", "@all", "-cp", "of the program"}, class: []string{"app.jar"}, logDir: "/logs"},
		{name: "argument files are not read in argument files", command: []string{"java", "@nested", "Main"}},
		{name: "argument file with a continued line", command: []string{"java", "@joined", "Main"}, class: []string{"one.jar:two.jar"}},
		{name: "argument files switched off", command: []string{"java", "--disable-@files", "@args"}},
		{name: "argument file that does not exist", command: []string{"java", "@none", "-cp", "a.jar", "Main"}, class: []string{"a.jar"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := parseJavaCommand(c.command, dir, func(name string) string { return c.env[name] })
			if !slices.Equal(got.classPaths, c.class) || !slices.Equal(got.modulePaths, c.module) || got.logDir != c.logDir {
				t.Errorf("class path %q, module path %q, log %q; want %q, %q, %q",
					got.classPaths, got.modulePaths, got.logDir, c.class, c.module, c.logDir)
			}
		})
	}
}

func TestSplitArguments(t *testing.T) {
	for text, want := range map[string][]string{
		"":                          nil,
		"  \n\t ":                   nil,
		"a b\tc\r\nd":               {"a", "b", "c", "d"},
		"# all of it\na # rest\nb#": {"a", "b#"},
		`"a b" 'c "d"' e"f g"h`:     {"a b", `c "d"`, "ef gh"},
		`""`:                        {""},
		`"C:\\Program Files\\x"`:    {`C:\Program Files\x`},
		`C:\x`:                      {`C:\x`},
		`"tab\tnew\nline"`:          {"tab\tnew\nline"},
		"\"a \\\n   b\"":            {"a b"},
		"\"never closed":            {"never closed"},
	} {
		if got := splitArguments(text); !slices.Equal(got, want) {
			t.Errorf("splitArguments(%q) = %q, want %q", text, got, want)
		}
	}
}
