# Everything a person or a CI runs, by one name each. `make` alone lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

# Warnings are errors here and never in the manifest: a user's newer compiler must not fail on ours.
# One set of flags for every debug build, so that no step builds the package a second time. The last one lets the suite
# hold name lookups up (HeldLookups): C libraries then find the test program's own getaddrinfo.
export BUILD_FLAGS := -Xswiftc -warnings-as-errors --explicit-target-dependency-import-check error \
	-Xlinker --export-dynamic-symbol=getaddrinfo

.PHONY: help install install-build install-test build test suite newer demo netfetch compare examples tsan asan \
	lint format fences docs linkage consumers counts mutations promises bench bench-compare clean

help: ## List the targets
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: install-build install-test ## Install the missing system packages, for building and for testing

install-build: ## Install what building and the demo need
	@.ci/install.sh build

install-test: ## Install what the tests need beyond that
	@.ci/install.sh test

build: install-build ## Build everything, tests included, with warnings as errors
	@swift build --build-tests $(BUILD_FLAGS)

test: install ## Run what CI runs: everything that must pass
	@.ci/test.sh

suite: ## Run the tests alone (FILTER='a check' runs some, LIBCURL=folder with another libcurl)
	@.ci/suite.sh

newer: ## Run both stacks' tests with a newer libcurl than the system's
	@.ci/newer.sh

demo: install-build ## Run the same app code on both stacks against a real server
	@swift run --disable-build-manifest-caching --package-path Examples -c release demo

netfetch: install-build ## Build netfetch, the command line client, and say where it is
	@swift build --disable-build-manifest-caching --package-path Examples -c release --product netfetch
	@echo "$$(swift build --package-path Examples -c release --show-bin-path)/netfetch"

compare: netfetch ## Compare netfetch with curl (465 replies, 136 requests) and with its help (SHOW='a case' shows some)
	@Examples/compare/compare.py "$$(swift build --package-path Examples -c release --show-bin-path)/netfetch" $${SHOW:+--show "$$SHOW"}
	@Examples/compare/contract.py "$$(swift build --package-path Examples -c release --show-bin-path)/netfetch"

examples: install-build ## Build the examples, and run those that bring a server of their own
	@.ci/examples.sh

tsan: install ## Run the conformance suite under ThreadSanitizer
	@.ci/sanitize.sh thread

asan: install ## Run the conformance suite under AddressSanitizer, leaks included
	@.ci/sanitize.sh address

lint: ## Check format and style, public documentation included
	@.ci/format.sh lint --strict

format: ## Rewrite the sources in the house's format
	@.ci/format.sh format --in-place

fences: ## Check the rules a compiler does not: who imports whom, where unsafe code lives
	@.ci/fences.sh

docs: ## Build the documentation; a broken link or an undocumented symbol fails
	@.ci/docs.sh

linkage: ## Check that a CurlStack program links neither Foundation's network nor its ICU
	@.ci/linkage.sh

consumers: ## Build and run outside packages that depend on one product each; compile the samples of README and guides
	@.ci/consumers.sh

counts: install ## Hold instructions, allocations and system calls of a fetch to Benchmarks/counts.json
	@swift build -q --disable-build-manifest-caching -c release --package-path Benchmarks --product bench-floor
	@swift build -q --disable-build-manifest-caching -c release --package-path Benchmarks --product bench-curl-stack
	@.ci/counts.py

# WORKLOADS='get-1k-h1-c64,...' and CLIENTS='curl-stack,libcurl-c,...' choose; `bench --list` names them.
bench: install-build ## Measure the stacks against libcurl in C and their peers (QUICK=1, WORKLOADS=, CLIENTS=, ROUNDS=)
	@.ci/install.sh bench || echo "Some clients will be missing; the report names them." >&2
	@swift build -q --disable-build-manifest-caching -c release --package-path Benchmarks
	@Benchmarks/.build/release/bench --repository . $(if $(QUICK),--quick) $(if $(WORKLOADS),--workloads "$(WORKLOADS)") \
		$(if $(CLIENTS),--clients "$(CLIENTS)") $(if $(ROUNDS),--rounds $(ROUNDS))

bench-compare: install-build ## Measure the curl stack against itself at another revision (BASE=<rev>, WORKLOADS=, CLIENTS=, ROUNDS=)
	@BASE="$(BASE)" WORKLOADS="$(WORKLOADS)" CLIENTS="$(CLIENTS)" ROUNDS="$(ROUNDS)" .ci/bench-compare.sh

mutations: install ## Break the library on purpose and see the checks notice (MUTATIONS='--count 10', or names, tries some)
	@.ci/mutate.py $(or $(MUTATIONS),--all)

promises: ## Write .build/PROMISES.md: each promise, the check that proves it, the mutation the check caught
	@.ci/promises.py

clean: ## Remove everything built
	@rm -rf .build .build-* Examples/.build Benchmarks/.build Benchmarks/.build-static Benchmarks/AsyncHTTPClient/.build Tests/Consumer/*/.build
