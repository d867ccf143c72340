#!/usr/bin/env bash
# Every product builds in release as a user builds it: from an outside package, in programs that depend on one product each,
# which are then run. The one on CurlStack loads no Foundation network; the one on URLSessionStack builds without the headers
# of libcurl and OpenSSL.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
consumers=Tests/Consumer

# run <program> <option of swift build>...: runs what 'swift build' has built.
run() {
    local program
    program=$(swift build --disable-build-manifest-caching "${@:2}" --show-bin-path)/$1
    echo "-- $1"
    "$program" || { echo "A program that depends on one product fails: $1." >&2; exit 1; }
}

release=(-c release --package-path "$consumers")
swift build --disable-build-manifest-caching "${release[@]}" || { echo "A program that depends on one product does not build." >&2; exit 1; }
for program in Vocabulary CurlOnly URLSessionOnly TestingOnly ConformanceOnly; do run "$program" "${release[@]}"; done
.ci/linkage.sh "$(swift build --disable-build-manifest-caching "${release[@]}" --show-bin-path)/CurlOnly"

# The same package as on a machine where neither library is installed for development: their headers do not compile and
# pkg-config finds nothing. A debug build shows that, and is faster. (tar keeps the modification times, so a second run builds
# only what changed.)
bare=.build/without-headers
rm -rf "$bare/package"
mkdir -p "$bare/package" "$bare/bin"
tar -cf - --exclude='.build*' Package.swift Sources Tests | tar -xf - -C "$bare/package"
for library in CCurl COpenSSL; do echo '#error "not installed"' >"$bare/package/Sources/$library/shim.h"; done
printf '#!/bin/sh\nexit 1\n' >"$bare/bin/pkg-config"
chmod +x "$bare/bin/pkg-config"
options=(--package-path "$bare/package/$consumers" --scratch-path "$bare/build")
PATH=$PWD/$bare/bin:$PATH swift build --disable-build-manifest-caching "${options[@]}" --product URLSessionOnly ||
    { echo "URLSessionStack does not build without the headers of libcurl and OpenSSL." >&2; exit 1; }
run URLSessionOnly "${options[@]}"
