#!/usr/bin/env python3
"""Proves what netfetch --help promises of wrong command lines and of --batch: contract.py <netfetch>

A wrong command line ends with the exit code that the help text lists, prints why in a line, and sends nothing. A
batch prints one line for every line, as soon as it ends, whatever the line and the server do.
"""
import base64
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

MEMBERS = ["id", "status", "headers", "body_len", "body_sha256", "error", "detail", "http", "url", "ms"]
failures = []


def expect(holds, what, seen=""):
    if not holds:
        failures.append(what)
        print(f"contract: {what}: {str(seen)[:600]}")


def eventually(holds):
    for _ in range(2000):
        if holds():
            return True
        time.sleep(0.01)
    return False


class Server:
    """Serves every request with a function that gets the connection."""

    def __init__(self, act):
        self.act, self.accepted, self.lock = act, 0, threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.url = "http://127.0.0.1:%d/" % self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            with self.lock:
                self.accepted += 1
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection, connection.makefile("rb") as file:
            connection.settimeout(30)
            try:
                while (line := file.readline()):
                    length = 0
                    while line.strip():
                        name, _, value = line.partition(b":")
                        length = int(value) if name.lower() == b"content-length" else length
                        line = file.readline()
                    file.read(length)
                    if not self.act(connection):
                        return
            except OSError:
                pass


def good(connection):
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    return True


def silent(connection):
    connection.recv(1)  # until the client goes


# Command lines.

def wrong_lines(url):
    """(exit code, a word of the message, arguments...)"""
    hash_ = "A" * 43 + "="
    return [
        (2, "no URL"), (2, "unknown", "--nope", url), (2, "did you mean --location?", "--loctaion", url), (2, "ambiguous: --request,", "--re", url), (2, "needs a value", "-m"), (2, "invalid", "-m", "x", url),
        (2, "negative", "-m", "-1", url), (2, "negative", "--connect-timeout", "-1", url), (2, "invalid", "--max-filesize", "-1", url), (2, "no flag", "--no-data", url), (2, "takes no value", "--silent=1", url),
        (2, "negative", "--retry", "-1", url), (2, "invalid", "--retry", "x", url), (2, "at least 0", "--max-redirs", "-5", url),
        (2, "choose one", "--http1.1", "--http2", url), (2, "choose one", "--http1.1", "--http2-prior-knowledge", url),
        (2, "choose one", "-d", "a=b", "-F", "c=d", url), (2, "choose one", "-T", "file", "-d", "a=b", url), (2, "choose one", "-T", "file", "-F", "a=b", url),
        (2, "choose one", "--unix-socket", "/a", "--abstract-unix-socket", "b", url), (2, "--cert", "--key", "file", url),
        (2, "--pin", "--pin-leaf", url), (2, "--pin", "--pin-include-subdomains", url), (2, "--pin", "--report-only", url),
        (2, "curl", "--stack", "other", url), (2, "at least 1", "--parallel-max", "0", url), (2, "at least 1", "--parallel", "0", url), (2, "choose one", "-r", "1-", "-C", "1", url), (2, "choose one", "-4", "-6", url), (2, "choose one", "-I", "-d", "a=b", url), (2, "at least 1", "--repeat", "0", url),
        (2, "standard input", "--batch", url), (2, "lines", "--batch", "-d", "x"), (2, "lines", "--batch", "-r", "1-"), (26, "leads to itself", "-K", "loop", url), (2, "takes no value", "-K", "wrong", url), (2, "DOMAIN=HASH", "--pin", "nonsense", url),
        (3, "host", "http://"), (1, "scheme", "ftp://x/"), (1, "scheme", "file:///etc/passwd"), (3, "blank", "http://a b/"), (3, "URL", "ht!tp://x"),
        (3, "port", "http://localhost:99999/"), (3, "port", "http://localhost:0/"), (23, "-o", "-O", url),
        (2, "token", "-X", "B AD", url), (2, "token", "-X", "", url), (2, "no colon", "-H", "nocolon", url), (2, "no name", "-H", ": x", url),
        (2, "control character", "-H", "A: b\r\nC: d", url), (2, "Host", "-H", "Host:", url), (2, "Content-Length", "-d", "x", "-H", "Content-Length:", url),
        (2, "name=value", "-F", "nofield", url), (2, "media type", "-F", "a=@file;type=nonsense", url),
        (49, "host:port:address", "--resolve", "nonsense", url), (2, "HOST1", "--connect-to", "x", url),
        (2, "107 bytes", "--unix-socket", "x" * 200, url), (2, "107 bytes", "--unix-socket", "", url), (77, "cannot be read", "--cacert", "nofile", url),
        (77, "PEM", "--cacert", "file", url), (58, "cannot be read", "--cert", "nofile", url), (58, "PEM", "--cert", "file", url),
        (4, "URLSession", "--stack", "urlsession", "--unix-socket", "/x", url),
        (6, "nowhere.invalid", "http://nowhere.invalid/"), (7, "onnect", "--unix-socket", "/nowhere", url), (7, "onnect", "http://127.0.0.1:1/"),
        (23, "/nowhere/x", "-o", "/nowhere/x", url), (23, "directory", "-o", ".", url), (23, "/nowhere/x", "-D", "/nowhere/x", url),
        (26, "nofile", "-d", "@nofile", url), (26, "nofile", "--data-binary", "@nofile", url), (26, "nofile", "-F", "a=@nofile", url),
        (26, "nofile", "-T", "nofile", url), (26, "directory", "-T", ".", url), (26, "nofile", "-H", "@nofile", url), (26, "nofile", "--pinning", "nofile", url),
        (90, "base64", "--pin", "a=b", url), (90, "domain", "--pin", "=" + hash_, url), (90, "JSON", "--pinning", "file", url),
        (7, "scheme", "-x", "nonsense://h", url), (5, "port", "-x", "http://127.0.0.1:99999", url), (2, "10.0.0.0/99", "--noproxy", "10.0.0.0/99", "-x", "http://127.0.0.1:1", url),
    ]


