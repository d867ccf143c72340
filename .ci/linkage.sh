#!/usr/bin/env bash
# linkage.sh <program>: a program that depends on CurlStack alone must not load Foundation, its network, or its ICU
# (FoundationEssentials may).
set -euo pipefail
program=${1:?usage: linkage.sh <program>}
[ "$(uname)" = Linux ] || { echo "Linkage is checked on Linux only: elsewhere Foundation is part of the system."; exit 0; }

loaded=$(ldd "$program")
if ! grep -q 'libcurl\.so' <<<"$loaded"; then
    echo "$program does not load libcurl, so its linkage proves nothing: $loaded" >&2
    exit 1
fi
if heavy=$(grep -E 'libFoundation\.so|libFoundationNetworking|libFoundationInternationalization|libFoundationXML|lib_FoundationICU' <<<"$loaded"); then
    echo "$heavy" >&2
    echo "$program depends on CurlStack alone and loads the libraries above: some file imports more than FoundationEssentials." >&2
    exit 1
fi
