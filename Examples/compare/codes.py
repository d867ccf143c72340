"""Command lines that fail, whose exit codes must be curl's. {url}, {tls}, {shut}, {silent} and {odd} are servers of this script."""
import os
import socket
import ssl
import subprocess
import threading

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
# The responses of the server at {url}, by the path's last segment.
ANSWERS = {
    "redirect": b"HTTP/1.1 302 Moved\r\nLocation: /redirect\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    "elsewhere": b"HTTP/1.1 302 Moved\r\nLocation: foo://a.test/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    "lost": b"HTTP/1.1 404 Lost\r\nContent-Length: 4\r\nConnection: close\r\n\r\nlost",
    "short": b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nConnection: close\r\n\r\nok",
    "unchunked": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n5\r\nok",
    "nochunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nxyz\r\nok",
    "nothing": b"",
    "nohttp": b"220 ready\r\n",
    "badgzip": b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\nConnection: close\r\n\r\nnope",
    "length": b"HTTP/1.1 200 OK\r\nContent-Length: nine\r\nConnection: close\r\n\r\nok",
    "proxied": b"HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=\"r\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
}


class Code:
    def __init__(self, name, *arguments):
        self.name = name
        self.arguments = arguments


def all_codes():
    lines = {
        "a refused connection": ["http://127.0.0.1:1/"], "no such host": ["http://nowhere.invalid/"], "no such socket": ["--unix-socket", "/nowhere", "{url}"],
        "no URL": [], "an empty URL": ["{url}", ""], "no host": ["http://"], "another scheme": ["foo://x"], "no scheme": ["ht!tp://x"], "a blank in the URL": ["http://a b/"],
        "a port beyond any": ["http://localhost:99999/"], "port 0": ["http://localhost:0/"],
        "an unknown option": ["--nope", "{url}"], "an unknown letter": ["-5", "{url}"], "an ambiguous option": ["--re", "{url}"], "a value left out": ["-m"], "a long option's value left out": ["--json"],
        "no number": ["-m", "x", "{url}"], "a negative number": ["-m", "-1", "{url}"], "no number of retries": ["--retry", "x", "{url}"], "negative retries": ["--retry", "-1", "{url}"],
        "no retry delay": ["--retry-delay", "x", "{url}"], "no redirect limit": ["--max-redirs", "-5", "{url}"], "no speed": ["--limit-rate", "x", "{url}"], "no offset": ["-C", "x", "{url}"],
        "no size": ["--max-filesize", "x", "{url}"], "no width": ["--parallel-max", "x", "{url}"], "an option turned off that is no flag": ["--no-data", "{url}"], "an unknown flag turned off": ["--no-nope", "{url}"],
        "-d and -F": ["-d", "a=b", "-F", "c=d", "{url}"], "-d and -T": ["-d", "a=b", "-T", "file", "{url}"], "-I and -d": ["-I", "-d", "a=b", "{url}"],
        "-F without a value": ["-F", "f", "{url}"], "-F with no media type": ["-F", "a=@file;type=nonsense", "{url}"], "-F of no file": ["-F", "a=@nofile", "{url}"],
        "-T of no file": ["-T", "nofile", "{url}"], "-T of a folder": ["-T", ".", "{url}"], "-d of no file": ["-d", "@nofile", "{url}"], "-K of no file": ["-K", "nofile", "{url}"],
        "-H without a colon": ["-H", "bad", "{url}"], "-H of no file": ["-H", "@nofile", "{url}"], "-X with a blank": ["-X", "B AD", "{url}"],
        "-o into no folder": ["-o", "/nowhere/x", "{url}"], "-o of a folder": ["-o", ".", "{url}"], "-O without a name": ["-O", "{url}"], "--output-dir that is not there": ["--output-dir", "/nowhere", "-o", "x", "{url}"],
        "-b of no file": ["-b", "nofile", "{url}"], "-w of an unknown variable": ["-w", "%{nope}", "{url}"], "--resolve of nonsense": ["--resolve", "nonsense", "{url}"], "--connect-to of nonsense": ["--connect-to", "x", "{url}"],
        "a proxy that is not there": ["-x", "http://127.0.0.1:1", "{url}"], "a proxy without an address": ["-x", "nowhere.invalid", "{url}"], "a proxy of another scheme": ["-x", "nonsense://h", "{url}"],
        "a proxy's port beyond any": ["-x", "http://127.0.0.1:99999", "{url}"], "a proxy that refuses": ["-x", "{url}", "https://a.test/proxied"], "a proxy that ends the connection": ["-x", "{shut}", "https://a.test/"],
        "a SOCKS proxy that is none": ["-x", "socks5h://{odd}", "{url}"], "no SOCKS proxy": ["-x", "socks5h://127.0.0.1:1", "{url}"],
        "more redirects than allowed": ["-L", "--max-redirs", "3", "{url}redirect"], "a redirect where none is allowed": ["-L", "--max-redirs", "0", "{url}redirect"], "a redirect to another scheme": ["-L", "{url}elsewhere"],
        "404": ["{url}lost"], "404 with -f": ["-f", "{url}lost"], "404 with a second URL": ["-f", "{url}lost", "{url}"],
        "a response cut short": ["{url}short"], "a chunk cut short": ["{url}unchunked"], "no chunk": ["{url}nochunk"], "a response of nothing": ["{url}nothing"], "no HTTP": ["{url}nohttp"],
        "a broken compression": ["--compressed", "{url}badgzip"], "a length that is none": ["{url}length"], "a response beyond the limit": ["--max-filesize", "1", "{url}"],
        "a resumption that the server ignores": ["-C", "1", "{url}"], "silence": ["-m", "1", "{silent}"], "a connection that is shut": ["{shut}"],
        "an unknown authority": ["{tls}"], "an unknown authority, with -k": ["-k", "{tls}"], "the server's own authority": ["--cacert", "cert.pem", "{tls}"], "another name": ["--cacert", "cert.pem", "{othertls}"],
        "--cacert of no file": ["--cacert", "nofile", "{tls}"], "--cacert of no certificate": ["--cacert", "file", "{tls}"], "--cacert of no file over http": ["--cacert", "nofile", "{url}"],
        "--cert of no file": ["-k", "--cert", "nofile", "{tls}"], "--cert of no certificate": ["-k", "--cert", "file", "{tls}"], "--cert without its key": ["-k", "--cert", "cert.pem", "{tls}"],
        "--key of no file": ["-k", "--cert", "cert.pem", "--key", "nofile", "{tls}"], "https to a server without TLS": ["https://{odd}/"], "http to a server with TLS": ["http://{tlshost}/"], "TLS that is shut": ["https://{shuthost}/"],
    }
    return [Code(name, *arguments) for name, arguments in lines.items()]


