#!/usr/bin/env bash
# Every check in order, the quick ones first; stops at the first that fails and says which.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
began=$SECONDS
passed=()

# step <target> [quiet]: quiet steps are heard only when they fail.
step() {
    local target=$1 from=$SECONDS log
    echo "== make $target"
    if [ "${2:-}" = quiet ]; then
        log=$(mktemp)
        if ! make "$target" >"$log" 2>&1; then
            cat "$log" >&2
            failed "$target"
        fi
        rm -f "$log"
    elif ! make "$target"; then
        failed "$target"
    fi
    passed+=("$target $((SECONDS - from)) s")
}

failed() {
    echo "make test: FAILED in 'make $1', which can be run alone." >&2
    exit 1
}

step lint
step fences
step build
step suite
step newer
step docs quiet
step linkage quiet
step counts
step consumers quiet
step examples quiet
step demo quiet
step compare quiet
MUTATIONS="--count 10" step mutations
printf 'make test: all %d steps passed in %d s (' "${#passed[@]}" $((SECONDS - began))
printf '%s' "${passed[0]}"
printf ', %s' "${passed[@]:1}"
echo ')'
