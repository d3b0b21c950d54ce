#!/usr/bin/env bash
# Usage: make/demo.sh JDK
# Instruments build/demo/app.jar, runs it under `jiffy collect` and reports.
set -eu
jdk=$1
out=build/demo
rm -rf $out/run

# show prints a command as a person would type it.
show() {
	printf '\n$ %s\n' "$*"
}

set -- bin/jiffy instrument --runtime --include 'com.acme.**' -o $out/app-jiffy.jar $out/app.jar
show "$@"
"$@"

set -- bin/jiffy collect -o $out/run -- "$jdk/bin/java" -cp $out/app-jiffy.jar com.acme.bakery.Main
show "$@"
# The program ends with how often each of its methods was called, by its own count; `make test` compares that with the report.
"$@" >$out/output.txt
grep -v '^expect ' $out/output.txt

set -- bin/jiffy report $out/run
show "$@"
"$@"
