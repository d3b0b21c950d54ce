#!/usr/bin/env bash
# Usage: make/maven.sh ARTIFACT…
# Prints the paths of Maven artifacts, joined with ":" like a class path. An artifact is named by its artifactId as in make/artifacts.txt.
# Each is fetched once with the mvn client into .cache/maven (or $XDG_CACHE_HOME/jiffy/maven) and checked against its SHA-256.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cache=$(dirname "$here")/.cache/maven
[ -z "${XDG_CACHE_HOME:-}" ] || cache=$XDG_CACHE_HOME/jiffy/maven
copy=org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy

# have_maven finds the mvn client, or installs it as root on a Debian-like machine and says so.
have_maven() {
	command -v mvn >/dev/null && return
	if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
		echo "make: no Maven client found; installing maven with apt-get" >&2
		(apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends maven) >&2
	fi
	command -v mvn >/dev/null || {
		echo "make: needs the Maven client to fetch $1: install maven (Debian: maven, Fedora: maven, macOS: brew install maven)" >&2
		return 1
	}
}

# file_of COORDINATES prints the artifact's file name. Coordinates are group:artifact:version or group:artifact:version:type:classifier.
file_of() {
	local group artifact version type classifier
	IFS=: read -r group artifact version type classifier <<<"$1"
	echo "$artifact-$version${classifier:+-$classifier}.${type:-jar}"
}

# matches SUM FILE tells whether FILE is there and has the SHA-256 SUM.
matches() {
	[ -f "$2" ] && [ "$( (sha256sum "$2" 2>/dev/null || shasum -a 256 "$2") | cut -d' ' -f1)" = "$1" ]
}

# fetch SUM COORDINATES puts an artifact into the cache and prints its path.
fetch() {
	local file partial
	file=$cache/$(file_of "$2")
	if ! matches "$1" "$file"; then
		have_maven "$2"
		echo "make: fetching $2" >&2
		mkdir -p "$cache"
		partial=$(mktemp -d "$cache/partial.XXXXXX")
		if ! mvn -B -q -Dstyle.color=never "$copy" -Dartifact="$2" -DoutputDirectory="$partial" >&2; then
			rm -rf "$partial"
			echo "make: mvn could not fetch $2" >&2
			return 1
		fi
		if ! matches "$1" "$partial/$(file_of "$2")"; then
			rm -rf "$partial"
			echo "make: $2 has not the SHA-256 that make/artifacts.txt names" >&2
			return 1
		fi
		mv "$partial/$(file_of "$2")" "$file"
		rm -rf "$partial"
	fi
	echo "$file"
}

path=
for name in "$@"; do
	line=$(grep -E "^[0-9a-f]{64} [^:]+:$name:" "$here/artifacts.txt") || {
		echo "make: make/artifacts.txt has no artifact $name" >&2
		exit 1
	}
	file=$(fetch "${line%% *}" "${line#* }")
	path=$path${path:+:}$file
done
echo "$path"
