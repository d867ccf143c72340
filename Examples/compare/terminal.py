#!/usr/bin/env python3
"""Proves what netfetch shows on a terminal, and what -v shows: terminal.py <netfetch>

A terminal of a few columns is made for it; the lines of the progress bar must fit. A server notes the bytes of each request,
and -v must show that head, on both stacks.
"""
import base64
import fcntl
import hashlib
import os
import pty
import re
import select
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

import codes

failures = []


def expect(holds, what, seen=""):
    if not holds:
        failures.append(what)
        print(f"terminal: {what}: {str(seen)[:900]}")


class Server:
    """Answers every connection's first request, and notes it. The path chooses the response."""

    def __init__(self):
        self.heads = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection:
            connection.settimeout(30)
            data = b""
            while b"\r\n\r\n" not in data:
                data += connection.recv(65536)
            head, _, body = data.partition(b"\r\n\r\n")
            self.heads.append(head.decode("latin-1"))
            length = re.search(rb"content-length: (\d+)", head.lower())
            count = len(body)
            while count < int(length[1] if length else 0):
                count += len(connection.recv(65536))
            while b"chunked" in head.lower() and not body.endswith(b"0\r\n\r\n"):
                body += connection.recv(65536)
            body = b"a\0b\n" if b"/binary" in head else b"x" * 3_000_000 if b"/long" in head else b"text\n"
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(body))
            for start in range(0, len(body), 500_000):
                connection.sendall(body[start:start + 500_000])
                time.sleep(0.05 if len(body) > 1000 else 0)


def on_terminal(command, columns, environment=None, answer=None, output=None):
    """Runs a command with a terminal of so many columns. Returns what it wrote there, and the exit code."""
    process, terminal = pty.fork()
    if process == 0:
        if output:
            os.dup2(os.open(output, os.O_WRONLY | os.O_CREAT), 1)
        time.sleep(0.1)
        os.execvpe(command[0], command, {**os.environ, **(environment or {})})
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    written, ends = b"", time.monotonic() + 60
    while time.monotonic() < ends:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            chunk = os.read(terminal, 65536)
        except OSError:
            break
        if not chunk:
            break
        written += chunk
        if answer and b"password" in written:
            os.write(terminal, answer)
            answer = None
    return written.decode("utf-8", "replace"), os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def bars(written):
    return [re.sub(r"\x1b\[K|\n", "", line) for line in written.split("\r") if "#" in line or "B/s" in line]


def prove_bars(netfetch, server, folder):
    file = os.path.join(folder, "body")
    for columns in [20, 40, 80, 200]:
        written, code = on_terminal([netfetch, "-o", file, server.url + "long"], columns, {"COLUMNS": ""})
        lines = bars(written)
        expect(code == 0 and lines and max(map(len, lines)) < columns, f"the bar fits {columns} columns", (code, lines))
        expect(lines and ("100.0%" in lines[-1]), f"the bar of {columns} columns ends with all of the body", lines)
    written, code = on_terminal([netfetch, "-o", file, server.url + "long"], 200, {"COLUMNS": "50"})
    expect(max(map(len, bars(written))) < 50, "COLUMNS comes before the terminal's own width", bars(written))
    with open(file, "rb") as body:
        expect(len(body.read()) == 3_000_000, "the body is in the file")
    written, code = on_terminal([netfetch, "--limit-rate", "5M", "-o", os.path.join(folder, "answer"), "-T", file, server.url], 80, {"COLUMNS": ""})
    lines = [line for line in bars(written) if "sent" in line]
    expect(code == 0 and len(lines) > 2 and "100.0%" in lines[-1] and max(map(len, lines)) < 80, "an upload shows its progress", (code, lines))
    run = subprocess.run([netfetch, "-o", file, server.url + "long"], capture_output=True, text=True)
    expect(run.stderr == "", "no bar is drawn without a terminal", run.stderr)
    run = subprocess.run([netfetch, "-#", "-o", file, server.url + "long"], capture_output=True, text=True)
    expect("100.0%" in run.stderr, "-# draws it all the same", run.stderr)
    for option in ["-s", "--no-progress-meter"]:
        written, code = on_terminal([netfetch, option, "-o", file, server.url + "long"], 80)
        expect(code == 0 and not written, f"{option} draws no bar", written)


def prove_binary(netfetch, server, folder):
    written, code = on_terminal([netfetch, server.url + "binary"], 80)
    theirs, their_code = on_terminal(["curl", "-q", "--noproxy", "*", server.url + "binary"], 80)
    expect(code == their_code == 23, "a binary body to a terminal ends with 23, as with curl", (code, their_code, written))
    warning = [line for line in theirs.splitlines() if line.startswith("Warning")]
    words = " ".join(line.partition(":")[2].strip() for line in warning).replace("curl", "netfetch")
    ours = " ".join(line.partition(":")[2].strip() for line in written.splitlines() if line.startswith("Warning"))
    expect(ours == words and words, "the warning is curl's", (ours, words))
    for arguments in [["-o", "-", server.url + "binary"], ["-so-", server.url + "binary"]]:
        written, code = on_terminal([netfetch, *arguments], 80)
        expect(code == 0 and "a\0b" in written, "-o - writes it all the same", (code, written))
    written, code = on_terminal([netfetch, server.url], 80)
    expect(code == 0 and written == "text\r\n", "text goes to a terminal, and no bar with it", (code, written))
    run = subprocess.run([netfetch, server.url + "binary"], capture_output=True)
    expect(run.returncode == 0 and run.stdout == b"a\0b\n", "a pipe gets it as it is", run)