def prove_lines(netfetch, folder):
    server = Server(good)
    with open(os.path.join(folder, "file"), "w", encoding="utf-8") as file:
        file.write("hello\n")
    for name, content in [("loop", "config = loop\n"), ("wrong", "silent = 1\n")]:
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(content)
    lines = wrong_lines(server.url)
    for code, word, *arguments in lines:
        run = subprocess.run([netfetch, *arguments], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30)
        printed = run.stderr.strip()
        holds = run.returncode == code and printed.startswith("netfetch: ") and word in printed and not run.stdout
        expect(holds, f"'{' '.join(arguments)[:80]}' ends with {code} and prints '{word}'", (run.returncode, printed, run.stdout))
    # Three of them fail while they write; what cannot be known before is sent.
    expect(server.accepted <= 3, "nothing is sent for a command line that makes no sense", server.accepted)
    return len(lines)


def prove_names(netfetch, folder):
    """What -O writes lies where it is called, under the name that the URL has: escapes are part of that, as they are of curl's."""
    url = Server(good).url
    inner = os.path.join(folder, "inner")
    os.mkdir(inner)
    names = ["plain", "%2e%2e%2Fabove", "..%2Fbelow", (os.path.join(folder, "anywhere")).replace("/", "%2F"), "a%0Ab"]
    for name in names:
        run = subprocess.run([netfetch, "-s", "-O", url + "path/" + name + "?query"], cwd=inner, capture_output=True, text=True, timeout=30)
        expect(run.returncode == 0, f"-O writes {name}", (run.returncode, run.stderr))
    expect(sorted(os.listdir(inner)) == sorted(names), "-O writes files of these names", os.listdir(inner))
    expect(os.listdir(folder) == ["inner"], "-O writes no file elsewhere", os.listdir(folder))