def listening(act):
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)

    def accept():
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    def serve(connection):
        try:
            with connection:
                connection.settimeout(20)
                act(connection)
        except OSError:
            pass
    threading.Thread(target=accept, daemon=True).start()
    return "127.0.0.1:%d" % listener.getsockname()[1]


def answering(connection):
    data = b""
    while b"\r\n\r\n" not in data and (chunk := connection.recv(65536)):
        data += chunk
    if b"\r\n\r\n" not in data:
        return
    target = data.split(b" ")[1].decode("latin-1") if data.count(b" ") > 1 else "/"
    name = "proxied" if data.startswith(b"CONNECT") else target.rpartition("/")[2]
    connection.sendall(ANSWERS.get(name, OK))
    connection.shutdown(socket.SHUT_WR)
    while connection.recv(65536):
        pass


def securing(folder):
    """Makes a certificate for localhost, cert.pem, and answers over TLS with it."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-days", "2",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"], cwd=folder, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem"))

    def secured(connection):
        with context.wrap_socket(connection, server_side=True) as secure:
            answering(secure)
    return secured


def silent(connection):
    while connection.recv(65536):
        pass


def odd(connection):
    connection.recv(65536)
    connection.sendall(b"HTTP/1.1 400 Bad\r\n\r\n")


def compare(netfetch, cases, folder):
    """What both programs' exit codes are, by case."""
    with open(os.path.join(folder, "file"), "wb") as file:
        file.write(b"hello\n")
    secured = securing(folder)
    places = {"url": listening(answering), "silent": listening(silent), "shut": listening(lambda connection: connection.recv(65536)), "odd": listening(odd), "tls": listening(secured)}
    port = places["tls"].rpartition(":")[2]
    words = {"{url}": f"http://{places['url']}/", "{silent}": f"http://{places['silent']}/", "{shut}": f"http://{places['shut']}/", "{odd}": places["odd"],
             "{tls}": f"https://localhost:{port}/", "{othertls}": f"https://127.0.0.1:{port}/", "{tlshost}": f"localhost:{port}", "{shuthost}": places["shut"]}
    for case in cases:
        arguments = list(case.arguments)
        for word, meaning in words.items():
            arguments = [argument.replace(word, meaning) for argument in arguments]
        noproxy = [] if "-x" in arguments else ["--noproxy", "*"]
        made = []
        for program in (["curl", "-q", "-sS", "-g", *noproxy, "-m", "10"], [netfetch, "-sS", "-m", "10"]):
            run = subprocess.run([*program, *arguments], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, start_new_session=True)
            made.append({"exit": run.returncode, "why": run.stderr.decode("latin-1").strip()[:200]})
        yield case.name, *made, [] if made[0]["exit"] == made[1]["exit"] else ["exit"]
