#!/usr/bin/env python3
"""Counts the source files of this package that one plain async fetch on CurlStack crosses, and lists them.

A program with coverage counters runs without a fetch and with one, an HTTP/1.1 GET of a short body in cleartext, several times
each. A file counts if code in it ran more often with the fetch than without, in every run. So files that only the making and the
shutdown of a stack need do not count. The list follows .ci/layers.txt, upper folders first, CurlStack before NetworkStack.

usage: walk.py [--runs N]
"""
import argparse
import collections
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The most files of each module that a fetch may cross. Lower them with each file that a fetch no longer needs.
LIMITS = {"CurlStack": 32, "NetworkStack": 54}
BUILD = ["swift", "build", "--disable-build-manifest-caching", "--package-path", "Tests/Consumer", "--scratch-path",
         ".build/walk", "--product", "OneFetch", "-Xswiftc", "-profile-generate", "-Xswiftc", "-profile-coverage-mapping"]
# The toolchain's own: others do not read its profiles.
TOOLS = pathlib.Path(shutil.which("swift") or "swift").resolve().parent


class Answer(http.server.BaseHTTPRequestHandler):
    """Answers every GET with a short body, and keeps the connection."""
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass


def program():
    subprocess.run([*BUILD, "-q"], cwd=ROOT, check=True)
    folder = subprocess.run([*BUILD, "--show-bin-path"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    return pathlib.Path(folder.strip()) / "OneFetch"


def counts(program, folder, *arguments):
    """How often each place in each source file ran: {file: {place: count}}."""
    raw, data = f"{folder}/raw", f"{folder}/data"
    subprocess.run([program, *arguments], env=dict(os.environ, LLVM_PROFILE_FILE=raw), check=True, timeout=60,
                   stdout=subprocess.DEVNULL)
    subprocess.run([TOOLS / "llvm-profdata", "merge", raw, "-o", data], check=True)
    export = subprocess.run([TOOLS / "llvm-cov", "export", "-skip-expansions", f"-instr-profile={data}", program], check=True,
                            stdout=subprocess.PIPE)
    found = {}
    for file in json.loads(export.stdout)["data"][0]["files"]:
        path = pathlib.Path(file["filename"])
        if path.is_relative_to(ROOT / "Sources"):
            found[path.relative_to(ROOT / "Sources")] = {tuple(segment[:2]): segment[2] for segment in file["segments"]}
    return found


def crossed(without, with_fetch):
    return {file for file, places in with_fetch.items()
            if any(count > without.get(file, {}).get(place, 0) for place, count in places.items())}


def layers():
    """The folders of each module, upper first."""
    found, module = collections.defaultdict(list), None
    for line in (ROOT / ".ci/layers.txt").read_text().splitlines():
        if line.startswith(" "):
            found[module].insert(0, line.strip())
        elif line and not line.startswith("#"):
            module = line.strip()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3, help="how often the program runs with a fetch and without (3)")
    runs = parser.parse_args().runs
    fetcher = program()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        files = set.intersection(*(
            crossed(counts(fetcher, folder), counts(fetcher, folder, f"http://127.0.0.1:{server.server_port}/"))
            for _ in range(runs)))
    order = layers()

    def place(file):
        module, inner = file.parts[0], str(pathlib.Path(*file.parts[1:]).parent)
        return (module != "CurlStack", order[module].index(inner), file.name)

    for file in sorted(files, key=place):
        print(file)
    crossed_in = collections.Counter(file.parts[0] for file in files)
    for module, limit in LIMITS.items():
        print(f"One fetch crosses {crossed_in[module]} files of {module}; {limit} are allowed.")
    if any(crossed_in[module] > limit for module, limit in LIMITS.items()):
        sys.exit("One fetch crosses more files than before.")


if __name__ == "__main__":
    main()
