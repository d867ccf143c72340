#!/usr/bin/env bash
# format.sh lint --strict | format --in-place: runs swift-format over every Swift file of the repository.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Tests may stop at a broken assumption; the library may not. That is all they are allowed beyond the house's rules.
relaxed=$(sed -E 's/("(NeverForceUnwrap|NeverUseForceTry|NeverUseImplicitlyUnwrappedOptionals)": )true/\1false/' .swift-format)
mode=("$@")
verdict=0

run() { # run <configuration> <path>...
    local configuration=$1 path there=()
    shift
    for path in "$@"; do [ ! -e "$path" ] || there+=("$path"); done
    # The sample of Alicerce's documentation, and the programs that were moved to this library, keep their style.
    find "${there[@]}" \( -name '.build*' -o -name alicerce-sample -o -name 'mirror-*' \) -prune -o -name '*.swift' -type f -print0 |
        xargs -0 -r swift format "${mode[@]}" --parallel --configuration "$configuration" || verdict=1
}

run .swift-format Package.swift Sources Examples Benchmarks Integrations/Package.swift Integrations/Sources
run "$relaxed" Tests Integrations/Tests
if [ "$verdict" -ne 0 ]; then
    echo "The style differs from the house's in the lines above: 'make format' mends what is only format." >&2
fi
exit "$verdict"
