#!/usr/bin/env bash
# beside.sh <target>...: makes targets of the Makefile side by side. The first prints its output and runs as it would alone. The others
# take the processor time that it leaves, and print only if they fail. The first failure ends them all.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
output=$(mktemp -d)
set -m # Each target is a group of processes, which can be ended as one.
declare -A running=()
# Lowers the priority of this session, or restores it. The kernel shares the processors among sessions first, and each test program has
# a session of its own. Only root may restore the priority.
yield() { [ "$UID" -ne 0 ] || { echo "$1" >/proc/self/autogroup; } 2>/dev/null || true; }
end() {
    local pid
    for pid in "${!running[@]}"; do kill -- "-$pid" 2>/dev/null || true; done
    yield 0
    rm -rf "$output"
}
trap end EXIT
trap 'exit 130' INT TERM

yield 19
make "$1" </dev/null &
running[$!]=$1
for target in "${@:2}"; do
    # Not 'nice', which the build system sets back.
    chrt --idle 0 make "$target" >"$output/$target" 2>&1 </dev/null &
    running[$!]=$target
done
while [ ${#running[@]} -gt 0 ]; do
    status=0
    wait -n -p pid || status=$?
    target=${running[$pid]}
    unset "running[$pid]"
    if [ "$status" -ne 0 ]; then
        [ ! -e "$output/$target" ] || cat "$output/$target" >&2
        echo "'make $target' failed; its output is above." >&2
        exit 1
    fi
    echo "-- $target: done after $SECONDS s"
done
