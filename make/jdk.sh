#!/usr/bin/env bash
# Prints the home of a JDK 17 or newer: JAVA_HOME, else the javac on PATH, else the oldest that fits below /usr/lib/jvm.
# Without one: installs Debian's as root on a Debian-like machine, and says so; elsewhere one line says what to do.
set -eu
oldest=17

# release_of HOME prints the feature release of the JDK in HOME, or nothing if there is no complete JDK.
release_of() {
	[ -x "$1/bin/javac" ] && [ -x "$1/bin/java" ] && [ -x "$1/bin/jar" ] || return 0
	local version
	version=$("$1/bin/javac" -version 2>&1) || return 0
	version=${version#javac }
	version=${version#1.} # 1.8.0_402 is release 8
	version=${version%%[!0-9]*}
	echo "$version"
}

# fits HOME tells whether HOME holds a JDK that is new enough.
fits() {
	local release
	release=$(release_of "$1")
	[ -n "$release" ] && [ "$release" -ge "$oldest" ]
}

# find_jdk prints the first JDK that fits.
find_jdk() {
	if [ -n "${JAVA_HOME:-}" ] && fits "$JAVA_HOME"; then
		echo "$JAVA_HOME"
		return
	fi
	local javac home
	if javac=$(command -v javac); then
		javac=$(readlink -f "$javac" 2>/dev/null || echo "$javac")
		home=$(dirname "$(dirname "$javac")")
		if fits "$home"; then
			echo "$home"
			return
		fi
	fi
	for home in /usr/lib/jvm/*; do
		if [ -d "$home" ] && fits "$home"; then
			echo "$(release_of "$home") $home"
		fi
	done | sort -n | sed -n '1s/^[0-9]* //p'
}

jdk=$(find_jdk)
if [ -z "$jdk" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	echo "make: no JDK $oldest or newer found; installing one with apt-get" >&2
	# Not default-jdk-headless: on an older release that can be a JDK below 17.
	(apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends openjdk-17-jdk-headless ||
		DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends default-jdk-headless) >&2
	jdk=$(find_jdk)
fi
if [ -z "$jdk" ]; then
	echo "make: no JDK $oldest or newer found: install one (Debian: openjdk-17-jdk-headless, Fedora: java-17-openjdk-devel, macOS: brew install openjdk) or point JAVA_HOME at it" >&2
	exit 1
fi
echo "$jdk"
