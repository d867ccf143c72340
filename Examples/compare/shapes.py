"""Command lines in curl's own words, whose requests must come out the same. {url} is the server's place for one of them."""


class Shape:
    def __init__(self, name, *arguments, replies=None, input=None, path="/start", host=None, shows=False):
        self.name = name
        self.arguments = [*arguments]
        self.path = path
        # The responses, one request after the other; then 200.
        self.replies = replies or []
        self.input = input
        # The URL's host, if it is another than the server's; the server stands for it, and is the proxy on the way there.
        self.host = host
        # Whether standard output must be the same, too, and the files that are written.
        self.shows = shows


FILES = {
    "plain.txt": b"hello, world",
    "lines.txt": b"one\r\ntwo\nthree\r\n",
    "two words.txt": b"hello, world", "empty.txt": b"",
    "bytes.bin": bytes(range(256)) * 300,
    "fields.txt": b"X-One: 1\nX-Two: 2\n",
    "half.txt": b"01234", "format.txt": b"%{http_code}\\n", "folder/there.txt": b"",
    "options.txt": b'# A comment.\n\nheader = "X-One: \\"1\\""\nheader: X-Two:2\n  user-agent=mine # not this\n-H "X-Three: 3"\n-d a=b\nrequest "PUT"\nsilent\n',
    "more.txt": b"data-raw c=d\n--referer http://a.test/\n",
    "cookies.txt": b"# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t0\tjar\tvalue\n127.0.0.1\tFALSE\t/elsewhere\tFALSE\t0\tfar\taway\n",
}


def redirect(code, place="{base}/next", *fields):
    # The server ends every connection, and announces it, so that no client sends another request on it.
    lines = [f"HTTP/1.1 {code} Moved", f"Location: {place}", "Content-Length: 0", "Connection: close", *fields, "", ""]
    return "\r\n".join(lines).encode()


PART = b"HTTP/1.1 206 Part\r\nContent-Range: bytes 5-9/10\r\nContent-Length: 5\r\nConnection: close\r\n\r\n56789"
OUTSIDE = b"HTTP/1.1 416 No such part\r\nContent-Range: bytes */5\r\nContent-Length: 4\r\nConnection: close\r\n\r\nnone"
WHOLE = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\nX-One: 1\r\nX-One: 2\r\nConnection: close\r\n\r\n0123456789"
LOST = b"HTTP/1.1 404 Lost\r\nContent-Length: 4\r\nConnection: close\r\n\r\nlost"
FACTS = "%{http_code} %{response_code} %{num_redirects} %{size_download} %{size_upload} %{http_version} %{content_type} %{method} %{scheme} " \
    "%{exitcode} %{filename_effective} %{remote_ip} %{num_headers} %{urlnum} %{referer}\\n"


