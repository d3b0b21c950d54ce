# Needs Go and a JDK 17 or newer. `make` alone lists the targets.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

RUNTIME := runtime-collector/android
RUNTIME_SOURCES := $(shell find $(RUNTIME)/src/main/java -name '*.java' 2>/dev/null | sort)
COMPILEONLY_SOURCES := $(shell find $(RUNTIME)/src/compileonly/java -name '*.java' 2>/dev/null | sort)
BAKERY := fixtures/apps/bakery
BAKERY_SOURCES := $(shell find $(BAKERY)/src -name '*.java' 2>/dev/null | sort)

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
# Staticcheck 2026.2.2.
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
# Warnings of javac are errors. "options" is left out: it only says that newer JDKs will drop Java 8.
JAVAC_LINT := -Xlint:all,-options -Werror

# For `make fuzz`: time for each fuzz target. For `make test`: more flags for go test.
FUZZTIME ?= 20s
TESTFLAGS ?=

# The home of the JDK, looked up once and only by targets that need it.
JDK = $(eval JDK := $(shell make/jdk.sh))$(or $(JDK),$(error no JDK))

##@ Every day

.PHONY: help
help: ## Lists these targets
	@awk 'BEGIN { FS = ":.*## " } /^##@/ { printf "\n%s\n", substr($$0, 5) } /^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: build/jiffy-runtime.jar ## Builds bin/jiffy and the in-app runtime, build/jiffy-runtime.jar
	@command -v go >/dev/null || { echo "make: needs Go 1.26 or newer: https://go.dev/dl" >&2; exit 1; }
	go build -trimpath -ldflags '-X main.version=$(VERSION)' -o bin/jiffy ./cmd/jiffy

.PHONY: demo
demo: build build/demo/app.jar ## Instruments a sample application, runs it and shows where its time went
	@make/demo.sh $(JDK)

.PHONY: demo-real
demo-real: build ## The same with google-java-format, fetched from Maven Central, on thousands of files
	@make/demo-real.sh $(JDK)

.PHONY: test
test: build ## Runs all tests
	JAVA_HOME=$(JDK) go test -count=1 -timeout 30m $(TESTFLAGS) ./...

.PHONY: lint
lint: ## Checks formatting and runs go vet, staticcheck and javac's warnings
	@make/lint.sh $(STATICCHECK) $(JDK) $(JAVAC_LINT)

##@ Now and then

.PHONY: bench
bench: build ## Measures rewriting against ASM, the probe's cost and the sampler's (takes some minutes; ASM and JMH from Maven Central)
	@make/bench.sh $(JDK)

.PHONY: fuzz
fuzz: ## Runs every fuzz target for FUZZTIME (20s)
	@make/fuzz.sh $(FUZZTIME)

.PHONY: corpora
corpora: ## Fetches what other compilers made, for `make test-corpora`, into the user's cache (235 MB; npm and Maven)
	@make/corpora.sh

.PHONY: test-corpora
test-corpora: build corpora ## Rewrites, links, dexes and runs whole corpora (JIFFY_CORPORA_LIMIT=500: a sample of that many classes each)
	JIFFY_CORPORA_LIMIT=$${JIFFY_CORPORA_LIMIT:-0} JAVA_HOME=$(JDK) go test -count=1 -timeout 3h $(TESTFLAGS) -v -run 'Corpora' ./proof

.PHONY: fixtures
fixtures: ## Compiles the fixture classes again
	@make/fixtures.sh $(JDK)

.PHONY: clean
clean: ## Removes what was built; what was fetched into .cache stays
	rm -rf bin build
	find $(RUNTIME)/classes -mindepth 1 -maxdepth 1 ! -name README.md -exec rm -rf {} +

# The runtime: Java 8 bytecode. The signatures of Android classes that it is compiled against never go into the jar.
# Its classes are also copied to where go:embed takes them from, for `jiffy instrument --runtime`.
build/jiffy-runtime.jar: $(RUNTIME_SOURCES) $(COMPILEONLY_SOURCES) Makefile make/runtime.sh
	@echo "javac the in-app runtime, jar it to $@"
	@make/runtime.sh $(JDK) $(JAVAC_LINT)

build/demo/app.jar: $(BAKERY_SOURCES)
	@echo "javac the sample application, jar it to $@"
	@rm -rf build/demo/classes
	@mkdir -p build/demo/classes
	@$(JDK)/bin/javac --release 17 -g $(JAVAC_LINT) -d build/demo/classes $(BAKERY_SOURCES)
	@$(JDK)/bin/jar --create --file $@ --date 1980-01-01T00:00:02Z -C build/demo/classes .