def prove_password(netfetch, server, folder):
    for option, field in [(["-u", "me"], "authorization"), (["-x", server.url, "-U", "me"], "proxy-authorization")]:
        written, code = on_terminal([netfetch, *option, server.url], 80, answer=b"secret\n")
        expect(code == 0 and "password for user 'me':" in written, "a missing password is asked for", written)
        expect("secret" not in written, "the password is not shown", written)
        expect(f"{field}: basic bwu6c2vjcmv0" in server.heads[-1].lower(), "the password is sent", server.heads[-1])


def prove_verbose(netfetch, server, folder):
    file = os.path.join(folder, "small")
    with open(file, "w", encoding="utf-8") as made:
        made.write("hello\n")
    lines = [
        [], ["-I"], ["-X", "DELETE"], ["-d", "a=b"], ["-X", "PUT", "-d", ""], ["-T", file], ["-T", "-"], ["-F", "a=b"], ["-A", ""], ["-H", "Accept:"], ["-H", "Accept: text/html"], ["-H", "Host: a.test"],
        ["-H", "X-One: 1", "-H", "X-One: 2"], ["--compressed"], ["-r", "0-4"], ["--compressed", "-r", "0-4"], ["--json", "{}"], ["-e", "http://a.test/"], ["-x", server.url], ["-H", "Connection: close"], ["-d", "a=b", "--limit-rate", "1M"],
    ]
    for stack in ["curl", "urlsession"]:
        for arguments in lines:
            # URLSession takes neither a proxy nor a Host, and reads a stream before it sends its length.
            if stack == "urlsession" and ("-x" in arguments or arguments in (["-H", "Host: a.test"], ["-T", "-"])):
                continue
            run = subprocess.run([netfetch, "-sv", "--stack", stack, *arguments, server.url + "a%20b?c=d"], input=b"from here", capture_output=True, timeout=30)
            shown = [line[2:].rstrip() for line in run.stderr.decode().splitlines() if line.startswith("> ")]
            sent = [re.sub("^(.*[Aa]uthorization): .*", r"\1: <redacted>", line) for line in server.heads[-1].split("\r\n")]
            sent[0] = sent[0].replace("?c=d", "?…")
            holds = shown == sent if stack == "curl" else shown[:1] == sent[:1] and sorted(shown) == sorted(sent)
            expect(run.returncode == 0 and holds, f"-v shows the head that is sent over {stack} with {arguments}", (run.returncode, shown, sent))
            expect("< HTTP/1.1 200" in run.stderr.decode() and "< Content-Length: 5" in run.stderr.decode(), "-v shows the response's head", run.stderr)
        run = subprocess.run([netfetch, "-v", "--stack", stack, "http://127.0.0.1:1/"], capture_output=True, text=True)
        expect(run.returncode == 7 and "\n* No connection to 127.0.0.1 port 1, after " in "\n" + run.stderr and "> " not in run.stderr, "-v of a refused connection reads well", run.stderr)
    run = subprocess.run([netfetch, "-sv", "-u", "me:secret", "-b", "a=hidden", server.url], capture_output=True, text=True)
    expect("secret" not in run.stderr and "hidden" not in run.stderr and "> Authorization: <redacted>" in run.stderr, "-v shows no secrets", run.stderr)


def prove_tls(netfetch, server, folder):
    port = codes.listening(codes.securing(folder)).rpartition(":")[2]
    authority = os.path.join(folder, "cert.pem")
    run = subprocess.run([netfetch, "-sv", "--cacert", authority, f"https://localhost:{port}/"], capture_output=True, text=True)
    public = subprocess.run(["openssl", "x509", "-in", authority, "-pubkey", "-noout"], check=True, capture_output=True).stdout
    key = subprocess.run(["openssl", "pkey", "-pubin", "-outform", "der"], input=public, check=True, capture_output=True).stdout
    pin = base64.b64encode(hashlib.sha256(key).digest()).decode()
    for line in ["* TLS is negotiated; ALPN chose http/1.1", "> GET / HTTP/1.1", "< HTTP/1.1 200", f"* The server's public keys, its own first: sha256//{pin}"]:
        expect(run.returncode == 0 and line in run.stderr.splitlines(), f"-v shows '{line}' over TLS", run.stderr)
    run = subprocess.run([netfetch, "-v", f"https://localhost:{port}/"], capture_output=True, text=True)
    expect(run.returncode == 60 and "> " not in run.stderr, "-v shows no request that an untrusted server does not get", run.stderr)


def main():
    netfetch = os.path.abspath(sys.argv[1])
    server = Server()
    with tempfile.TemporaryDirectory() as folder:
        for prove in [prove_bars, prove_binary, prove_password, prove_verbose, prove_tls]:
            prove(netfetch, server, folder)
    print("What is shown on a terminal, and by -v, is as it must be" if not failures else f"{len(failures)} promises are broken")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
