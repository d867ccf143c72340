#!/usr/bin/env bash
# Runs the examples that start a server, on both stacks: each succeeds, or prints what failed. Runs the programs that were moved from
# other clients, and counts the lines that moving changed. `make build-examples` has built them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

programs=$PWD/.build-release/release
for program in github users accounts rest demo; do
    echo "-- $program"
    if ! timeout -k 5 60 "$programs/$program"; then
        echo "The example '$program' does not do what it shows; its own words are above." >&2
        exit 1
    fi
done
echo "-- ported"
Examples/ported/check.py "$programs"
