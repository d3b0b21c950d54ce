#!/usr/bin/env bash
# Usage: make/corpora.sh
# Fetches what make/corpora.txt names, with the npm and mvn clients, into ${XDG_CACHE_HOME:-~/.cache}/jiffy/corpora. A file that is there and has
# the right SHA-256 is left alone. What can't be had is said at the end, and is a failure; the others are kept.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/jiffy/corpora
copy=org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy
mkdir -p "$cache"
partial=$(mktemp -d "$cache/partial.XXXXXX")
trap 'rm -rf "$partial"' EXIT

# need COMMAND PACKAGE… finds a client, or installs it as root on a Debian-like machine and says so.
need() {
	command -v "$1" >/dev/null && return
	if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
		echo "make: no $1 found; installing ${*:2} with apt-get" >&2
		(apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${@:2}") >&2
	fi
	command -v "$1" >/dev/null || {
		echo "make: needs $1 to fetch corpora: install ${*:2}" >&2
		return 1
	}
}

# matches SUM FILE tells whether FILE is there and has the SHA-256 SUM.
matches() {
	[ -f "$2" ] && [ "$( (sha256sum "$2" 2>/dev/null || shasum -a 256 "$2") | cut -d' ' -f1)" = "$1" ]
}

# size_of FILE prints a size in megabytes.
size_of() {
	awk -v bytes="$(wc -c <"$1")" 'BEGIN { printf "%.1f MB", bytes / 1e6 }'
}

# unpack ARCHIVE DIR MEMBER takes one file out of a zip; the JDK is there anyway, unzip may not be.
unpack() {
	(cd "$2" && "$(dirname "$(readlink -f "$(command -v javac)")")/jar" --extract --file "$1" "$3")
}

# from_maven COORDINATES [MEMBER] prints the path of what it fetched.
from_maven() {
	local group artifact version type classifier file
	IFS=: read -r group artifact version type classifier <<<"$1"
	file=$partial/$artifact-$version${classifier:+-$classifier}.${type:-jar}
	need mvn maven && mvn -B -q -Dstyle.color=never "$copy" -Dartifact="$1" -DoutputDirectory="$partial" >&2 || return 1
	if [ -n "${2:-}" ]; then
		unpack "$file" "$partial" "$2" || return 1
		file=$partial/$2
	fi
	echo "$file"
}

# from_npm COORDINATES MEMBER prints the path of what it fetched. A package is fetched once for all its members.
from_npm() {
	local dir=$partial/npm-${1//\//-}
	if [ ! -d "$dir" ]; then
		mkdir -p "$dir"
		need npm npm && (cd "$dir" && npm pack --silent "$1" >/dev/null && tar -xzf ./*.tgz && rm ./*.tgz) >&2 || return 1
	fi
	echo "$dir/package/$2"
}

missing=0 total=0
while read -r sum name client coordinates member; do
	case $sum in '#'* | '') continue ;; esac
	if ! matches "$sum" "$cache/$name"; then
		echo "make: fetching $coordinates" >&2
		if file=$("from_$client" "$coordinates" "$member") && matches "$sum" "$file"; then
			mv "$file" "$cache/$name"
		else
			echo "make: $coordinates could not be fetched, or has not the SHA-256 that make/corpora.txt names" >&2
			missing=$((missing + 1))
			continue
		fi
	fi
	total=$((total + $(wc -c <"$cache/$name")))
	printf '%10s  %s (%s)\n' "$(size_of "$cache/$name")" "$name" "$coordinates"
done <"$here/corpora.txt"
awk -v bytes="$total" -v dir="$cache" 'BEGIN { printf "%7.1f MB  %s\n", bytes / 1e6, dir }'
[ $missing = 0 ] || {
	echo "make: $missing of the corpora are missing" >&2
	exit 1
}
