#!/usr/bin/env bash
# beside.sh <target>...: makes targets of the Makefile side by side. The first that fails ends the others, and its output is printed.
# The compiler of a release build uses one processor for most of its time; other builds take the rest. Name the longest first: the
# others run at a lower priority.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
output=$(mktemp -d)
set -m # Each target is a group of processes, which can be ended as one.
declare -A running=()
end() {
    local pid
    for pid in "${!running[@]}"; do kill -- "-$pid" 2>/dev/null || true; done
    rm -rf "$output"
}
trap end EXIT
trap 'exit 130' INT TERM

echo "Side by side, which takes minutes the first time: $*"
priority=0
for target in "$@"; do
    nice -n "$priority" make "$target" >"$output/$target" 2>&1 </dev/null &
    running[$!]=$target
    priority=5
done
while [ ${#running[@]} -gt 0 ]; do
    status=0
    wait -n -p pid || status=$?
    target=${running[$pid]}
    unset "running[$pid]"
    if [ "$status" -ne 0 ]; then
        cat "$output/$target" >&2
        echo "'make $target' failed; its output is above." >&2
        exit 1
    fi
    echo "$target: done after $SECONDS s"
done
