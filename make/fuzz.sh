#!/usr/bin/env bash
# Usage: make/fuzz.sh TIME
# Runs every fuzz target of the module for TIME, one after the other.
# Ten tries to make a failing input smaller are enough: targets with goroutines would spend their time on that otherwise.
set -eu
go list ./... | while read -r package; do
	go test -list '^Fuzz' "$package" | { grep '^Fuzz' || true; } | while read -r target; do
		echo "fuzz: $package $target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$1" -fuzzminimizetime 10x "$package"
	done
done
