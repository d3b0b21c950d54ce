package collect

import (
	"os"
	"path/filepath"
	"strings"
)

// javaCommand is what a java command line, and the environment the launcher
// reads, say about where classes and event logs are.
type javaCommand struct {
	classPaths  []string // each a list as -cp takes it
	modulePaths []string // each a list as -p takes it
	logDir      string   // -Djiffy.log, "" if not given
}

// parseJavaCommand reads a command line. Words before a program called java are
// passed over (`env`, `taskset -c 0`, …), and so are those after the main
// class, which are the program's own. dir is what @argument files are relative
// to, getenv looks up the environment.
//
// A command that starts java by way of a script says nothing here; the event
// log's header then tells what the class path was.
func parseJavaCommand(command []string, dir string, getenv func(string) string) javaCommand {
	var j javaCommand
	j.toolOptions(strings.Fields(getenv("JAVA_TOOL_OPTIONS")))
	for i, word := range command {
		if name := filepath.Base(word); name != "java" && name != "java.exe" {
			continue
		}
		p := javaParser{out: &j, dir: dir}
		p.options(splitArguments(getenv("JDK_JAVA_OPTIONS")))
		p.options(command[i+1:])
		if !p.hasClassPath {
			j.addClassPath(getenv("CLASSPATH"))
		}
		break
	}
	return j
}

// toolOptions reads options that the VM takes from the environment: system
// properties only, because -cp is the launcher's.
func (j *javaCommand) toolOptions(options []string) {
	for _, o := range options {
		j.property(o)
	}
}

func (j *javaCommand) property(option string) {
	if dir, ok := strings.CutPrefix(option, "-Djiffy.log="); ok {
		j.logDir = dir
	}
	if path, ok := strings.CutPrefix(option, "-Djava.class.path="); ok {
		j.addClassPath(path)
	}
}

func (j *javaCommand) addClassPath(path string) {
	if path != "" {
		j.classPaths = append(j.classPaths, path)
	}
}

// javaParser walks the launcher's options up to the main class.
type javaParser struct {
	out          *javaCommand
	dir          string
	hasClassPath bool
	literalAt    bool // after --disable-@files
	depth        int  // of argument files; the launcher allows one level
}

// withValue are the options whose value is the next word, or follows "=" in the
// long form, with what to do with it.
var withValue = map[string]func(*javaParser, string){
	"-cp": (*javaParser).classPath, "-classpath": (*javaParser).classPath, "--class-path": (*javaParser).classPath,
	"-p": (*javaParser).modulePath, "--module-path": (*javaParser).modulePath, "--upgrade-module-path": (*javaParser).modulePath,
	"--patch-module": (*javaParser).patchModule,
	"--add-modules":  nil, "--limit-modules": nil, "--add-reads": nil, "--add-exports": nil, "--add-opens": nil,
	"--enable-native-access": nil, "--source": nil, "--describe-module": nil, "-d": nil,
}

func (p *javaParser) classPath(value string) {
	p.hasClassPath = true
	p.out.addClassPath(value)
}

func (p *javaParser) modulePath(value string) {
	p.out.modulePaths = append(p.out.modulePaths, value)
}

// patchModule takes MODULE=PATHS.
func (p *javaParser) patchModule(value string) {
	if _, paths, ok := strings.Cut(value, "="); ok {
		p.out.addClassPath(paths)
	}
}

// options reads words up to the main class, and reports whether it got there.
func (p *javaParser) options(words []string) (done bool) {
	for i := 0; i < len(words); i++ {
		word := words[i]
		name, value, joined := strings.Cut(word, "=")
		take, hasValue := withValue[name]
		switch {
		case strings.HasPrefix(word, "@") && !p.literalAt && p.depth == 0:
			if p.argumentFile(word[1:]) {
				return true
			}
		case word == "--disable-@files":
			p.literalAt = true
		case word == "-jar":
			if i+1 < len(words) {
				p.classPath(words[i+1])
			}
			return true
		case word == "-m", word == "--module", strings.HasPrefix(word, "--module="), !strings.HasPrefix(word, "-"):
			return true
		case hasValue && joined && take != nil:
			take(p, value)
		case hasValue && !joined:
			i++
			if i < len(words) && take != nil {
				take(p, words[i])
			}
		case strings.HasPrefix(word, "-Xbootclasspath/a:"):
			p.out.addClassPath(strings.TrimPrefix(word, "-Xbootclasspath/a:"))
		default:
			p.out.property(word)
		}
	}
	return false
}

// argumentFile reads an @argument file; one that can't be read is java's own
// business to report.
func (p *javaParser) argumentFile(name string) (done bool) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(p.dir, name)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return false
	}
	p.depth++
	done = p.options(splitArguments(string(b)))
	p.depth--
	return done
}

// splitArguments splits the contents of an argument file as the java launcher
// does ("java Command-Line Argument Files" in java(1)): words are separated by
// white space, # starts a comment, quotes group, and a backslash inside quotes
// escapes the next character or, at a line's end, continues the word.
func splitArguments(text string) []string {
	var words []string
	var word strings.Builder
	var quote rune
	inWord, escaped, comment, continued := false, false, false, false
	for _, c := range text {
		newline := c == '\n' || c == '\r'
		switch {
		case comment:
			comment = !newline
		case continued && (c == ' ' || c == '\t' || newline):
			// indentation of a continued line
		case escaped:
			escaped = false
			if continued = newline; !newline {
				word.WriteRune(unescaped(c))
			}
		case quote != 0 && c == '\\':
			escaped, continued = true, false
		case c == quote && quote != 0:
			quote, continued = 0, false
		case quote != 0:
			continued = false
			word.WriteRune(c)
		case c == '"' || c == '\'':
			quote, inWord = c, true
		case c == '#' && !inWord:
			comment = true
		case c == ' ' || c == '\t' || c == '\f' || newline:
			if inWord {
				words, inWord = append(words, word.String()), false
				word.Reset()
			}
		default:
			inWord = true
			word.WriteRune(c)
		}
	}
	if inWord {
		words = append(words, word.String())
	}
	return words
}

func unescaped(c rune) rune {
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'r':
		return '\r'
	case 'f':
		return '\f'
	}
	return c
}