def option_shapes():
    """Options with a meaning beyond one field of the request."""
    shapes = [
        Shape("no User-Agent by -A", "-A", ""), Shape("no Referer by -e", "-e", ""),
        Shape("--json", "--json", '{"a":1}'), Shape("--json twice", "--json", '{"a":', "--json", "1}"), Shape("--json of a file", "--json", "@lines.txt"),
        Shape("--json with fields", "--json", "[]", "-H", "Content-Type: application/x-own", "-H", "Accept: text/html"), Shape("--json with PUT", "-X", "PUT", "--json", "[]"),
        Shape("--json with no Accept", "--json", "[]", "-H", "Accept:"), Shape("--json and -d", "-d", "a=b", "--json", "[]", "-d", "c=d"),
        Shape("-d in order", "--data-raw", "1", "-d", "2", "--data-binary", "3", "--data-urlencode", "4=5", "--data-ascii", "6"),
        Shape("-r", "-r", "0-9"), Shape("-r from the end", "-r", "-5"), Shape("-r of a number", "-r", "5"), Shape("-r of several", "-r", "0-1,4-5"),
        Shape("-C", "-C", "5", replies=[PART], shows=True), Shape("-C 0", "-C", "0", shows=True), Shape("-C - without a file", "-C", "-", shows=True),
        Shape("-C of a server that ignores it", "-C", "5", replies=[WHOLE], shows=True), Shape("-C at the end", "-C", "10", replies=[WHOLE], shows=True),
        Shape("-C beyond the end", "-C", "5", replies=[OUTSIDE], shows=True), Shape("-C beyond the end, with -f", "-f", "-C", "5", replies=[OUTSIDE], shows=True),
        Shape("-C of what is lost", "-C", "5", replies=[LOST], shows=True), Shape("-C of what is lost, with -f", "-f", "-C", "5", replies=[LOST], shows=True),
        Shape("-C - of a file", "-C", "-", "-o", "half.txt", replies=[PART], shows=True), Shape("-C - of a new file", "-C", "-", "-o", "new.txt", replies=[WHOLE], shows=True),
        Shape("-C after a redirect", "-L", "-C", "5", replies=[redirect(302), PART], shows=True),
        Shape("-K", "-K", "options.txt"), Shape("-K from standard input", "-K", "-", input=b"-H X-One:1\n"), Shape("-K of two files", "-K", "options.txt", "--config", "more.txt"),
        Shape("--url", "--url", "{start}", path=None), Shape("two URLs", "{start}", "--url", "{start}?second", path=None, shows=True),
        Shape("-Z of two", "-Z", "{start}", "{start}", path=None, shows=True), Shape("--parallel-max", "--parallel", "--parallel-max", "1", "{start}", "{start}", path=None, shows=True),
        Shape("-4", "-4"), Shape("-N", "-N", shows=True), Shape("--no-buffer", "--no-buffer", shows=True), Shape("--no-silent", "--no-silent", "--no-progress-meter", shows=True),
        Shape("-u without a colon", "-u", "me", input=b"secret\n"), Shape("-u without a colon or a password", "-u", "me", input=b"\n"),
        Shape("a long option's beginning", "--user-ag", "mine"), Shape("a long option's beginning with a value", "--refer", "http://a.test/"), Shape("options after the URL", "--http1.1", "{start}", "-H", "X-One: 1", path=None),
        Shape("what follows two hyphens", "-H", "X-One: 1", "--", "{start}", path=None), Shape("a value that begins with a hyphen", "-A", "-x"),
        Shape("-o of the first URL", "-o", "one.txt", "{start}", "{start}", path=None, replies=[WHOLE], shows=True), Shape("-o twice", "-o", "one.txt", "-o", "two.txt", "{start}", "{start}", path=None, shows=True),
        Shape("-O of the first URL", "-O", "{start}", "{start}", path=None, replies=[WHOLE], shows=True), Shape("-o and -O", "-O", "-o", "two.txt", "{start}", "{start}", path=None, shows=True),
        Shape("--output-dir", "--output-dir", "folder", "-o", "one.txt", shows=True), Shape("--output-dir with -O", "--output-dir", "folder", "-O", shows=True),
        Shape("--output-dir that is not there", "--output-dir", "nowhere", "-o", "one.txt", shows=True), Shape("--create-dirs", "--create-dirs", "-o", "a/b/one.txt", shows=True),
        Shape("--create-dirs with --output-dir", "--create-dirs", "--output-dir", "a/b", "-o", "c/one.txt", shows=True),
        Shape("--limit-rate", "--limit-rate", "1M", replies=[WHOLE], shows=True), Shape("--limit-rate of an upload", "--limit-rate", "1M", "-d", "@lines.txt"),
        Shape("--retry-delay", "--retry", "1", "--retry-delay", "1", replies=[b"HTTP/1.1 503 Later\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"], shows=True),
        Shape("-w", "-o", "one.txt", "-w", FACTS, shows=True), Shape("-w of a redirect", "-L", "-o", "one.txt", "-w", FACTS, replies=[redirect(302)], shows=True),
        Shape("-w of a redirect that is not followed", "--no-location", "-w", FACTS + "%{redirect_url}", replies=[redirect(302, "/next")], shows=True),
        Shape("-w of an upload", "-w", FACTS, "-d", "a=b", shows=True), Shape("-w with -f", "-f", "-w", FACTS, replies=[LOST], shows=True), Shape("-w with -I", "-I", "-o", "one.txt", "-w", FACTS, shows=True),
        Shape("-w of what is left out", "-w", "%%{http_code} %% %a \\q \\t%{http_code", shows=True), Shape("-w of an unknown variable", "-w", "a%{nonsense}b", shows=True),
        Shape("-w of a header", "-w", "%header{x-one} %header{none} %{header_json}", replies=[WHOLE], shows=True), Shape("-w to standard error", "-w", "%{stderr}%{http_code}%{stdout}there", shows=True),
        Shape("-w of an error alone", "-w", "a%{onerror}%{http_code}", shows=True), Shape("-w of a file", "-w", "@format.txt", shows=True), Shape("-w of two URLs", "-w", "%{urlnum} ", "{start}", "{start}", path=None, shows=True),
    ]
    return shapes + [
        Shape(f"--data-urlencode {data}", "--data-urlencode", data)
        for data in ["a b&c", "=a=b", "name=a b/c\u00e4~", "name=", "name@plain.txt", "@two words.txt", "a=b@c", "100%", "@bytes.bin", "n me=v"]
    ] + [Shape("--data-urlencode with -G", "-G", "--data-urlencode", "q=a b", "--data-urlencode", "r=c+d")]


