#!/usr/bin/env bash
# Measures the curl stack of this work tree against itself at BASE, with this work tree's harness, in interleaved rounds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
tree=$root/.build/bench/base

revision=$(git rev-parse --verify --quiet "${BASE:-}^{commit}") || {
    echo "BASE='${BASE:-}' names no revision: make bench-compare BASE=main" >&2
    exit 64
}
# The base's files, with an index of their own: from one base to the next only what differs is written, and built, anew.
mkdir -p "$tree"
GIT_INDEX_FILE=$tree.index git --work-tree="$tree" read-tree --reset -u "$revision"
find "$tree/Benchmarks" -mindepth 1 -maxdepth 1 ! -name '.build*' -exec rm -rf {} +
tar -C Benchmarks --exclude='.build*' --exclude='./AsyncHTTPClient' -cf - . | tar -C "$tree/Benchmarks" -xf -

echo "Building the curl stack of $(git log -1 --format='%h, %s' "$revision")" >&2
swift build -q --disable-build-manifest-caching -c release --package-path "$tree/Benchmarks" --product bench-curl-stack
swift build -q $RELEASE --package-path Benchmarks
.build-release/release/bench --repository . --base "$tree/Benchmarks/.build/release/bench-curl-stack" \
    --base-name "$(git log -1 --format='%h' "$revision")" --clients "${CLIENTS:-curl-stack,curl-stack-callback,libcurl-c}" \
    --workloads "${WORKLOADS:-get-1k-h1-c64,get-1k-h1-c1,get-1k-h1-c256}" ${ROUNDS:+--rounds "$ROUNDS"}
