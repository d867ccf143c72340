#!/usr/bin/env bash
# Runs HISTORIES mutated inputs (20,000,000 by default) through the parsers of received fields, random histories of what decides
# (fetches, queues, transfers, readers) with a twentieth as many steps each, and a 200th as many fetches of an engine, on every
# processor. HISTORY_SEED=<seed> runs that one again.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
count=${HISTORIES:-20000000} first=${HISTORY_SEED:-1} jobs=$(nproc)
[ -z "${HISTORY_SEED:-}" ] || { count=${HISTORIES:-1} jobs=1; }

build=(swift build -q --disable-build-manifest-caching -c release --package-path Tests/Histories -Xswiftc -enable-testing)
"${build[@]}"
program=$("${build[@]}" --show-bin-path)/histories
folder=$(mktemp -d) pids=()
# The shell starts what runs in the background with SIGINT ignored.
trap '[ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null || true; rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

share=$(((count + jobs - 1) / jobs)) verdict=0
for ((job = 0; job < jobs; job++)); do
    "$program" "$((first + job * share))" "$share" "$folder/$job" &
    pids+=($!)
done
for ((job = 0; job < jobs; job++)); do
    status=0
    wait "${pids[job]}" || status=$?
    unset 'pids[job]'
    [ "$status" -eq 0 ] && continue
    verdict=1
    # What throws names its seed; what crashes the process has left it here.
    [ "$status" -lt 128 ] || echo "HISTORY_SEED=$(od -An -tu8 "$folder/$job" | tr -d ' '): the process crashed ($status)" >&2
done
[ "$verdict" -eq 0 ] && echo "$((share * jobs)) inputs, $((share / 20 * jobs)) steps of each history and $((share / 200 * jobs)) fetches from seed $first on: nothing broke."
exit "$verdict"
