#!/usr/bin/env bash
# Runs the tests and believes them only if there were any and they came to an end. FILTER runs some of them. LIBCURL names
# a folder with a libcurl.so.4 to run them with, in place of the system's.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
minutes=${MINUTES:-15}

# Only Swift Testing: XCTest would add a summary of its own that says nothing ran.
command=(swift test --no-parallel --disable-xctest ${BUILD_FLAGS:-} ${FILTER:+--filter "$FILTER"})
if [ -n "${LIBCURL:-}" ]; then
    [ -e "$LIBCURL/libcurl.so.4" ] || { echo "There is no libcurl.so.4 in $LIBCURL." >&2 && exit 1; }
    export LD_LIBRARY_PATH=$LIBCURL${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    LIBCURL_VERSION=$(curl -V | sed -n '1s/.*libcurl\/\([^ ]*\).*/\1/p')
    export LIBCURL_VERSION
    echo "The tests run with libcurl $LIBCURL_VERSION."
fi
# A person can interrupt what hangs; a CI cannot.
[ -z "${CI:-}" ] || command=(env "SUITE=$$" timeout -k 10 "${minutes}m" "${command[@]}")

log=$(mktemp)
trap 'rm -f "$log"' EXIT
verdict=0
"${command[@]}" 2>&1 | tee "$log" || verdict=${PIPESTATUS[0]}
if [ "$verdict" -eq 124 ] || [ "$verdict" -eq 137 ]; then
    echo "The tests did not come to an end within $minutes minutes: a wait somewhere is not bounded." >&2
    # swift test leaves its child behind; what carries our mark in its environment is ours to end.
    grep -lzsx "SUITE=$$" /proc/[0-9]*/environ | cut -d/ -f3 | xargs -r kill -KILL 2>/dev/null || true
elif [ "$verdict" -eq 0 ] && ! grep -qE 'Test run with [1-9][0-9]* tests?\b' "$log"; then
    echo "No test ran: the filter matches none, or the test targets are empty." >&2
    verdict=1
elif [ "$verdict" -ne 0 ]; then
    # What failed is far above by now, and who reads a CI's end should not have to search for it.
    echo "What failed:" >&2
    grep -E -A 4 '^✘ .* recorded an issue|error:|Fatal error|terminated with|unexpected signal' "$log" | head -100 >&2 || true
fi
exit "$verdict"
