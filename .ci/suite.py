#!/usr/bin/env python3
"""Runs the tests: several processes side by side, each with a share of them, so that their waits overlap.

The checks of a conformance suite are dealt out to shares by their number; all other tests are three shares more. Shares have nothing
in common: each is a process with servers of its own. A run counts only if every share ran tests and came to its end.

Environment: FILTER runs the tests whose names it matches, in one process. CHECK runs the conformance checks whose names
contain one of its lines. LIBCURL names a folder with a libcurl.so.4 to take instead of the system's; tests that depend on none are
left out then, and those of 'make leaks' are included. SHARE=k/n runs one of n parts of both stacks' conformance checks, and no
other test. MINUTES bounds the run. BUILD_FLAGS are those of 'swift build'.
"""
import argparse
import atexit
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MINUTES = float(os.environ.get("MINUTES") or 15)
# Tests wait far more than they compute: two processes a core keep it busy, more only make clocks late.
AT_ONCE = max(2, min(2 * (os.cpu_count() or 1), 6))
SUITES = ("CurlConformance", "URLSessionConformance")
PARTS = 2
# The suites that take about a third of the time of CurlStackTests.
LONG = "CurlStackTests.(QuirkTests|GateTests)/"
# Run by 'make leaks', and with another libcurl.
LEAKS = "CurlStackTests.FlatnessTests/"
# The last line of a run; "with 0 tests" is none.
RAN = re.compile(r"Test run with (\d+) tests? .*(passed|failed) after")
STANDING = re.compile(r"^(\w+Stack): (\d+) promises kept, (\d+) broken, (\d+) known issues, (\d+) not claimed$")


