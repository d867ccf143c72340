"""Replies of a server, valid, odd and broken: what it sends, byte for byte, and how it goes on.

A reply is a name, the pieces that are sent one after the other, what follows (close, reset, or silence), and the options
both programs are run with. Nothing here is random, so a name always means the same bytes.
"""
import gzip
import zlib


class Reply:
    def __init__(self, name, *pieces, then="close", method="GET", follow=0, compressed=False, timeout=10, body=None, steps=None, cut=0):
        self.name = name
        self.pieces = [piece.encode("latin-1") if isinstance(piece, str) else piece for piece in pieces]
        self.then = then
        self.method = method
        self.follow = follow
        self.compressed = compressed
        self.timeout = timeout
        self.body = body
        # Into pieces of how many bytes the whole is cut, if at all.
        self.cut = cut
        # Replies to the requests that redirects lead to, by path.
        self.steps = steps or {}


def head(status="200 OK", *fields, version="HTTP/1.1", end="\r\n"):
    return end.join([f"{version} {status}", *fields, "", ""])


def sized(body, *fields, status="200 OK", version="HTTP/1.1"):
    data = body.encode("latin-1") if isinstance(body, str) else body
    return head(status, f"Content-Length: {len(data)}", *fields, version=version).encode("latin-1") + data


def chunked(*chunks, fields=(), end="0\r\n\r\n"):
    text = head("200 OK", "Transfer-Encoding: chunked", *fields).encode()
    for chunk in chunks:
        text += b"%x\r\n" % len(chunk) + chunk + b"\r\n"
    return text + end.encode()


def pattern(count):
    return bytes(index * 31 % 251 for index in range(count))


def statuses():
    bare = {204, 304}
    codes = [200, 201, 202, 203, 204, 205, 206, 207, 208, 226, 300, 301, 302, 303, 304, 305, 307, 308]
    codes += [*range(400, 419), *range(421, 427), 428, 429, 431, 451, *range(500, 509), 510, 511, 599]
    for code in codes:
        yield Reply(f"status {code}", head(f"{code} Word") if code in bare else sized("hello", status=f"{code} Word"))
    for code in (600, 799, 999):
        yield Reply(f"status {code}, beyond the classes", sized("hello", status=f"{code} Word"))
    yield Reply("status 204 with a body all the same", sized("hello", status="204 No Content"))
    yield Reply("status 304 with a length", head("304 Not Modified", "Content-Length: 5"))
    yield Reply("status 205 without a length", head("205 Reset Content", "Content-Length: 0"))


def lengths():
    for count in (0, 1, 2, 100, 1000, 16384, 65536, 300_000, 1 << 20):
        yield Reply(f"{count} bytes of known length", sized(pattern(count)))
        yield Reply(f"{count} bytes up to the end", head("200 OK", "Connection: close"), pattern(count))
        yield Reply(f"{count} bytes in one chunk", chunked(pattern(count)) if count else chunked())
    for value in ("+5", "-5", "5x", "x", "", " ", "0x5", "5.0", "5 5", "5;5", "05", "00000000000000000005", "٥"):
        yield Reply(f"Content-Length '{value}'", f"HTTP/1.1 200 OK\r\nContent-Length: {value}\r\n\r\nhello".encode())
    for value in ("9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551621", "9" * 40):
        yield Reply(f"Content-Length {value}", head("200 OK", f"Content-Length: {value}") + "hello")
    yield Reply("two equal lengths", head("200 OK", "Content-Length: 5", "Content-Length: 5") + "hello")
    yield Reply("two lengths, the second longer", head("200 OK", "Content-Length: 5", "Content-Length: 6") + "hello!")
    yield Reply("two lengths, the second shorter", head("200 OK", "Content-Length: 5", "Content-Length: 4") + "hello")
    yield Reply("a list of equal lengths", head("200 OK", "Content-Length: 5, 5") + "hello")
    yield Reply("a list of lengths that differ", head("200 OK", "Content-Length: 5, 6") + "hello!")
    for sent in (0, 1, 50, 99):
        yield Reply(f"{sent} of 100 bytes", head("200 OK", "Content-Length: 100"), pattern(sent))
        yield Reply(f"{sent} of 100 bytes, then a reset", head("200 OK", "Content-Length: 100"), pattern(sent), then="reset")
        yield Reply(f"{sent} of 100 bytes of an error page", head("404 Not Found", "Content-Length: 100"), pattern(sent))
    yield Reply("more bytes than the length says", head("200 OK", "Content-Length: 5") + "hello, world")
    yield Reply("a length over and above chunks", head("200 OK", "Content-Length: 3", "Transfer-Encoding: chunked") + "5\r\nhello\r\n0\r\n\r\n")
    yield Reply("a body that ends in a reset, of unknown length", head("200 OK", "Connection: close") + "hello", then="reset")
    yield Reply("silence after half the body", head("200 OK", "Content-Length: 10") + "hello", then="silence", timeout=0.7)
    yield Reply("silence at once", then="silence", timeout=0.7)
    yield Reply("silence within the head", "HTTP/1.1 200 OK\r\nX-A: b\r\n", then="silence", timeout=0.7)