def prove_clocks(netfetch, folder):
    """What lasts: a speed, a delay, and several fetches at once. Only lower bounds are of time."""
    def long(connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n" + b"x" * 300_000)
        return True
    with open(os.path.join(folder, "long"), "wb") as file:
        file.write(b"x" * 300_000)
    for arguments in [[Server(long).url], ["-T", "long", Server(good).url]]:
        began = time.monotonic()
        run = subprocess.run([netfetch, "-s", "--limit-rate", "200k", *arguments], cwd=folder, capture_output=True, timeout=60)
        expect(run.returncode == 0 and time.monotonic() - began >= 1.4, f"--limit-rate slows {arguments[0]}", (run.returncode, time.monotonic() - began))

    def later(connection):
        connection.sendall(b"HTTP/1.1 503 Later\r\nContent-Length: 0\r\n\r\n")
        return True
    server, began = Server(later), time.monotonic()
    run = subprocess.run([netfetch, "-s", "--retry", "2", "--retry-delay", "0.5", server.url], capture_output=True, timeout=60)
    expect(run.returncode == 0 and time.monotonic() - began >= 1, "--retry-delay waits before each retry", time.monotonic() - began)
    for arguments, width in [(["-Z"], 20), (["--parallel", "--parallel-max", "5"], 5), (["--parallel", "4"], 4), (["-Z", "--parallel-max=3"], 3)]:
        barrier = threading.Barrier(width)

        def together(connection):
            barrier.wait(20)
            return good(connection)
        crowd = Server(together)
        run = subprocess.run([netfetch, "-s", *arguments, *[crowd.url] * width], capture_output=True, timeout=60)
        expect(run.returncode == 0 and run.stdout == b"ok" * width, f"{arguments} fetches {width} at once", (run.returncode, run.stdout))


# Batches.

def batch(netfetch, data, *arguments):
    run = subprocess.run([netfetch, "--batch", *arguments], input=data, capture_output=True, timeout=60)
    return run.returncode, [json.loads(line) for line in run.stdout.decode().splitlines()]


def line(number, url, **members):
    return json.dumps({"id": number, "url": url, **members}).encode() + b"\n"


def prove_batch(netfetch):
    server = Server(good)
    nonsense = [b"not json", b"[]", b"null", b'"x"', b"\xff\xfe\x00", b"[" * 100_000, b'{"id":1', b'{"id":1e400,"url":"x"}', b'{"id":"\\ud800"}']
    wrong = [
        ("url", {"url": None}), ("url", {"url": 5}), ("url", {"url": ""}), ("url", {"url": "ftp://x/"}), ("url", {"url": "http://"}), ("url", {"url": "a b"}),
        ("other", {"headers": "x"}), ("other", {"headers": [1]}), ("refused", {"headers": ["nocolon"]}), ("refused", {"headers": ["A: b\r\nC: d"]}),
        ("other", {"body_b64": "!"}), ("other", {"timeout": "x"}), ("refused", {"timeout": -1}), ("refused", {"follow": -1}), ("other", {"http2": "yes"}),
        ("pin", {"pin": "nonsense"}), ("proxy", {"proxy": "nonsense://x"}), ("refused", {"user": "nocolon"}), ("refused", {"cacert": "/nowhere"}), ("refused", {"method": "B AD"}),
    ]
    lines = [text + b"\n" for text in nonsense] + [line(number, **{"url": server.url, **members}) for number, (_, members) in enumerate(wrong)]
    code, answers = batch(netfetch, b"".join(lines) + line({"any": ["value", None]}, server.url, unknown=1))
    expect(code == 0 and len(answers) == len(lines) + 1, "every line has one result, and the batch goes on", (code, len(answers)))
    expect(all([name for name in answer if name != "ignored"] == MEMBERS for answer in answers), "a result has the members that are promised", answers)
    expect(sum(answer["id"] is None and answer["error"] == "other" for answer in answers) == len(nonsense), "the result of a line that is no object is 'other'", answers)
    made = {answer["id"]: answer for answer in answers if isinstance(answer["id"], int)}
    for number, (error, members) in enumerate(wrong):
        expect(number in made and made[number]["error"] == error and made[number]["detail"], f"{members} has the error '{error}'", made.get(number))
    last = [answer for answer in answers if isinstance(answer["id"], dict)]
    expect(last and last[0]["id"] == {"any": ["value", None]} and last[0]["status"] == 200 and last[0]["ignored"] == ["unknown"], "an id comes back as it was, and keys without effect are listed", last)

    for text, count in [(b"", 0), (b"\n\r\n  \n", 0), (line(1, server.url).rstrip(b"\n"), 1), (line(1, server.url).replace(b"\n", b"\r\n"), 1)]:
        code, answers = batch(netfetch, text)
        expect(code == 0 and len(answers) == count and all(answer["error"] is None for answer in answers), f"{text[:20]} has {count} results", answers)
    code, answers = batch(netfetch, b"x" * (65 << 20) + b"\n" + line(1, server.url, body_b64=base64.b64encode(b"x" * (10 << 20)).decode()))
    expect(code == 0 and [(a["id"], a["error"]) for a in answers] == [(None, "other"), (1, None)], "a line beyond the limit does not end the batch, a long one is a line", answers)

    barrier = threading.Barrier(500)
    ids = [9223372036854775807, 18446744073709551615, -9223372036854775808]
    code, answers = batch(netfetch, b"".join(line(id, server.url) for id in ids))
    expect(sorted(a["id"] for a in answers) == sorted(ids), "an id comes back as it is", answers)

    def together(connection):
        barrier.wait(20)
        return good(connection)
    crowd = Server(together)
    code, answers = batch(netfetch, b"".join(line(number, crowd.url) for number in range(500)))
    expect(code == 0 and sorted(a["id"] for a in answers) == list(range(500)) and all(a["error"] is None for a in answers), "500 are under way at once", len(answers))

    def dies(connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\nA: b\r\n\r\nhalf")
    code, answers = batch(netfetch, line(1, Server(dies).url) + line(2, server.url))
    dead = [a for a in answers if a["id"] == 1]
    seen = dead and (dead[0]["error"], dead[0]["status"], dead[0]["body_len"], dead[0]["headers"])
    expect(code == 0 and len(answers) == 2 and seen == ("truncated", 200, 4, [["Content-Length", "100"], ["A", "b"]]), "with an error the result has what came before it", answers)


def started(netfetch):
    return subprocess.Popen([netfetch, "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def prove_ends(netfetch):
    server = Server(good)
    with started(netfetch) as run:
        run.stdin.write(line(1, server.url))
        run.stdin.flush()
        expect(json.loads(run.stdout.readline())["status"] == 200, "a result does not wait for the end of the input")
        run.stdin.close()
        expect(run.wait(20) == 0, "the end of the input ends the batch", run.returncode)
    quiet = Server(silent)
    with started(netfetch) as run:
        run.stdin.write(line(1, quiet.url))
        run.stdin.flush()
        expect(eventually(lambda: quiet.accepted), "a request of the batch is sent", run.poll())
        run.send_signal(signal.SIGINT)
        expect(run.wait(20) == -signal.SIGINT, "an interrupt ends it", run.returncode)
    with started(netfetch) as run:
        run.stdout.close()
        try:
            run.stdin.write(b"".join(line(number, server.url) for number in range(2000)))
            run.stdin.close()
        except BrokenPipeError:
            run.stdin.raw.close()
        expect(run.wait(20) == 23, "a reader that goes away ends it with 23", run.returncode)


def prove_streams(netfetch):
    """Standard streams that are closed, or cannot be read, are not replaced by others, and are no end of the input."""
    def eight(connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n12345678")
        return True
    url = Server(eight).url
    for arguments in ["", "--stack urlsession", "--summary"]:
        run = subprocess.run(["bash", "-c", f'exec "$0" {arguments} "$1" >&- <&-', netfetch, url], capture_output=True, text=True, timeout=30)
        expect(run.returncode == 23 and "Bad file descriptor" in run.stderr, f"a closed standard output ends {arguments} with 23", (run.returncode, run.stderr))
    for streams, word in [("</", "Is a directory"), ("<&-", "Bad file descriptor")]:
        run = subprocess.run(["bash", "-c", f'exec "$0" --batch {streams}', netfetch], capture_output=True, text=True, timeout=30)
        expect(run.returncode == 26 and word in run.stderr, f"a batch whose input cannot be read ({streams}) ends with 26", (run.returncode, run.stderr))
        run = subprocess.run(["bash", "-c", f'exec "$0" -T - "$1" {streams}', netfetch, url], capture_output=True, text=True, timeout=30)
        expect(run.returncode == 26 and word in run.stderr, f"an upload whose input cannot be read ({streams}) prints why", (run.returncode, run.stderr))


def main():
    # In the background, interrupts may be ignored, and netfetch would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    netfetch = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        count = prove_lines(netfetch, folder)
    with tempfile.TemporaryDirectory() as folder:
        prove_names(netfetch, folder)
    with tempfile.TemporaryDirectory() as folder:
        prove_clocks(netfetch, folder)
    prove_batch(netfetch)
    prove_ends(netfetch)
    prove_streams(netfetch)
    print(f"{count} wrong command lines and the batches are as the help text says" if not failures else f"{len(failures)} promises are broken")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
