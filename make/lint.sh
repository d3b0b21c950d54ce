#!/usr/bin/env bash
# Usage: make/lint.sh STATICCHECK JDK JAVAC-FLAG…
# Runs every check, also after one failed; fails if any did.
set -u
staticcheck=$1 jdk=$2
shift 2
failed=0

# check WHAT COMMAND… runs one check and remembers whether it failed.
check() {
	echo "lint: $1"
	"${@:2}" || failed=1
}

formatted() {
	local files
	files=$(find . -name '*.go' ! -path './.*' ! -path './build/*' -exec gofmt -l {} +) || return 1
	[ -z "$files" ] || {
		echo "not formatted with gofmt:" && echo "$files"
		return 1
	}
}

shell_parses() {
	local script bad=0
	for script in make/*.sh .ci/run; do
		bash -n "$script" || bad=1
	done
	return $bad
}

# java_compiles RELEASE FOLDER compiles the Java sources in a folder, with warnings as errors, and throws the classes away.
java_compiles() {
	local out status=0
	out=$(mktemp -d)
	find "$2" -name '*.java' | sort >"$out/sources.txt"
	"$jdk/bin/javac" --release "$1" "${flags[@]}" -cp "$out" -d "$out" @"$out/sources.txt" || status=1
	rm -rf "$out"
	return $status
}

flags=("$@")
check "gofmt" formatted
check "go vet" go vet ./...
check "staticcheck" go run "$staticcheck" ./...
check "javac, the runtime" make/runtime.sh "$jdk" "$@"
check "javac, the sample application" java_compiles 17 fixtures/apps/bakery/src
check "bash -n" shell_parses
exit $failed