def chunks():
    start = head("200 OK", "Transfer-Encoding: chunked")
    yield Reply("chunks of several sizes", chunked(pattern(1), pattern(10), pattern(4096), pattern(70_000)))
    for name, text in {
        "hexadecimal in capitals": "A\r\n0123456789\r\n0\r\n\r\n",
        "zeros before the size": "000005\r\nhello\r\n000\r\n\r\n",
        "many zeros before the size": "00000000000000000005\r\nhello\r\n0\r\n\r\n",
        "an extension": "5;name=value\r\nhello\r\n0\r\n\r\n",
        "a quoted extension": "5;name=\"a;b\"\r\nhello\r\n0;last\r\n\r\n",
        "a blank before an extension": "5 ;x\r\nhello\r\n0\r\n\r\n",
        "a blank after the size": "5 \r\nhello\r\n0\r\n\r\n",
        "a blank before the size": " 5\r\nhello\r\n0\r\n\r\n",
        "line feeds alone": "5\nhello\n0\n\n",
        "line feeds alone after the sizes": "5\nhello\r\n0\n\r\n",
        "no size": "\r\nhello\r\n0\r\n\r\n",
        "a size that is a word": "five\r\nhello\r\n0\r\n\r\n",
        "a size with a letter behind": "5g\r\nhello\r\n0\r\n\r\n",
        "a negative size": "-5\r\nhello\r\n0\r\n\r\n",
        "a size with 0x": "0x5\r\nhello\r\n0\r\n\r\n",
        "a size beyond 64 bits": "fffffffffffffffff5\r\nhello\r\n0\r\n\r\n",
        "a size of 64 bits": "ffffffffffffffff\r\nhello\r\n0\r\n\r\n",
        "a size just below 64 bits": "7fffffffffffffff\r\nhello\r\n0\r\n\r\n",
        "no line end after a chunk": "5\r\nhello0\r\n\r\n",
        "a chunk that is longer than its size": "5\r\nhello!!\r\n0\r\n\r\n",
        "a chunk that is shorter than its size": "8\r\nhello\r\n0\r\n\r\n",
        "no last chunk": "5\r\nhello\r\n",
        "no line end at the end": "5\r\nhello\r\n0\r\n",
        "half a line end at the end": "5\r\nhello\r\n0\r\n\r",
        "half a last chunk": "5\r\nhello\r\n0",
        "an end within a chunk": "5\r\nhel",
        "an end within a size": "5",
        "no chunk at all": "",
        "only the last chunk": "0\r\n\r\n",
        "bytes after the end": "5\r\nhello\r\n0\r\n\r\nmore",
        "a trailer": "5\r\nhello\r\n0\r\nX-After: yes\r\n\r\n",
        "two trailers": "5\r\nhello\r\n0\r\nX-After: yes\r\nX-More: no\r\n\r\n",
        "a trailer that is cut": "5\r\nhello\r\n0\r\nX-After: y",
        "a trailer without a colon": "5\r\nhello\r\n0\r\nnonsense\r\n\r\n",
        "a trailer with a length": "5\r\nhello\r\n0\r\nContent-Length: 99\r\n\r\n",
        "a long extension": "5;" + "x" * 10_000 + "\r\nhello\r\n0\r\n\r\n",
    }.items():
        yield Reply(f"chunked: {name}", start + text)
        if name in ("an extension", "a trailer", "no last chunk", "a size that is a word"):
            yield Reply(f"chunked: {name}, byte by byte", start + text, cut=1)
    for value in ("CHUNKED", "Chunked", " chunked ", "chunked, chunked", "identity", "gzip", "gzip, chunked", "chunked, gzip", "nonsense", "", "xchunked", "chunked;q=1"):
        yield Reply(f"Transfer-Encoding '{value}'", head("200 OK", f"Transfer-Encoding: {value}") + "5\r\nhello\r\n0\r\n\r\n")
    yield Reply("chunked in two lines", head("200 OK", "Transfer-Encoding: identity", "Transfer-Encoding: chunked") + "5\r\nhello\r\n0\r\n\r\n")
    yield Reply("chunked over HTTP/1.0", head("200 OK", "Transfer-Encoding: chunked", version="HTTP/1.0") + "5\r\nhello\r\n0\r\n\r\n")


