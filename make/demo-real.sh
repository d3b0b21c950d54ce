#!/usr/bin/env bash
# Usage: make/demo-real.sh JDK
# google-java-format formats the sources of four libraries, once as it is and once instrumented; the results must be the same. Then reports.
set -eu
jdk=$1
out=build/demo-real
formatter=$(make/maven.sh google-java-format)
libraries=$(make/maven.sh guava h2 lucene-core commons-lang3)

# show prints a command as a person would type it.
show() {
	printf '\n$ %s\n' "$*"
}

# unpack DIR puts the Java sources of the libraries into DIR.
unpack() {
	local jar dir
	rm -rf "$1"
	for jar in ${libraries//:/ }; do
		dir=$1/$(basename "$jar" -sources.jar)
		mkdir -p "$dir"
		(cd "$dir" && "$jdk/bin/jar" --extract --file "$jar")
	done
	find "$1" -type f ! -name '*.java' -delete
}

# The formatter uses javac's parser, which the JDK exports to nobody.
exports=()
for package in api code file parser tree util; do
	exports+=(--add-exports "jdk.compiler/com.sun.tools.javac.$package=ALL-UNNAMED")
done

# format CLASSPATH DIR is the command that formats all sources in DIR in place.
format() {
	find "$2" -name '*.java' | sort >"$out/$(basename "$2").txt"
	command=("$jdk/bin/java" "${exports[@]}" -cp "$1" com.google.googlejavaformat.java.Main --replace "@$out/$(basename "$2").txt")
}

rm -rf "$out/run"
unpack "$out/plain"
unpack "$out/timed"
echo "$(find "$out/plain" -name '*.java' | wc -l) Java files of $(echo "$libraries" | tr : '\n' | wc -l) libraries"

format "$formatter" "$out/plain"
show "${command[@]}"
time "${command[@]}"

# Guava comes inside the formatter's jar. Its methods are called by the billion, and are not what one wants to know of a formatter.
set -- bin/jiffy instrument --runtime --skip-trivial --exclude 'com.google.common.**' -o "$out/formatter-jiffy.jar" "$formatter"
show "$@"
"$@"

format "$out/formatter-jiffy.jar" "$out/timed"
set -- bin/jiffy collect -o "$out/run" -- "${command[@]}"
show "$@"
time "$@"

show diff -r "$out/plain" "$out/timed"
diff -r "$out/plain" "$out/timed"
echo "the same, file by file"

set -- bin/jiffy report "$out/run"
show "$@"
"$@"
