#!/usr/bin/env bash
# sanitize.sh thread|address [--build]: runs the conformance suite on both stacks under a sanitizer, whose first report ends the run.
# With --build it builds only. It builds Tests/Sanitized, which has the two suites and none of the other tests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case "${1:-}" in
thread) # makes code 5 to 15 times slower, by its documentation
    scratch=.build-tsan
    export SLOWDOWN=5 ;;
address) # leaks included
    scratch=.build-asan
    export SLOWDOWN=30 ;;
*) echo "usage: sanitize.sh thread|address" >&2; exit 64 ;;
esac

export TSAN_OPTIONS="halt_on_error=1 ${TSAN_OPTIONS:-}"
# Each module is compiled as a whole. Most of these builds start from nothing, and take a quarter less processor time so.
export BUILD_FLAGS="--sanitize $1 --package-path Tests/Sanitized --scratch-path $scratch \
    -Xswiftc -whole-module-optimization -Xswiftc -num-threads -Xswiftc 2"
export MINUTES=45
if [ "$1" = address ] && [ -z "${FILTER:-}${2:-}" ]; then
    # Without the option below, which CurlStack does not need: with it, checks that move much data run out of time.
    FILTER=CurlConformance/keeps .ci/suite.py
    export FILTER=URLSessionConformance/keeps
fi
# The system's leaks are recognised by the whole stacks of their allocations, which are slow to record.
export ASAN_OPTIONS="fast_unwind_on_malloc=0 ${ASAN_OPTIONS:-}"
export LSAN_OPTIONS="suppressions=$PWD/.ci/lsan.supp ${LSAN_OPTIONS:-}"
[ -n "${FILTER:-}" ] || export SHARE="${SHARE:-1/1}"
.ci/suite.py "${@:2}"
