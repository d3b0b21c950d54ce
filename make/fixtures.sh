#!/usr/bin/env bash
# Usage: make/fixtures.sh JDK
# Compiles the fixture classes again, each folder below fixtures/classes with the options in its javac.args (default: --release 17 -g), and
# writes down with which javac. The class files lie beside their sources and are committed: tests need no JDK for them.
set -eu
jdk=$1
cd fixtures/classes
for folder in */; do
	folder=${folder%/}
	args=(--release 17 -g)
	if [ -f "$folder/javac.args" ]; then
		read -r -a args <"$folder/javac.args"
	fi
	echo "javac ${args[*]} $folder"
	find "$folder" -name '*.class' -delete
	(cd "$folder" && find . -name '*.java' | sort >sources.tmp && "$jdk/bin/javac" "${args[@]}" -nowarn -d . @sources.tmp && rm sources.tmp)
done
"$jdk/bin/javac" -version >javac.version
git --no-pager diff --stat -- . || true
