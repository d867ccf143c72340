#!/usr/bin/env python3
"""Proves what --har and --trace give: archives.py <netfetch>

Archives of successes, redirects, retries and failures are valid HAR 1.2 (har-1.2.schema.json), and haralyzer reads from them what the
server did. Timelines have the same. It needs jsonschema and haralyzer; `.ci/install.sh test` installs them in .build/python.
"""
import datetime
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

import jsonschema
from haralyzer import HarParser

HERE = os.path.dirname(os.path.abspath(__file__))
PAUSE = 0.3
failures = []


def expect(holds, what, seen=""):
    if not holds:
        failures.append(what)
        print(f"archives: {what}: {str(seen)[:1500]}")


class Server:
    """Answers by path, and pauses before each answer to /slow."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.base = "http://127.0.0.1:%d" % self.listener.getsockname()[1]
        self.busy = 1
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection, connection.makefile("rb") as file:
            while (line := file.readline()):
                path, length = line.split()[1].decode(), 0
                while line.strip():
                    name, _, value = line.partition(b":")
                    length = int(value) if name.lower() == b"content-length" else length
                    line = file.readline()
                file.read(length)
                if path.startswith("/silent"):
                    connection.recv(1)  # until the client goes
                    return
                if path.startswith("/cut"):
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
                    return
                time.sleep(PAUSE if path.startswith("/slow") else 0)
                connection.sendall(self.answer(path))

    def answer(self, path):
        if path.startswith("/redirect"):
            return b"HTTP/1.1 302 Found\r\nLocation: /slow?to=there\r\nContent-Length: 0\r\n\r\n"
        if path.startswith("/busy") and self.busy:
            self.busy -= 1
            return b"HTTP/1.1 503 Later\r\nContent-Length: 4\r\n\r\nbusy"
        if path.startswith("/lost"):
            return b"HTTP/1.1 404 Lost\r\nContent-Length: 4\r\nContent-Type: text/plain\r\n\r\nlost"
        return b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Type: text/plain\r\n\r\nhello"


def run(netfetch, folder, *arguments, code=0):
    """The archive of a command line, and what it printed."""
    path = os.path.join(folder, "archive.har")
    command = [netfetch, "-sS", "--trace", "--har", path, *arguments]
    made = subprocess.run(command, capture_output=True, timeout=60, cwd=folder)
    expect(made.returncode == code, f"{arguments} ends with {code}", (made.returncode, made.stderr))
    with open(path, encoding="utf-8") as file:
        har = json.load(file)
    validate(har, arguments)
    return har, made.stderr.decode()


def validate(har, what):
    with open(os.path.join(HERE, "har-1.2.schema.json"), encoding="utf-8") as file:
        schema = json.load(file)
    checker = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER)
    for error in checker.iter_errors(har):
        expect(False, f"the archive of {what} is valid HAR 1.2", f"{error.json_path}: {error.message}")


def entries(har, count, what):
    """What haralyzer reads of an archive: its entries, whose times have to agree."""
    parser = HarParser(har)
    expect((parser.version, parser.creator["name"]) == ("1.2", "NetworkStack"), f"{what} names its creator", parser.creator)
    expect([page.page_id for page in parser.pages] == (["unknown"] if count else []), f"{what} has no pages", parser.pages)
    found = parser.pages[0].entries if parser.pages else []
    expect(len(found) == count, f"{what} has {count} entries", [entry.url for entry in found])
    now = datetime.datetime.now(datetime.timezone.utc)
    for before, entry in zip([None, *found], found):
        parts = {name: value for name, value in entry.timings.items() if value != -1}
        total = sum(value for name, value in parts.items() if name != "ssl")
        expect(abs(total - entry.time) < 0.01, f"the timings of {what} sum up to its time", (entry.timings, entry.time))
        expect(parts.get("ssl", 0) <= parts.get("connect", 0), f"{what} counts TLS to connecting", entry.timings)
        expect(now - entry.startTime < datetime.timedelta(minutes=2) and entry.startTime <= now, f"{what} began just now", entry.startTime)
        if before:
            expect(before.startTime <= entry.startTime, f"the entries of {what} are in order", (before.startTime, entry.startTime))
    return found


def seen(found):
    return [(entry.request.method, entry.response.status) for entry in found]


def prove_successes(netfetch, folder, server):
    har, trace = run(netfetch, folder, "-o", "out", server.base + "/slow?a=b#c")
    [entry] = entries(har, 1, "a success")
    expect(seen([entry]) == [("GET", 200)] and entry.request.url == server.base + "/slow?%E2%80%A6", "a success is as it was", entry.request.url)
    expect(entry.timings["wait"] >= PAUSE * 1000 - 10, "the server's pause is a wait", entry.timings)
    expect((entry.response["content"]["mimeType"], entry.response.bodySize, entry.serverAddress) == ("text/plain", 5, "127.0.0.1"), "its facts are right", har)
    expect("GET " + server.base + "/slow?…, 200 after " in trace and "<- slowest" in trace, "the timeline has it", trace)
    expect([line for line in trace.splitlines() if "slowest" in line][0].split()[0] == "server", "the timeline names the server", trace)

    har, _ = run(netfetch, folder, "-d", "a=secret", "-o", "out", server.base + "/there")
    [entry] = entries(har, 1, "a POST")
    expect(seen([entry]) == [("POST", 200)] and entry.request.bodySize == 8, "a POST has its length", har)

    har, trace = run(netfetch, folder, "-o", "out", server.base + "/redirect")
    found = entries(har, 2, "a redirect")
    expect(seen(found) == [("GET", 302), ("GET", 200)] and found[1].timings["wait"] >= PAUSE * 1000 - 10, "a redirect is an entry", har)
    expect(f"earlier, attempt 1: GET {server.base}/redirect, 302" in trace, "the timeline has the redirect", trace)

    har, trace = run(netfetch, folder, "--retry", "1", "--retry-delay", "0.2", "-o", "out", server.base + "/busy")
    found = entries(har, 2, "a retry")
    expect(seen(found) == [("GET", 503), ("GET", 200)] and found[1].get("comment") == "attempt 2", "an attempt is an entry", har)

    har, trace = run(netfetch, folder, "-o", "out", "-o", "out2", server.base + "/there", server.base + "/lost")
    found = entries(har, 2, "two fetches")
    expect(seen(found) == [("GET", 200), ("GET", 404)], "every fetch is in the archive", har)
    # URLSession reports no steps of a connection.
    har, trace = run(netfetch, folder, "--stack", "urlsession", "-o", "out", server.base + "/slow")
    [entry] = entries(har, 1, "a success of URLSession")
    expect(seen([entry]) == [("GET", 200)] and entry.time >= PAUSE * 1000 - 10, "it is as it was", har)


def prove_failures(netfetch, folder, server):
    for stack in ["curl", "urlsession"]:
        cases = [
            ("a refused connection", 7, ["http://127.0.0.1:1/"], 0, 0),
            ("a timeout", 28, ["-m", "0.4", server.base + "/silent"], 400, 0),
            ("a body that is cut", 18, [server.base + "/cut"], 0, 0),
            ("a status with -f", 22, ["-f", server.base + "/lost"], 0, 404),
        ]
        for what, code, arguments, least, status in cases:
            what = f"{what} over {stack}"
            har, trace = run(netfetch, folder, "--stack", stack, "-o", "out", *arguments, code=code)
            [entry] = entries(har, 1, what) or [None]
            if entry is None:
                continue
            expect(entry.response.status == status, f"{what} has the status {status}", har)
            expect(bool(entry.response.get("_error")) == (code != 22), f"{what} has its reason", har)
            expect(entry.time >= least - 1 and entry.time > 0, f"{what} has its time", har)
            expect(f"GET {arguments[-1]}, " in trace and " ms" in trace, f"the timeline has {what}", trace)


def prove_http2(netfetch, folder):
    if not shutil.which("nghttpd"):
        return expect(False, "nghttpd is installed")
    with open(os.path.join(folder, "file.txt"), "w", encoding="utf-8") as file:
        file.write("hello\n")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with subprocess.Popen(["nghttpd", "--no-tls", "-a", "127.0.0.1", "-d", folder, str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            for _ in range(500):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.02)
            url = f"http://127.0.0.1:{port}/file.txt"
            har, trace = run(netfetch, folder, "--http2-prior-knowledge", "-o", "out", "-o", "out2", url, url)
            found = entries(har, 2, "HTTP/2")
            expect([entry.response.httpVersion for entry in found] == ["HTTP/2"] * 2, "HTTP/2 is named", har)
            expect(len({entry.get("connection") for entry in found}) == 1, "both use one connection", har)
            expect("reused; HTTP/2, 200" in trace, "the timeline has it", trace)
        finally:
            server.terminate()


def prove_files(netfetch, folder, server):
    """The file is made before anything is sent; a fetch that did not begin is not in it."""
    made = subprocess.run([netfetch, "-s", "--har", os.path.join(folder, "no", "where"), server.base + "/there"], capture_output=True, timeout=60)
    expect(made.returncode == 23 and not made.stdout, "an archive that cannot be written fails before a request", (made.returncode, made.stdout))
    har, _ = run(netfetch, folder, "http://a b/", code=3)
    entries(har, 0, "a fetch that did not begin")
    made = subprocess.run([netfetch, "-s", "-o", "out", "--har", "-", server.base + "/there"], capture_output=True, timeout=60, cwd=folder)
    validate(json.loads(made.stdout), "standard output")
    made = subprocess.run([netfetch, "--trace", "-", server.base + "/there"], capture_output=True, text=True, timeout=60)
    expect(made.returncode == 2 and "--trace takes no file" in made.stderr, "--trace with a file is refused", made.stderr)
    line = json.dumps({"id": 1, "url": server.base + "/there"})
    path = os.path.join(folder, "batch.har")
    made = subprocess.run([netfetch, "--batch", "--har", path], input=line, capture_output=True, text=True, timeout=60)
    with open(path, encoding="utf-8") as file:
        expect(made.returncode == 0 and seen(entries(json.load(file), 1, "a batch")) == [("GET", 200)], "a batch has an archive", made)


def main():
    netfetch = os.path.abspath(sys.argv[1])
    server = Server()
    with tempfile.TemporaryDirectory() as folder:
        prove_successes(netfetch, folder, server)
        prove_failures(netfetch, folder, server)
        prove_http2(netfetch, folder)
        prove_files(netfetch, folder, server)
    print("Archives and timelines are as they must be" if not failures else f"{len(failures)} promises are broken")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
