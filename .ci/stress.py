#!/usr/bin/env python3
"""Runs chosen tests many times beside busy processes: a verdict must not depend on the machine's load.

Environment: FILTER chooses tests, CHECK conformance checks (as for 'make suite'); TIMES is how often (50), BUSY how many busy
processes run beside them (4). Fails if a run failed, and prints each different failure once, when it is first seen.
"""
import collections
import os
import subprocess
import sys
import time

import suite

SPIN = ["/bin/sh", "-c", "while :; do :; done"]


def main():
    times, busy = int(os.environ.get("TIMES") or 50), int(os.environ.get("BUSY") or 4)
    filter = os.environ.get("FILTER")
    if not filter:
        sys.exit("FILTER names no test: make stress FILTER='CurlConformance/keeps' CHECK='part of a check name'")
    suite.take_libcurl()
    program = suite.build()
    suite.end_with_this_process()
    spinning = [subprocess.Popen(SPIN) for _ in range(busy)]
    failures = collections.Counter()
    try:
        for number in range(times):
            share = suite.Share(filter, ["--filter", filter])
            share.run(program, time.monotonic() + 60 * suite.MINUTES)
            print(f"{number + 1}: {share.problem or f'{share.tests} tests passed'} in {share.seconds:.1f} s", flush=True)
            if share.problem:
                failure = suite.excerpt(share.log)
                if failure not in failures:
                    print(failure, flush=True)
                failures[failure] += 1
    finally:
        for process in spinning:
            process.kill()
    for text, count in failures.most_common(5):
        print(f"\n{count} times: {text.strip().splitlines()[0] if text.strip() else 'no output'}", file=sys.stderr)
    print(f"{times - sum(failures.values())} of {times} runs passed beside {busy} busy processes")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
