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
git worktree remove --force "$tree" 2>/dev/null || true
git worktree prune
git worktree add --quiet --detach "$tree" "$revision"
trap 'git worktree remove --force "$tree"' EXIT

rm -rf "$tree/Benchmarks"
mkdir "$tree/Benchmarks"
tar -C Benchmarks --exclude='.build*' -cf - . | tar -C "$tree/Benchmarks" -xf -
swift build -q -c release --package-path "$tree/Benchmarks" --product bench-curl-stack
swift build -q -c release --package-path Benchmarks
Benchmarks/.build/release/bench --repository . --base "$tree/Benchmarks/.build/release/bench-curl-stack" \
    --clients curl-stack,curl-stack-callback,libcurl-c \
    --workloads "${WORKLOADS:-get-1k-h1-c1,get-1k-h1-c64,get-1k-h1-c256}" ${ROUNDS:+--rounds "$ROUNDS"}
