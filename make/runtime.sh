#!/usr/bin/env bash
# Usage: make/runtime.sh JDK JAVAC-FLAG…
# Compiles the in-app runtime to build/runtime/classes, copies it to where go:embed takes it from and packs build/jiffy-runtime.jar.
set -eu
jdk=$1
shift
room=runtime-collector/android
rm -rf build/runtime
mkdir -p build/runtime/compileonly build/runtime/classes
if [ -d $room/src/compileonly/java ]; then
	find $room/src/compileonly/java -name '*.java' | sort >build/runtime/compileonly.txt
	"$jdk/bin/javac" --release 8 "$@" -d build/runtime/compileonly @build/runtime/compileonly.txt
fi
find $room/src/main/java -name '*.java' | sort >build/runtime/sources.txt
"$jdk/bin/javac" --release 8 "$@" -g -cp build/runtime/compileonly -d build/runtime/classes @build/runtime/sources.txt
mkdir -p $room/classes
find $room/classes -mindepth 1 -maxdepth 1 ! -name README.md -exec rm -rf {} +
cp -R build/runtime/classes/. $room/classes/
rm -f build/jiffy-runtime.jar
"$jdk/bin/jar" --create --file build/jiffy-runtime.jar --date 1980-01-01T00:00:02Z -C build/runtime/classes .
