#!/usr/bin/env python3
"""Proves that -v, --trace, --har and messages show no secret: planted.py <netfetch>

Distinct secrets are planted wherever a command line and a server can hold some. What goes to standard error and into the archive must
have none of them, whether the fetch succeeds or fails.
"""
import base64
import os
import socket
import subprocess
import sys
import tempfile
import threading

failures = []
planted = {}


def expect(holds, what, seen=""):
    if not holds:
        failures.append(what)
        print(f"planted: {what}: {str(seen)[:1500]}")


def secret(place):
    """The secret of a place, which is planted there from now on."""
    return planted.setdefault(place, f"s3cr3t{len(planted) + 100}")


class Server:
    """Notes what it receives, and answers with secrets."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.host = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.received = ""
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection, connection.makefile("rb") as file:
            while (line := file.readline()):
                path, length, head = line.split()[1].decode(), 0, b""
                while line.strip():
                    head += line
                    name, _, value = line.partition(b":")
                    length = int(value) if name.lower() == b"content-length" else length
                    line = file.readline()
                self.received += (head + file.read(length)).decode("latin-1")
                fields, body, status = self.answer(path.partition("?")[0])
                lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *fields, "", body]
                connection.sendall("\r\n".join(lines).encode())

    def answer(self, path):
        if path == "/redirect":
            return [f"Location: http://{secret('a Location, user')}:x@{self.host}/there?token={secret('a Location, query')}"], secret("a redirect's body"), "302 Found"
        if path == "/elsewhere":
            return [f"Location: ftp://{secret('a bad Location, user')}:x@a.test/?t={secret('a bad Location, query')}"], "", "302 Found"
        if path == "/challenge":
            fields = [f'WWW-Authenticate: Digest realm="r", nonce="{secret("a nonce")}", opaque="{secret("an opaque text")}"', f"WWW-Authenticate: Negotiate {secret('a token68')}"]
            return fields, secret("the body of a 401"), "401 Who"
        if path == "/answer":
            fields = [f"Set-Cookie: a={secret('Set-Cookie')}", f"X-Auth-Token: {secret('a token field')}", f"Link: <http://a.test/?{secret('Link')}>; rel=next",
                      f"Refresh: 5; url=http://a.test/?{secret('Refresh')}", f'Authentication-Info: nextnonce="{secret("the next nonce")}"']
            return fields, secret("a body"), "200 OK"
        return [], "ok", "404 Lost" if path == "/lost" else "200 OK"


def command_lines(server):
    """(what the server must get, arguments...)"""
    url = f"http://{server.host}/there"
    basic = base64.b64encode(f"me:{secret('a password')}".encode()).decode()
    planted["Basic credentials"] = basic
    query = "&".join(f"{name}={secret('query ' + name)}" for name in ["access_token", "api_key", "token", "client_secret", "sig", "X-Amz-Signature", "code"])
    yield basic, "-u", f"me:{secret('a password')}", url
    yield secret("query token"), f"{url}?{query}#{secret('a fragment')}"
    yield "", f"http://{secret('a user')}:{secret('the password of a URL')}@{server.host}/there"
    for name in ["Authorization: Bearer ", "Authorization: Negotiate ", "Cookie: a=", "X-API-Key: ", "X-Amz-Security-Token: ", "X-CSRF-Token: ", "Private-Token: ", "Proxy-Authorization: Basic "]:
        yield "", "-H", name + secret(name), url
    yield secret("-b"), "-b", f"a={secret('-b')}", url
    yield secret("a form"), "-d", f"password={secret('a form')}", url
    yield secret("JSON"), "--json", f'{{"token": "{secret("JSON")}"}}', url
    yield secret("multipart"), "-F", f"a={secret('multipart')}", url
    yield secret("-G"), "-G", "-d", f"key={secret('-G')}", url
    yield "", "-e", f"http://{secret('a referrer, user')}:x@a.test/?token={secret('a referrer, query')}", url
    yield "", "-x", f"http://{secret('a proxy, user')}:{secret('a proxy, password')}@{server.host}", "http://a.test/there"
    yield "", "-x", f"http://127.0.0.1:1", "-U", f"me:{secret('-U')}", "http://a.test/there"
    for path in ["redirect", "elsewhere", "challenge", "answer", "lost"]:
        yield "", f"http://{server.host}/{path}?token={secret('query of ' + path)}"
    yield "", "--digest", "-u", f"me:{secret('a password for Digest')}", f"http://{server.host}/challenge"
    # What fails: before a request, and while a connection is opened.
    for place, broken in [("a port", f"http://me:{secret('a bad port')}@{server.host}9/"), ("a blank", f"http://{server.host}/ ?token={secret('a blank')}"),
                          ("a refused connection", f"http://me:{secret('refused, user')}@127.0.0.1:1/?t={secret('refused, query')}"),
                          ("no host", f"http://me:{secret('no host')}@nowhere.invalid/?t={secret('no host, query')}")]:
        yield "", "-m", "10", broken
    yield "", "-x", f"http://{secret('a bad proxy')}:x@a.test:99999", url
    yield "", "-H", f"X-API-Key: {secret('a field with a line break')}\n", url


def main():
    netfetch, server = os.path.abspath(sys.argv[1]), Server()
    with tempfile.TemporaryDirectory() as folder:
        archive = os.path.join(folder, "archive.har")
        lines = list(command_lines(server))
        for got, *arguments in lines:
            for stack in ["curl", "urlsession"]:
                open(archive, "w", encoding="utf-8").close()
                run = subprocess.run([netfetch, "-v", "--trace", "--har", archive, "--stack", stack, "-o", "out", *arguments], cwd=folder, capture_output=True, text=True, timeout=60)
                with open(archive, encoding="utf-8") as file:
                    shown = run.stdout + run.stderr + file.read()
                for place, text in planted.items():
                    expect(text not in shown, f"{arguments} over {stack} shows no secret of {place}", [line for line in shown.splitlines() if text in line])
                if stack == "curl":
                    expect(run.stderr.strip(), f"{arguments} shows something")
                    expect(got in server.received, f"{arguments} sends its secret", server.received[-500:])
    expect(len(planted) >= 30, "at least 30 secrets are planted", len(planted))
    print(f"None of {len(planted)} secrets is shown by {len(lines)} command lines" if not failures else f"{len(failures)} secrets are shown")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