def all_shapes():
    shapes = [
        Shape("GET"), Shape("GET with a query", path="/start?a=b&c=d"), Shape("GET with a fragment", path="/start#here"),
        Shape("GET with escapes", path="/a%20b%2Fc%25"), Shape("GET with punctuation", path="/a;b=c,d!e~f*g(h)'i"),
        Shape("GET with a colon and an at", path="/a:b@c"), Shape("GET with an empty query", path="/start?"),
        Shape("GET with a question in the query", path="/start?a?b"), Shape("GET with pluses", path="/a+b?c+d"),
        Shape("GET with dots", path="/a/../b/./c"), Shape("GET with two slashes", path="//a//b"),
        Shape("GET with a bar", path="/a|b"), Shape("GET with a quote in the query", path="/a?b=%22"), Shape("GET of a UTF-8 path", path="/\u00e4"),
        Shape("HEAD", "-I"), Shape("DELETE", "-X", "DELETE"), Shape("OPTIONS", "-X", "OPTIONS"), Shape("an unknown method", "-X", "PURGE"),
        Shape("a method in lower case", "-X", "purge"), Shape("a method joined to its option", "-XDELETE"), Shape("--request", "--request", "PATCH"),
        Shape("a field", "-H", "X-One: 1"), Shape("two fields", "-H", "X-One: 1", "-H", "X-Two: 2"), Shape("a field twice", "-H", "X-One: 1", "-H", "X-One: 2"),
        Shape("a field without a blank", "-H", "X-One:1"), Shape("a field with an empty value", "-H", "X-One;"), Shape("a field left out", "-H", "User-Agent:"),
        Shape("another Host", "-H", "Host: example.com"), Shape("another Accept", "-H", "Accept: text/html"), Shape("no Accept", "-H", "Accept:"),
        Shape("Accept left out and given", "-H", "Accept:", "-H", "Accept: text/html"), Shape("no Content-Type with -d", "-d", "a=b", "-H", "Content-Type:"),
        Shape("no Host", "-H", "Host:"), Shape("no Content-Length with -d", "-d", "a=b", "-H", "Content-Length:"),
        Shape("no Authorization with -u", "-u", "name:password", "-H", "Authorization:"), Shape("no Referer with -e", "-e", "http://example.com/", "-H", "Referer:"),
        Shape("fields from a file", "-H", "@fields.txt"), Shape("a field with UTF-8", "-H", "X-One: \u00e4"), Shape("a User-Agent", "-A", "mine/1.0"),
        Shape("a Referer", "-e", "http://example.com/"), Shape("Connection: close", "-H", "Connection: close"),
        Shape("-d", "-d", "a=b"), Shape("-d twice", "-d", "a=b", "-d", "c=d"), Shape("-d of nothing", "-d", ""), Shape("-d of a file", "-d", "@lines.txt"),
        Shape("-d from standard input", "-d", "@-", input=b"from\nhere"), Shape("-d with another type", "-d", "{}", "-H", "Content-Type: application/json"),
        Shape("-d with PUT", "-X", "PUT", "-d", "a=b"), Shape("--data-raw", "--data-raw", "@plain.txt"), Shape("--data-binary", "--data-binary", "@lines.txt"),
        Shape("--data-binary of bytes", "--data-binary", "@bytes.bin", "-H", "Expect:"), Shape("--data-binary of an empty file", "--data-binary", "@empty.txt"),
        Shape("--data-binary with GET", "-X", "GET", "--data-binary", "a=b"), Shape("--data-binary with DELETE", "-X", "DELETE", "--data-binary", "a=b"),
        Shape("-G", "-G", "-d", "a=b", "-d", "c=d"), Shape("-G with a query", "-G", "-d", "a=b", path="/start?x=y"),
        Shape("-T", "-T", "plain.txt", path="/there"), Shape("-T to a folder", "-T", "plain.txt", path="/there/"), Shape("-T of an empty file", "-T", "empty.txt", path="/there"),
        Shape("-T of bytes", "-T", "bytes.bin", path="/there"), Shape("-T from standard input", "-T", "-", input=b"from here", path="/there"),
        Shape("-T with POST", "-X", "POST", "-T", "plain.txt", path="/there"), Shape("-T with a type", "-T", "plain.txt", "-H", "Content-Type: text/plain", path="/there"),
        Shape("-u", "-u", "name:password"), Shape("-u without a password", "-u", "name:"), Shape("-u with colons", "-u", "name:pass:word"),
        Shape("-u with UTF-8", "-u", "n\u00e4me:p\u00e4ss"), Shape("--compressed", "--compressed"),
        Shape("--compressed with other codings", "--compressed", "-H", "Accept-Encoding: gzip"), Shape("--http1.1", "--http1.1"),
        Shape("-F", "-F", "a=b", "-H", "Expect:"), Shape("-F of several fields", "-F", "a=b", "-F", "c=d e", "-F", "empty=", "-H", "Expect:"),
        Shape("-F of a file", "-F", "f=@plain.txt", "-H", "Expect:"), Shape("-F of the bytes of a file", "-F", "f=<plain.txt", "-H", "Expect:"),
        Shape("-F with a type and a name", "-F", "f=@bytes.bin;type=image/x-own;filename=other.bin", "-H", "Expect:"),
        Shape("-F of a field with a type", "-F", "f={};type=application/json", "-H", "Expect:"),
        Shape("-F with quotes in the name", "-F", 'a"b=c', "-H", "Expect:"), Shape("-F from standard input", "-F", "f=@-", "-H", "Expect:", input=b"from here"),
        Shape("-F with PUT", "-X", "PUT", "-F", "a=b", "-H", "Expect:"),
        Shape("-b", "-b", "a=b"), Shape("-b twice", "-b", "a=b", "-b", "c=d"), Shape("-b of a file", "-b", "cookies.txt"), Shape("-b with Cookie by hand", "-b", "a=b", "-H", "X-One: 1"),
        Shape("a cookie that is set on the way", "-L", "-b", "", replies=[redirect(302, "{base}/next", "Set-Cookie: way=found; Path=/")]),
        Shape("short options in one", "-sSXPUT", "-da=b"), Shape("short options in one, with a field", "-sSIHX-One: 1"),
        Shape("-f with 404", "-f", replies=[b"HTTP/1.1 404 Lost\r\nContent-Length: 0\r\n\r\n"]),
        Shape("-f with 200", "-f"), Shape("--max-redirs", "-L", "--max-redirs", "1", replies=[redirect(302, "{base}/1"), redirect(302, "{base}/2")]),
        Shape("--digest without a challenge", "--digest", "-u", "name:password"),
        Shape("--digest", "--digest", "-u", "name:password", replies=[b'HTTP/1.1 401 Who\r\nWWW-Authenticate: Digest realm="r", nonce="n"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n']),
        Shape("--retry", "--retry", "2", replies=[b"HTTP/1.1 503 Later\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"]),
        Shape("--data-raw with -G", "-G", "--data-raw", "a=b", path="/start#part"),
        Shape("-T of a name with a blank", "-T", "two words.txt", "-H", "Expect:", path="/there/"),
        Shape("a range by hand", "-H", "Range: bytes=0-9"),
    ]
    for code in (301, 302, 303, 307, 308):
        shapes.append(Shape(f"POST that is redirected by {code}", "-L", "-d", "a=b", replies=[redirect(code)]))
    shapes += [
        Shape("PUT that is redirected by 307", "-L", "-T", "plain.txt", replies=[redirect(307)]),
        Shape("GET that is redirected with fields", "-L", "-H", "X-One: 1", "-u", "name:password", replies=[redirect(302)]),
        Shape("GET that is redirected to another host", "-L", "-H", "X-One: 1", "-u", "name:password", replies=[redirect(302, "{other}/next")]),
        Shape("GET that is redirected to another host, with a Cookie by hand", "-L", "-H", "Cookie: a=b", replies=[redirect(302, "{other}/next")]),
        Shape("GET with a fragment that is redirected", "-L", path="/start#here", replies=[redirect(302)]),
        Shape("no redirect is followed", "--no-location", replies=[redirect(302)]),
        Shape("--max-redirs 0", "-L", "--max-redirs", "0", replies=[redirect(302)], shows=True),
        Shape("--max-redirs 0 without a redirect", "-L", "--max-redirs", "0", shows=True),
    ]
    shapes += option_shapes()
    shapes += [
        Shape(f"-x with --noproxy '{rules}' to {host}", "--noproxy", rules, host=host)
        for rules, host in [
            ("", "a.test"), ("*", "a.test"), ("a.test", "a.test"), ("A.TEST", "a.test"), ("a.test", "b.a.test"), ("a.test", "ba.test"),
            (".a.test", "a.test"), (".a.test", "b.a.test"), ("b.a.test", "a.test"), ("test", "a.test"), ("est", "a.test"), ("x.test,a.test", "a.test"),
            ("x.test a.test", "a.test"), ("x.test, a.test", "a.test"), ("a.test.", "a.test"), ("a.test", "a.test."), ("localhost", "127.0.0.1"),
            ("127.0.0.1", "127.0.0.1"), ("127.0.0.0/8", "127.0.0.1"), ("127.0.0.0/31", "127.0.0.1"), ("127.0.0.2/31", "127.0.0.1"),
            ("10.0.0.0/8", "127.0.0.1"), ("0.0.0.0/0", "127.0.0.1"), ("0.0.0.0/0", "a.test"), ("127.0.0.1/32", "127.0.0.1"), ("0.1", "127.0.0.1"),
            ("::1", "127.0.0.1"), ("127.0.0.1", "a.test"), ("a.test:1", "a.test"), ("{port}", "a.test"),
        ]
    ]
    names = [shape.name for shape in shapes]
    assert len(names) == len(set(names)), "two shapes have one name"
    return shapes
