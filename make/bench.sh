#!/usr/bin/env bash
# Usage: make/bench.sh JDK
# Runs all measurements and keeps the tables in build/bench/results.md.
set -eu
mkdir -p build/bench
asm=$(make/maven.sh asm asm-tree asm-commons)
jmh=$(make/maven.sh jmh-core jmh-generator-annprocess jopt-simple commons-math3)
JAVA_HOME=$1 go run ./bench -asm "$asm" -jmh "$jmh" ${BENCHFLAGS:-} | tee build/bench/results.md
