#!/usr/bin/env bash
# Packages outside this one, each depending on one product, build and run. One of them does so without curl and ssl headers.
# And what users copy from the README and the guides compiles.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# use <package> <name> [<option of swift build>...]: builds the consumer in that package's Tests/Consumer and runs it.
use() {
    local name=$2 options=(--package-path "$1/Tests/Consumer/$2" "${@:3}") program
    echo "-- $name"
    swift build -q "${options[@]}" || { echo "A package that depends on one product does not build: $name." >&2; exit 1; }
    program=$(swift build --show-bin-path "${options[@]}")/$name
    "$program" || { echo "A program that depends on one product fails: $name." >&2; exit 1; }
}

use . Vocabulary
use . CurlOnly

# The same package as on a machine where neither library is installed for development: their headers do not compile and
# pkg-config knows nothing. (tar keeps the modification times, so a second run builds only what changed.)
bare=.build/without-headers
rm -rf "$bare/package"
mkdir -p "$bare/package" "$bare/bin"
tar -cf - --exclude='.build*' Package.swift Sources Tests | tar -xf - -C "$bare/package"
for library in CCurl COpenSSL; do echo '#error "not installed"' >"$bare/package/Sources/$library/shim.h"; done
printf '#!/bin/sh\nexit 1\n' >"$bare/bin/pkg-config"
chmod +x "$bare/bin/pkg-config"
PATH=$PWD/$bare/bin:$PATH use "$bare/package" URLSessionOnly --scratch-path "$bare/build"

echo "-- samples"
swift build -q ${BUILD_FLAGS:-} || { echo "The samples need a package that builds: run 'make build'." >&2; exit 1; }
.ci/samples.py