def heads():
    tail = "\r\nContent-Length: 5\r\n\r\nhello"
    for line in (
        "HTTP/1.1 200", "HTTP/1.1 200 ", "HTTP/1.1 200 A long reason, with: punctuation!", "HTTP/1.1 200 \t OK", "HTTP/1.1  200 OK",
        "HTTP/1.1\t200 OK", "HTTP/1.0 200 OK", "HTTP/1.2 200 OK", "HTTP/1.9 200 OK", "HTTP/0.9 200 OK", "HTTP/2 200 OK",
        "HTTP/2.0 200 OK", "HTTP/3 200", "HTTP/4 200 OK", "HTTP/11 200 OK", "HTTP/1 200 OK", "HTTP/1. 200 OK", "HTTP/.1 200 OK",
        "http/1.1 200 OK", "HTTP 200 OK", "HTTP/1.1 20 OK", "HTTP/1.1 2000 OK", "HTTP/1.1 abc OK", "HTTP/1.1 2x0 OK", "HTTP/1.1 -20 OK",
        "HTTP/1.1 000 OK", "HTTP/1.1 099 OK", "HTTP/1.1", "HTTP/", "H", " HTTP/1.1 200 OK", "\r\nHTTP/1.1 200 OK", "ICY 200 OK",
        "HTTP/1.1 200OK", "HTTPS/1.1 200 OK", "XHTTP/1.1 200 OK", "200 OK", "<html>",
    ):
        yield Reply(f"status line {line!r}", line + tail)
    for name, field in {
        "an empty value": "X-A:", "blanks alone for a value": "X-A:   ", "no blank after the colon": "X-A:b",
        "many blanks": "X-A: \t  b \t ", "a colon in the value": "X-A: b: c", "a name in capitals": "X-LOUD: b",
        "a blank before the colon": "X-A : b", "a blank in the name": "X A: b", "no name": ": b", "no colon": "nonsense",
        "a folded line": "X-A: b\r\n c", "a folded line with a tab": "X-A: b\r\n\tc", "two folded lines": "X-A: b\r\n c\r\n  d",
        "Latin-1": "X-A: \xe4\xf6\xfc", "a control character": "X-A: b\x01c", "a bell": "X-A: \x07", "a delete": "X-A: b\x7fc",
        "a tab inside": "X-A: b\tc", "a carriage return inside": "X-A: b\rc", "a comma": "X-A: b, c", "a quote": "X-A: \"b\"",
        "a slash in the name": "X/A: b", "a name of punctuation": "!#$%&'*+-.^_`|~: b", "a bracket in the name": "X(A): b",
    }.items():
        yield Reply(f"field with {name}", head("200 OK", field, "Content-Length: 5") + "hello")
    yield Reply("field with UTF-8", "HTTP/1.1 200 OK\r\nX-A: äöü\r\nContent-Length: 5\r\n\r\nhello".encode())
    yield Reply("field with a zero byte", head("200 OK", "X-A: b\0c", "Content-Length: 5") + "hello")
    yield Reply("a folded line first", head("200 OK", " X-A: b", "Content-Length: 5") + "hello")
    yield Reply("the same name thrice", head("200 OK", "X-A: 1", "X-B: 2", "x-a: 3", "X-A: 1", "Content-Length: 5") + "hello")
    yield Reply("two cookies", head("200 OK", "Set-Cookie: a=b; Expires=Wed, 09 Jun 2021 10:18:14 GMT", "Set-Cookie: c=d", "Content-Length: 5") + "hello")
    for count in (1000, 8000, 60_000, 90_000):
        yield Reply(f"a value of {count} bytes", head("200 OK", "X-A: " + "x" * count, "Content-Length: 5") + "hello")
    yield Reply("a value beyond any limit", head("200 OK", "X-A: " + "x" * 400_000, "Content-Length: 5") + "hello")
    for count in (10, 100, 900):
        yield Reply(f"{count} fields", head("200 OK", *(f"X-{number}: {number}" for number in range(count)), "Content-Length: 5") + "hello")
    yield Reply("5000 fields", head("200 OK", *(f"X-{number}: {number}" for number in range(5000)), "Content-Length: 5") + "hello")
    yield Reply("line feeds alone", head("200 OK", "X-A: b", "Content-Length: 5", end="\n") + "hello")
    yield Reply("a line feed alone before the body", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\nhello")
    yield Reply("carriage returns alone", head("200 OK", "X-A: b", "Content-Length: 5", end="\r") + "hello")
    yield Reply("a length in another case", head("200 OK", "cOnTeNt-LeNgTh: 5") + "hello")
    whole = head("200 OK", "Server: x", "Content-Length: 5")
    for cut in (1, 4, 5, 8, 9, 12, 13, 14, 15, 16, 17, 20, 25, 27, 28, 30, 40, len(whole) - 4, len(whole) - 3, len(whole) - 2, len(whole) - 1):
        yield Reply(f"a head that ends after {cut} bytes", whole[:cut])
        if cut in (1, 15, 17, 28, len(whole) - 2):
            yield Reply(f"a head that is reset after {cut} bytes", whole[:cut], then="reset")
    yield Reply("nothing")
    yield Reply("nothing, then a reset", then="reset")
    yield Reply("a line end alone", "\r\n")
    yield Reply("an HTML page without a head", "<html><body>hello</body></html>\n")
    yield Reply("bytes that are no text", bytes(range(256)) * 4)
    yield Reply("a response of another protocol", "220 mail.example.com ESMTP\r\n")


def interim():
    last = sized("hello")
    for code in (100, 102, 103, 150, 199):
        yield Reply(f"{code} before the response", head(f"{code} Wait", "X-Early: yes"), last)
        yield Reply(f"{code} and nothing more", head(f"{code} Wait"))
    yield Reply("three times 103 before the response", *[head("103 Early Hints", "Link: </x>; rel=preload")] * 3, last)
    yield Reply("100 with a length", head("100 Continue", "Content-Length: 0"), last)
    yield Reply("101 that was not requested", head("101 Switching Protocols", "Upgrade: other", "Connection: upgrade"), "bytes of another protocol")
    yield Reply("100 over HTTP/1.0", head("100 Continue", version="HTTP/1.0"), last)


def requests_of_other_kinds():
    yield Reply("HEAD with a length", head("200 OK", "Content-Length: 100"), method="HEAD")
    yield Reply("HEAD without a length", head("200 OK", "X-A: b"), method="HEAD")
    yield Reply("HEAD of chunks", head("200 OK", "Transfer-Encoding: chunked"), method="HEAD")
    yield Reply("HEAD with a body all the same", sized("hello"), method="HEAD")
    yield Reply("HEAD of what is not there", head("404 Not Found", "Content-Length: 9"), method="HEAD")
    yield Reply("HEAD of a compressed body", head("200 OK", "Content-Encoding: gzip", "Content-Length: 50"), method="HEAD", compressed=True)
    yield Reply("HEAD with a length that is none", head("200 OK", "Content-Length: x"), method="HEAD")
    for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"):
        yield Reply(f"{method} with a body", sized("hello"), method=method, body=b"sent")
    yield Reply("a response before the request is read", sized("too large", status="413 Content Too Large"), method="POST", body=pattern(200_000))
    for version in ("HTTP/1.0", "HTTP/1.1"):
        for value in ("close", "keep-alive", "Keep-Alive, TE", "nonsense"):
            yield Reply(f"{version} with Connection: {value}", sized("hello", f"Connection: {value}", version=version))


def codings():
    text = b"hello, hello, hello, hello " * 40
    packed = gzip.compress(text, mtime=0)
    raw = zlib.compressobj(wbits=-15)
    bare = raw.compress(text) + raw.flush()
    for name, coding, body in (
        ("gzip", "gzip", packed), ("x-gzip", "x-gzip", packed), ("GZIP", "GZIP", packed), ("deflate", "deflate", zlib.compress(text)),
        ("deflate without its frame", "deflate", bare), ("identity", "identity", text), ("no name", "", text),
        ("an unknown coding", "nonsense", text), ("gzip twice", "gzip, gzip", gzip.compress(packed, mtime=0)),
        ("gzip after deflate", "deflate, gzip", gzip.compress(zlib.compress(text), mtime=0)), ("gzip of nothing", "gzip", gzip.compress(b"", mtime=0)),
        ("gzip without a body", "gzip", b""), ("gzip that is none", "gzip", text), ("gzip, cut in half", "gzip", packed[: len(packed) // 2]),
        ("gzip without its end", "gzip", packed[:-8]), ("gzip with half its end", "gzip", packed[:-4]), ("gzip of two members", "gzip", packed + packed),
        ("gzip with bytes behind", "gzip", packed + b"garbage"), ("gzip with a wrong sum", "gzip", packed[:-8] + b"\0\0\0\0" + packed[-4:]),
        ("gzip with a wrong length", "gzip", packed[:-4] + b"\1\2\3\4"), ("deflate, cut in half", "deflate", zlib.compress(text)[:20]),
        ("gzip in name, deflate in fact", "gzip", zlib.compress(text)), ("many codings", ", ".join(["gzip"] * 12), packed),
    ):
        yield Reply(f"coding: {name}", sized(body, f"Content-Encoding: {coding}"), compressed=True)
        if name in ("gzip", "gzip that is none", "gzip, cut in half", "an unknown coding"):
            yield Reply(f"coding: {name}, taken raw", sized(body, f"Content-Encoding: {coding}"))
    yield Reply("coding: gzip in chunks", chunked(packed[:10], packed[10:], fields=["Content-Encoding: gzip"]), compressed=True)
    yield Reply("coding: gzip up to the end", head("200 OK", "Content-Encoding: gzip"), packed, compressed=True)
    yield Reply("coding: gzip of an error page", sized(packed, "Content-Encoding: gzip", status="404 Not Found"), compressed=True)
    yield Reply("coding: gzip, fewer bytes than the length", head("200 OK", "Content-Encoding: gzip", "Content-Length: 500"), packed, compressed=True)


def redirects():
    there = {"/there": sized("there")}
    for code in (301, 302, 303, 307, 308):
        for method in ("GET", "HEAD", "POST", "PUT"):
            yield Reply(f"{code} of {method}", sized("moved", "Location: /there", status=f"{code} Moved"), method=method,
                        body=b"sent" if method in ("POST", "PUT") else None, follow=5, steps=there)
        yield Reply(f"{code} that is not followed", sized("moved", "Location: /there", status=f"{code} Moved"))
        yield Reply(f"{code} without a Location", sized("moved", status=f"{code} Moved"), follow=5)
    for name, location in {
        "a whole URL": "{base}/there", "a path": "/there", "a query": "?q=1", "a fragment": "#x", "a fragment behind a path": "/there#x",
        "dots": "/a/b/../../there", "a dot": "./there", "a scheme in capitals": "{BASE}/there", "an empty text": "", "another scheme": "ftp://127.0.0.1/x",
        "no scheme that is known": "nonsense:x", "a port that is none": "http://127.0.0.1:99999/", "a port without a listener": "http://127.0.0.1:1/",
        "no host": "http:///x", "a host of bad characters": "http://ex ample/", "a text with a tab": "/the\tre", "a path with a blank": "/the re",
        "a path beyond ASCII": "/th\xe9re", "two slashes": "//{host}/there", "blanks around": "   /there   ", "an escape": "/%74here",
        "a javascript": "javascript:alert(1)", "a file": "file:///etc/passwd", "user info": "http://u:p@{host}/there",
    }.items():
        yield Reply(f"redirect to {name}", f"HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 5\r\n\r\nmoved", follow=5,
                    steps={**there, "?": sized("query")})
    yield Reply("redirect to two places", head("302 Found", "Location: /there", "Location: /elsewhere", "Content-Length: 0"), follow=5,
                steps={**there, "/elsewhere": sized("elsewhere")})
    yield Reply("redirect twice to one place", head("302 Found", "Location: /there", "Location: /there", "Content-Length: 0"), follow=5, steps=there)
    chain = {f"/{number}": sized("moved", f"Location: /{number + 1}", status="302 Found") for number in range(1, 6)}
    chain["/6"] = sized("there")
    for limit in (1, 5, 6, 7):
        yield Reply(f"six redirects with a limit of {limit}", sized("moved", "Location: /1", status="302 Found"), follow=limit, steps=chain)
    yield Reply("a redirect to a broken response", sized("moved", "Location: /there", status="302 Found"), follow=5, steps={"/there": b"nonsense\r\n\r\n"})
    yield Reply("a redirect to a cut response", sized("moved", "Location: /there", status="302 Found"), follow=5,
                steps={"/there": head("200 OK", "Content-Length: 9").encode() + b"the"})
    yield Reply("a redirect to nothing", sized("moved", "Location: /there", status="302 Found"), follow=5, steps={"/there": b""})
    yield Reply("a redirect to an error page", sized("moved", "Location: /there", status="302 Found"), follow=5, steps={"/there": sized("no", status="404 No")})
    yield Reply("a redirect whose body is cut", head("302 Found", "Location: /there", "Content-Length: 9"), "mov", follow=5, steps=there)
    yield Reply("a redirect whose body is large", sized(pattern(200_000), "Location: /there", status="302 Found"), follow=5, steps=there)
    yield Reply("300 with a Location", sized("choose", "Location: /there", status="300 Multiple Choices"), follow=5, steps=there)
    yield Reply("304 with a Location", head("304 Not Modified", "Location: /there"), follow=5, steps=there)
    yield Reply("305 with a Location", sized("proxy", "Location: /there", status="305 Use Proxy"), follow=5, steps=there)
    yield Reply("201 with a Location", sized("made", "Location: /there", status="201 Created"), follow=5, steps=there)


def cuttings(replies):
    """The same bytes in other pieces must mean the same."""
    chosen = ("status 404", "100 bytes of known length", "1000 bytes in one chunk", "1000 bytes up to the end", "two cookies", "103 before the response",
              "coding: gzip", "coding: gzip in chunks", "field with a folded line", "line feeds alone", "50 of 100 bytes",
              "chunked: a trailer that is cut", "301 of GET", "chunked: a chunk that is longer than its size")
    for reply in replies:
        if reply.name not in chosen:
            continue
        for name, size in (("bytes", 1), ("sevens", 7)):
            yield Reply(f"{reply.name}, in {name}", *reply.pieces, cut=size, then=reply.then, method=reply.method, follow=reply.follow, compressed=reply.compressed,
                        timeout=reply.timeout, body=reply.body, steps=reply.steps)


def all_replies():
    made = []
    for family in (statuses, lengths, chunks, heads, interim, requests_of_other_kinds, codings, redirects):
        made += family()
    made += cuttings(made)
    names = [reply.name for reply in made]
    assert len(names) == len(set(names)), "two replies have one name"
    return made
