#!/usr/bin/env bash
# Builds the package of Integrations/ and runs its tests, then Examples/service, which uses it. CHECK selects conformance checks by
# parts of their names, as for 'make suite'. It is not part of 'make test', because its dependencies take minutes to build, and the network to get.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# One check at a time: some count resources of the whole process. The linker's option is for checks of DNS lookups.
swift test --disable-build-manifest-caching --package-path Integrations --no-parallel \
    -Xlinker --export-dynamic-symbol=getaddrinfo

options=(--package-path Examples/service -c release)
swift build --disable-build-manifest-caching "${options[@]}"
Examples/service/check.py "$(swift build --show-bin-path "${options[@]}")/service"
