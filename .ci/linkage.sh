#!/usr/bin/env bash
# A program that depends on CurlStack alone must not load Foundation, its network, or its ICU (FoundationEssentials may).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[ "$(uname)" = Linux ] || { echo "Linkage is checked on Linux only: elsewhere Foundation is part of the system."; exit 0; }

consumer=Tests/Consumer/CurlOnly
swift build -q --package-path "$consumer"
program=$(swift build --package-path "$consumer" --show-bin-path)/CurlOnly
loaded=$(ldd "$program")
if ! grep -q 'libcurl\.so' <<<"$loaded"; then
    echo "$program does not load libcurl, so its linkage says nothing: $loaded" >&2
    exit 1
fi
if heavy=$(grep -E 'libFoundation\.so|libFoundationNetworking|libFoundationInternationalization|libFoundationXML|lib_FoundationICU' <<<"$loaded"); then
    echo "$heavy" >&2
    echo "A program that depends on CurlStack alone loads the libraries above: some file imports more than FoundationEssentials." >&2
    exit 1
fi
