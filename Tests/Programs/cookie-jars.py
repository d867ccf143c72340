#!/usr/bin/env python3
"""What curl's jar and http.cookiejar send: cookie-jars.py <table.json>

The table is a list of {answers: [{url, fields}], url}. For each row a jar of its own is told the answers, in order, and
asked for the URL. Prints {libcurl, rows} as JSON: the version of curl's library, and a list of {curl, python}, the Cookie
fields, empty for none.
"""
import concurrent.futures
import email.message
import http.cookiejar
import json
import os
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import urllib.request


class Server:
    """Answers each request of a row with the fields of the next answer, and notes the Cookie field of the last."""

    def __init__(self, table, certificate):
        self.table = table
        self.counts = [0] * len(table)
        self.cookies = [None] * len(table)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        self.plain = self.listen(lambda connection: connection)
        self.secure = self.listen(lambda connection: context.wrap_socket(connection, server_side=True))

    def listen(self, wrap):
        listener = socket.create_server(("127.0.0.1", 0), backlog=100)
        threading.Thread(target=self.accept, args=(listener, wrap), daemon=True).start()
        return listener.getsockname()[1]

    def accept(self, listener, wrap):
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=self.serve, args=(connection, wrap), daemon=True).start()

    def serve(self, connection, wrap):
        connection.settimeout(20)
        with wrap(connection) as connection:
            head = b""
            while b"\r\n\r\n" not in head:
                chunk = connection.recv(65536)
                if not chunk:
                    return
                head += chunk
            lines = head.decode().split("\r\n")[1:]
            fields = [line.split(": ", 1) for line in lines if ": " in line]
            row = next(int(value) for name, value in fields if name == "X-Row")
            number = self.counts[row]
            self.counts[row] += 1
            answers = self.table[row]["answers"]
            answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n"
            if number < len(answers):
                answer += "".join(f"Set-Cookie: {field}\r\n" for field in answers[number]["fields"])
            else:
                self.cookies[row] = "; ".join(value for name, value in fields if name == "Cookie")
            connection.sendall((answer + "\r\n").encode())


def ask_curl(server, row, entry):
    urls = [answer["url"] for answer in entry["answers"]] + [entry["url"]]
    ports = {80: server.plain, 443: server.secure, 8080: server.plain}
    places = [word for port, to in ports.items() for word in ("--connect-to", f":{port}:127.0.0.1:{to}")]
    command = ["curl", "-q", "-sS", "-k", "-g", "--noproxy", "*", "-m", "20", "-b", "", "-H", f"X-Row: {row}"]
    command += places + urls
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    return server.cookies[row]


class Answer:
    def __init__(self, fields):
        self.message = email.message.Message()
        for field in fields:
            self.message["Set-Cookie"] = field

    def info(self):
        return self.message


def ask_python(entry):
    jar = http.cookiejar.CookieJar()
    for answer in entry["answers"]:
        jar.extract_cookies(Answer(answer["fields"]), urllib.request.Request(answer["url"]))
    request = urllib.request.Request(entry["url"])
    jar.add_cookie_header(request)
    return request.get_header("Cookie", "")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        table = json.load(file)
    with tempfile.TemporaryDirectory() as folder:
        certificate = os.path.join(folder, "both.pem")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
             "-subj", "/CN=www.example.com", "-keyout", certificate + ".key", "-out", certificate],
            check=True, stderr=subprocess.DEVNULL)
        with open(certificate, "a") as both, open(certificate + ".key") as key:
            both.write(key.read())
        server = Server(table, certificate)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            asked = pool.map(lambda pair: ask_curl(server, *pair), enumerate(table))
            rows = [{"curl": curl, "python": ask_python(entry)} for curl, entry in zip(asked, table)]
    told = subprocess.run(["curl", "-V"], check=True, capture_output=True, text=True).stdout
    version = next(word for word in told.split() if word.startswith("libcurl/")).partition("/")[2]
    json.dump({"libcurl": version, "rows": rows}, sys.stdout)


main()
