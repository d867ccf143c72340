# Everything a person or a CI runs, by one name each. `make` alone lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

# A build plan that is kept would miss files that the library has gained, and belong to the package that was built last.
FRESH_PLAN := --disable-build-manifest-caching

# Warnings are errors here and never in the manifest: a user's newer compiler must not fail on ours.
# One set of flags for every debug build, so that no step builds the package a second time. The last one lets the suite
# hold name lookups up (HeldLookups): C libraries then find the test program's own getaddrinfo. Two switch off the indexing of system
# modules, which takes a tenth of a build.
export BUILD_FLAGS := $(FRESH_PLAN) -Xswiftc -warnings-as-errors --explicit-target-dependency-import-check error \
	-Xswiftc -index-ignore-system-modules -Xswiftc -index-ignore-clang-modules \
	-Xlinker --export-dynamic-symbol=getaddrinfo

# One folder for every release build: the library is compiled once for the benchmarks, the examples and the consumers.
export RELEASE := -c release --scratch-path .build-release $(FRESH_PLAN)

.PHONY: help install install-build install-test build build-examples build-release build-benchmarks build-mutants build-consumers \
	build-tsan build-histories quick test slow suite stress newer integrations demo netfetch compare examples tsan \
	tsan-third asan lint format fences docs samples consumers counts mutations mutations-5 mutations-10 histories promises walk \
	bench bench-compare leaks release-check clean

help: ## List the targets
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: install-build install-test ## Install the missing system packages, for building and for testing

install-build: ## Install what building and the demo need
	@.ci/install.sh build

install-test: ## Install what the tests need beyond that
	@.ci/install.sh test

build: install-build ## Build everything, tests included, with warnings as errors
	@swift build --build-tests $(BUILD_FLAGS)

build-examples: install-build
	@swift build $(RELEASE) --package-path Examples

build-release: build-benchmarks build-examples

build-benchmarks: install-build
	@swift build -q $(RELEASE) --package-path Benchmarks --product bench-floor
	@swift build -q $(RELEASE) --package-path Benchmarks --product bench-curl-stack

build-mutants: install-build
	@.ci/mutate.py --build --count 5 --one-module

build-consumers: install-build
	@.ci/consumers.sh build

build-tsan: install-build
	@.ci/sanitize.sh thread --build

build-histories: install-build
	@swift build $(BUILD_FLAGS) --package-path Tests/Histories --scratch-path .build/histories

quick: install ## Build what changed, run the unit tests and a sample of both stacks' checks: the inner loop
	@.ci/suite.py --quick

test: install ## Run everything that must pass on a change
	@.ci/steps.sh test lint+fences suite+build-mutants mutations-5+docs+samples

# The consumers compile beside 'counts': each keeps one processor busy.
slow: install ## Run what CI runs besides: the newer libcurl, release builds, counts, a sanitizer, more mutations
	@.ci/steps.sh slow newer+build-release+build-tsan+build-histories counts+build-consumers :demo :consumers \
		leaks+compare+examples+mutations-10 tsan-third

suite: ## Run the tests, but those of 'leaks' (FILTER='a check' runs some, LIBCURL=folder with another libcurl)
	@.ci/suite.py

leaks: install ## Test that thousands of fetches, connections and stacks leave nothing behind
	@FILTER=CurlStackTests.FlatnessTests .ci/suite.py

newer: ## Run both stacks' tests with a newer libcurl than the system's
	@.ci/newer.sh

integrations: install ## Test Integrations/ with Examples/service: logs, metrics, traces, the stack on AsyncHTTPClient (CHECK='a check')
	@.ci/integrations.sh

demo: install-build ## Run the same app code on both stacks against a real server
	@swift run $(RELEASE) --package-path Examples demo

netfetch: install-build ## Build netfetch, the command line client, and say where it is
	@swift build $(RELEASE) --package-path Examples --product netfetch
	@echo "$(CURDIR)/.build-release/release/netfetch"

