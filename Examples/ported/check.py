#!/usr/bin/env python3
"""Checks the two programs that were moved to this library: check.py [<folder with the built programs>]

originals/ has them as they were, for URLSession and for AsyncHTTPClient; ../Sources/mirror-* has them moved. This script
  1. counts the lines that moving changed: the added and the removed lines of a unified diff, and of these two the larger
     number, because a changed line is one removed and one added. More than the limit fails. The guides must have the same count;
  2. with a folder, runs both programs with all their options against server.py, and compares exit code, output and files with
     what the originals do.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCES = HERE.parent / "Sources"
GUIDES = HERE.parent.parent / "Sources/NetworkStack/NetworkStack.docc"
# The original, the target, the most changed lines, and the guide that has their number.
PROGRAMS = [
    ("urlsession", "mirror-urlsession", 12, "ComingFromURLSession.md"),
    ("asynchttpclient", "mirror-asynchttpclient", 45, "ComingFromAsyncHTTPClient.md"),
]
DIFF = ["git", "diff", "--no-index", "--no-ext-diff", "--no-renames", "--no-color", "--diff-algorithm=myers", "--numstat"]
# How often a program is cancelled. A race that ends the process does not show every time.
CANCELS = 20
PACKAGES = {f"p{number}": bytes([65 + number]) * (1000 * (number + 1)) for number in range(7) if number != 5}
LOG = 'log: ["line 0", "line 1"]'
MIRRORED = f'mirrored [{", ".join(f"{chr(34)}{name}{chr(34)}" for name in PACKAGES)}], failed ["p5"]'


def main():
    for original, target, limit, guide in PROGRAMS:
        count(original, target, limit, guide)
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
        server = subprocess.Popen([sys.executable, HERE / "server.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            url = f"http://127.0.0.1:{int(server.stdout.readline())}"
            run_urlsession(folder / "mirror-urlsession", url)
            run_asynchttpclient(folder / "mirror-asynchttpclient", url)
            print(f"Both ran with all their options, {CANCELS} times with a cancel: exit codes, output and files are right.")
        finally:
            server.stdin.close()
            server.wait(10)


def count(original, target, limit, guide):
    """Counts the changed lines of one program. A file that only one side has counts whole."""
    before = {path.name.removesuffix(".txt"): path for path in (HERE / "originals" / original).iterdir()}
    after = {path.name: path for path in (SOURCES / target).iterdir()}
    added = removed = total = 0
    for name in sorted(before.keys() | after.keys()):
        done = subprocess.run(DIFF + [before.get(name, os.devnull), after.get(name, os.devnull)], capture_output=True, text=True)
        if done.returncode not in (0, 1):
            sys.exit(done.stderr)
        for line in done.stdout.splitlines():
            added += int(line.split()[0])
            removed += int(line.split()[1])
        total += len(before[name].read_text().splitlines()) if name in before else 0
    changed = max(added, removed)
    print(f"{target}: {changed} of {total} lines changed (+{added}, -{removed}); the limit is {limit}")
    if changed > limit:
        sys.exit(f"Moving {original} changes more than {limit} lines.")
    if f"{changed} of its {total} lines" not in " ".join((GUIDES / guide).read_text().split()):
        sys.exit(f"{guide} should have '{changed} of its {total} lines'.")


def run_urlsession(program, url):
    usage = ["usage: mirror URL [--cancel]"]
    expect(program, [], usage)
    expect(program, ["", "--cancel"], usage)
    lines = ['p5: status(404, "p5")', MIRRORED, "upload answered 200", LOG, "nothing listens at 127.0.0.1"]
    expect(program, [url], lines, PACKAGES)
    for _ in range(CANCELS):
        expect(program, [url, "--cancel"], lines + ["cancelled: true"], PACKAGES)


def run_asynchttpclient(program, url):
    usage = ["usage: mirror URL"]
    expect(program, [], usage)
    expect(program, [url, "more"], usage)
    expect(program, ["http://127.0.0.1:9"], ['failed: unreachable("http://127.0.0.1:9")'])
    # This one always cancels.
    lines = ['p5: status(404, "no such file")', MIRRORED, LOG, "nothing listens at http://127.0.0.1:9"]
    for _ in range(CANCELS):
        expect(program, [url], lines + ["cancelled: The fetch was cancelled."], PACKAGES)


def expect(program, arguments, lines, files=None):
    """Runs a program, and compares its output and the files that it has mirrored."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([program, *arguments], env={**os.environ, "TMPDIR": folder}, capture_output=True, text=True, timeout=60)
        found = {path.name: path.read_bytes() for path in Path(folder).glob("mirror-*/*")}
    called = " ".join([program.name, *(re.sub(r"\d+$", "PORT", argument) for argument in arguments)])
    if done.returncode != 0:
        sys.exit(f"{called}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    if done.stdout.splitlines() != lines:
        sys.exit(f"{called} printed\n{done.stdout}instead of\n" + "\n".join(lines))
    if found != (files or {}):
        sys.exit(f"{called} mirrored {sorted(found)}, or not with their content, instead of {sorted(files or {})}")


if __name__ == "__main__":
    main()
