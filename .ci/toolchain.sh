#!/usr/bin/env bash
# Says in one sentence why this machine's Swift toolchain cannot build the package, if it cannot.
set -euo pipefail
needs="6.2.3" # @nonexhaustive

if ! command -v swift >/dev/null; then
    echo "No 'swift' in PATH: install a Swift $needs (or newer) toolchain from https://swift.org/install and add its usr/bin to PATH." >&2
    exit 1
fi
if ! said=$(swift build --version 2>&1); then
    echo "The toolchain at $(command -v swift) does not start: $(tail -n 1 <<<"$said")" >&2
    exit 1
fi
has=$(swift --version 2>/dev/null | sed -nE 's/.*Swift version ([0-9]+(\.[0-9]+)+).*/\1/p' | head -n 1)
if [ "$(printf '%s\n' "$needs" "$has" | sort -V | head -n 1)" != "$needs" ]; then
    echo "The Swift in PATH is version ${has:-unknown}; this package needs $needs or newer." >&2
    exit 1
fi