compare: netfetch install-test ## Compare netfetch with curl: replies, requests, exit codes, -w, terminal, HAR (SHOW='a case' shows some)
	@program="$(CURDIR)/.build-release/release/netfetch"; \
	Examples/compare/compare.py "$$program" $${SHOW:+--show "$$SHOW"}; \
	Examples/compare/contract.py "$$program"; \
	Examples/compare/terminal.py "$$program"; \
	Examples/compare/writeout.py "$$program"; \
	Examples/compare/planted.py "$$program"; \
	.build/python/bin/python Examples/compare/archives.py "$$program"

examples: build-examples ## Build the examples, and run those that bring a server of their own or were moved from other clients
	@.ci/examples.sh

stress: install ## Run chosen tests many times beside busy processes (FILTER=, CHECK=, TIMES=50, BUSY=4)
	@.ci/stress.py

# Which third, the commit's name decides.
tsan-third: install ## Run a third of the conformance suite under ThreadSanitizer
	@SHARE=$$((0x$$(git rev-parse --short=7 HEAD 2>/dev/null || echo 0) % 3 + 1))/3 .ci/sanitize.sh thread

tsan: install ## Run the conformance suite under ThreadSanitizer
	@.ci/sanitize.sh thread

asan: install ## Run the conformance suite under AddressSanitizer, leaks included
	@.ci/sanitize.sh address

lint: ## Check format, style and words, public documentation included
	@.ci/format.sh lint --strict
	@.ci/words.py

format: ## Rewrite the sources in the house's format
	@.ci/format.sh format --in-place

fences: ## Check the rules a compiler does not: who imports whom, where unsafe code lives
	@.ci/fences.sh

docs: ## Build the documentation; a broken link or an undocumented symbol fails
	@.ci/docs.sh

samples: ## Compile the Swift samples of the README and the guides, and count the statements of those that are compared
	@swift build -q $(BUILD_FLAGS)
	@.ci/tasks.py
	@.ci/samples.py

consumers: ## Build every product in release, and run a program that depends on each alone
	@.ci/consumers.sh

counts: install build-benchmarks ## Hold instructions, allocations and system calls of a fetch to Benchmarks/counts.json
	@.ci/counts.py

# WORKLOADS='get-1k-h1-c64,...' and CLIENTS='curl-stack,libcurl-c,...' choose; `bench --list` names them.
bench: install-build ## Measure the stacks against libcurl in C and their peers (QUICK=1, WORKLOADS=, CLIENTS=, ROUNDS=)
	@.ci/install.sh bench || echo "Some clients will be missing; the report names them." >&2
	@swift build -q $(RELEASE) --package-path Benchmarks
	@.build-release/release/bench --repository . $(if $(QUICK),--quick) $(if $(WORKLOADS),--workloads "$(WORKLOADS)") \
		$(if $(CLIENTS),--clients "$(CLIENTS)") $(if $(ROUNDS),--rounds $(ROUNDS))

bench-compare: install-build ## Measure the curl stack against itself at another revision (BASE=<rev>, WORKLOADS=, CLIENTS=, ROUNDS=)
	@BASE="$(BASE)" WORKLOADS="$(WORKLOADS)" CLIENTS="$(CLIENTS)" ROUNDS="$(ROUNDS)" .ci/bench-compare.sh

mutations: install ## Break the library on purpose and see the checks notice (MUTATIONS='--count 10', or a folder, tries some)
	@.ci/mutate.py $(or $(MUTATIONS),--all)

mutations-5: install
	@.ci/mutate.py --count 5 --one-module

mutations-10: install
	@.ci/mutate.py --count 10

histories: install-build ## Run mutated inputs, and random histories of fetches, queues and transfers (HISTORIES=20000000, HISTORY_SEED= replays one)
	@.ci/histories.sh

promises: ## Write .build/PROMISES.md: each group of promises, its checks, and the mutations they caught
	@.ci/promises.py

walk: install-build ## List the source files that one fetch on CurlStack crosses, and fail if there are more than before
	@.ci/walk.py

release-check: install ## Check the last commit as a release: version, a package by `from:`, public API, a static program in a chroot
	@.ci/release.sh

clean: ## Remove everything built
	@rm -rf .build .build-* Examples/.build Examples/service/.build Benchmarks/.build Benchmarks/.build-static Benchmarks/AsyncHTTPClient/.build Integrations/.build Tests/Consumer/.build Tests/Histories/.build
