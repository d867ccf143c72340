#!/usr/bin/env bash
# consumers.sh: every product builds in release as a user builds it: from an outside package, in programs that depend on one product
# each, which are then run. The one on CurlStack loads no Foundation network; the one on URLSessionStack builds without the headers
# of libcurl and OpenSSL. "consumers.sh build" builds them only.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
consumers=Tests/Consumer

# run <program>: runs what 'swift build' has built.
run() {
    echo "-- ${1##*/}"
    "$1" || { echo "A program that depends on one product fails: ${1##*/}." >&2; exit 1; }
}

# The package as on a machine where neither library is installed for development: their headers do not compile and
# pkg-config finds nothing. A debug build shows that, and is faster. (tar keeps the modification times, so a second run builds
# only what changed.)
bare=.build/without-headers
rm -rf "$bare/package"
mkdir -p "$bare/package" "$bare/bin"
tar -cf - --exclude='.build*' Package.swift Sources Tests | tar -xf - -C "$bare/package"
for library in CCurl COpenSSL; do echo '#error "not installed"' >"$bare/package/Sources/$library/shim.h"; done
printf '#!/bin/sh\nexit 1\n' >"$bare/bin/pkg-config"
chmod +x "$bare/bin/pkg-config"
PATH=$PWD/$bare/bin:$PATH swift build --package-path "$bare/package/$consumers" --scratch-path "$bare/build" \
    --disable-build-manifest-caching --product URLSessionOnly ||
    { echo "URLSessionStack does not build without the headers of libcurl and OpenSSL." >&2; exit 1; }
# Comes second because it locks .build-release, where 'make counts' looks for its programs when both run side by side.
swift build $RELEASE --package-path "$consumers" || { echo "A program that depends on one product does not build." >&2; exit 1; }
[ "${1:-}" != build ] || exit 0

programs=.build-release/release
for program in Vocabulary CurlOnly URLSessionOnly TestingOnly ConformanceOnly; do run "$programs/$program"; done
.ci/linkage.sh "$programs/CurlOnly"
run "$bare/build/debug/URLSessionOnly"
