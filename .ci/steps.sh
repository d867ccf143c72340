#!/usr/bin/env bash
# steps.sh <name> <target>...: runs targets of the Makefile in order; stops at the first that fails and names it. A target
# with a colon before it (":docs") prints only when it fails. Targets joined by a plus run side by side (beside.sh).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
name=$1
shift
began=$SECONDS
passed=()
for target in "$@"; do
    from=$SECONDS
    echo "== make ${target#:}"
    if [[ $target == *+* ]]; then
        .ci/beside.sh ${target//+/ } || { echo "make $name: FAILED in the target named above, which can be run alone." >&2; exit 1; }
        ok=true
    elif [ "${target#:}" = "$target" ]; then
        make "$target" && ok=true || ok=false
    else
        log=$(mktemp)
        target=${target#:}
        make "$target" >"$log" 2>&1 && ok=true || ok=false
        $ok || cat "$log" >&2
        rm -f "$log"
    fi
    $ok || { echo "make $name: FAILED in 'make $target', which can be run alone." >&2; exit 1; }
    passed+=("$target $((SECONDS - from)) s")
done
printf -v list ', %s' "${passed[@]}"
echo "make $name: all ${#passed[@]} steps passed in $((SECONDS - began)) s (${list:2})"
