#!/usr/bin/env bash
# Usage: make/fuzz.sh TIME
# Runs every fuzz target of the module for TIME, one after the other.
set -eu
go list ./... | while read -r package; do
	go test -list '^Fuzz' "$package" | { grep '^Fuzz' || true; } | while read -r target; do
		echo "fuzz: $package $target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$1" "$package"
	done
done