class Share:
    """A process with its part of the tests."""

    def __init__(self, name, arguments, part=None):
        self.name, self.arguments, self.part = name, arguments, part
        self.code, self.seconds, self.log = None, 0.0, ""

    def run(self, program, deadline):
        environment = dict(os.environ, NO_COLOR="1")
        if self.part:
            environment["SHARE"] = self.part
        began = time.monotonic()
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(
                [program, "--testing-library", "swift-testing", "--no-parallel", *self.arguments], cwd=ROOT,
                env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                start_new_session=True)
            RUNNING.add(process)
            try:
                self.code = process.wait(max(1.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            RUNNING.discard(process)
            output.seek(0)
            self.log = output.read().decode(errors="replace")
        self.seconds = time.monotonic() - began

    @property
    def tests(self):
        ended = RAN.search(self.log)
        return int(ended[1]) if ended else 0

    @property
    def problem(self):
        """What is wrong with the run, in a sentence, or None."""
        if self.code is None:
            return f"did not end within {MINUTES:g} minutes: a wait somewhere has no bound"
        if self.code < 0:
            return f"crashed with {signal.Signals(-self.code).name}"
        if self.code != 0:
            return "failed"
        return None if self.tests else "ran no test: the filter matches none, or the run broke off"


RUNNING = set()
ENDED = threading.Event()


def kill_running():
    """Ends the processes of all shares. Each is a separate session, which no signal to this process reaches."""
    ENDED.set()
    for process in list(RUNNING):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def end_with_this_process():
    """Has RUNNING end with this process, also if that is interrupted or terminated. Call it from the main thread."""
    atexit.register(kill_running)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def shares(filter, of):
    """The processes to run: all tests dealt out, or those that a filter matches in one."""
    if filter:
        return [Share(filter, ["--filter", filter], of)]
    k, n = map(int, of.split("/")) if of else (1, 1)
    parts = [f"{k + n * number}/{n * PARTS}" for number in range(PARTS)]
    found = [Share(f"{suite}, part {part}", ["--filter", f"{suite}/keeps"], part) for suite in SUITES for part in parts]
    skips = [word for suite in SUITES for word in ("--skip", f"{suite}/keeps")]
    if of:
        return found
    # With another libcurl, the tests that depend on none are left out.
    elsewhere = os.environ.get("LIBCURL")
    others = ["--filter", "URLSessionStackTests"] if elsewhere else ["--skip", "CurlStackTests"]
    return [  # the longest first
        *found,
        Share("all other tests", [*others, *skips]),
        Share("CurlStackTests", ["--filter", "CurlStackTests", "--skip", f"{LONG}|{LEAKS}", *skips]),
        Share("CurlStackTests that take longest", ["--filter", f"{LONG}|{LEAKS}" if elsewhere else LONG])]


def quick_shares():
    """The unit tests, the checks on a transport in memory, and every thirtieth check on both stacks."""
    return [Share("unit tests", ["--filter", "NetworkStackTests"]),
            *(Share(f"{suite}, every 30th check", ["--filter", f"{suite}/keeps"], "1/30") for suite in SUITES)]


def build():
    """Builds, and returns the test program."""
    flags = shlex.split(os.environ.get("BUILD_FLAGS", ""))
    subprocess.run(["swift", "build", "--build-tests", *flags], cwd=ROOT, check=True)
    folder = subprocess.run(["swift", "build", *flags, "--show-bin-path"], cwd=ROOT, check=True, stdout=subprocess.PIPE,
                            text=True).stdout.strip()
    [program] = pathlib.Path(folder).glob("*PackageTests.xctest")
    return str(program)


def take_libcurl():
    """Has the tests load the libcurl of the folder that LIBCURL names."""
    folder = os.environ.get("LIBCURL")
    if not folder:
        return
    if not os.path.exists(f"{folder}/libcurl.so.4"):
        sys.exit(f"There is no libcurl.so.4 in {folder}.")
    os.environ["LD_LIBRARY_PATH"] = ":".join(filter(None, [folder, os.environ.get("LD_LIBRARY_PATH")]))
    version = subprocess.run(["curl", "-V"], stdout=subprocess.PIPE, text=True).stdout
    os.environ["LIBCURL_VERSION"] = re.search(r"libcurl/(\S+)", version)[1]
    print(f"The tests run with libcurl {os.environ['LIBCURL_VERSION']}.")


def run(all_shares, program):
    deadline = time.monotonic() + MINUTES * 60
    waiting, lock = list(all_shares), threading.Lock()

    def work():
        while True:
            with lock:
                if not waiting or ENDED.is_set():
                    return
                share = waiting.pop(0)
            share.run(program, deadline)
            print(f"{share.name}: {share.problem or f'{share.tests} tests passed'} in {share.seconds:.0f} s", flush=True)

    workers = [threading.Thread(target=work, daemon=True) for _ in range(AT_ONCE)]
    for worker in workers:
        worker.start()
    for worker in workers:
        while worker.is_alive():
            worker.join(0.2)


def report(all_shares, quick):
    """Prints how each stack stands, over all shares, and what failed."""
    standing, lines = {}, {}
    for share in all_shares:
        stack = None
        for line in share.log.splitlines():
            if counts := STANDING.match(line):
                stack = counts[1]
                sums = standing.setdefault(stack, [0, 0, 0, 0])
                standing[stack] = [a + int(b) for a, b in zip(sums, counts.groups()[1:])]
            elif stack and re.match(r"  (known issue|not claimed): ", line):
                lines.setdefault(stack, []).append(line)
            else:
                stack = None
    for stack, (kept, broken, known, unclaimed) in sorted(standing.items()):
        print(f"{stack}: {kept} promises kept, {broken} broken, {known} known issues, {unclaimed} not claimed")
        for line in [] if quick else sorted(lines.get(stack, [])):
            print(line)
    for share in all_shares:
        if share.problem:
            print(f"\n{share.name}: {share.problem}", file=sys.stderr)
            print(excerpt(share.log), file=sys.stderr)


def excerpt(log):
    """The failures of a log, each with what follows it; the end of a log that names none."""
    lines = log.splitlines()
    kept = []
    for number, line in enumerate(lines):
        if re.search(r"^✘ .*recorded an issue|error:|Fatal error|terminated with|unexpected signal|WARNING: ThreadSanitizer|ERROR: \w+Sanitizer", line):
            kept += lines[number:number + 5]
    return "\n".join(kept[:150] or lines[-40:])


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true", help="unit tests and a sample of both stacks' checks")
    options.add_argument("--build", action="store_true", help="build, and run nothing")
    arguments = options.parse_args()
    quick = arguments.quick
    take_libcurl()
    program = build()
    if arguments.build:
        return 0
    began = time.monotonic()
    all_shares = quick_shares() if quick else shares(os.environ.get("FILTER"), os.environ.get("SHARE"))
    end_with_this_process()
    try:
        run(all_shares, program)
    except KeyboardInterrupt:
        sys.exit("\nInterrupted.")
    if os.environ.get("FILTER"):
        print(all_shares[0].log)
    report(all_shares, quick)
    failed = [share for share in all_shares if share.problem]
    print(f"Test run with {sum(share.tests for share in all_shares)} tests in {len(all_shares)} processes "
          f"{'failed' if failed else 'passed'} after {time.monotonic() - began:.0f} seconds.")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as failed:
        sys.exit(failed.returncode)
