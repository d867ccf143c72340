#!/usr/bin/env bash
# Builds the documentation of the library modules from what 'swift build' made. A link that leads nowhere, any other
# warning, or a public symbol without documentation fails. The archives are left in .build/documentation, and one of all.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

swift build -q ${BUILD_FLAGS:-} || { echo "The documentation needs a package that builds: run 'make build'." >&2; exit 1; }
built=$(swift build --show-bin-path)
if command -v docc >/dev/null; then docc=docc; elif docc=$(xcrun --find docc 2>/dev/null); then :; else
    echo "There is no 'docc' beside this toolchain, so the documentation cannot be checked." >&2
    exit 1
fi
triple=$(swift -print-target-info | sed -nE 's/.*"triple" *: *"([^"]*)".*/\1/p' | head -n 1)
out=.build/documentation
rm -rf "$out"

# NetworkStack comes first: the others' documentation links into it.
archives=()
for module in NetworkStack CurlStack URLSessionStack NetworkStackTesting NetworkStackConformance; do
    graphs=$out/$module
    mkdir -p "$graphs"
    swift symbolgraph-extract -module-name "$module" -target "$triple" -output-dir "$graphs" \
        -minimum-access-level public -skip-synthesized-members -emit-extension-block-symbols \
        -I "$built/Modules" -I Sources/CCurl -I Sources/COpenSSL
    sources=Sources/$module
    [ -d "$sources" ] || sources=Tests/$module
    catalog=$(find "$sources" -name '*.docc' -type d | head -n 1)
    if ! "$docc" convert $catalog --additional-symbol-graph-dir "$graphs" --output-path "$out/$module.doccarchive" \
        --fallback-display-name "$module" --fallback-bundle-identifier "$module" --warnings-as-errors \
        --enable-experimental-external-link-support ${archives[@]+"${archives[@]}"}; then
        echo "The documentation of $module does not build: see docc's words above." >&2
        exit 1
    fi
    archives+=(--dependency "$out/$module.doccarchive")
done
.ci/undocumented.py "$out"/*/*.symbols.json

"$docc" merge "$out"/*.doccarchive --output-path "$out/all.doccarchive" --synthesized-landing-page-name NetworkStack
.ci/site.py "$out/all.doccarchive"
# Each page has a file of its own, so the one at the root may lead to the first of them. docc's shows an error there.
[ -f "$out/all.doccarchive/documentation/networkstack/index.html" ] || { echo "docc has made no pages for a plain server." >&2; exit 1; }
cat >"$out/all.doccarchive/index.html" <<'EOF'
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="0; url=documentation/networkstack/">
<title>NetworkStack: an HTTP client for Swift on Linux</title>
<p>The documentation of <a href="documentation/networkstack/">NetworkStack</a>, with
<a href="documentation/curlstack/">CurlStack</a> and <a href="documentation/urlsessionstack/">URLSessionStack</a>.</p>
</html>
EOF
echo "To look at it: python3 -m http.server -d $out/all.doccarchive 8000, and open http://localhost:8000/"
