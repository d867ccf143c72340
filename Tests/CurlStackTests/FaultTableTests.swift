import NetworkStackConformance
import Testing

/// The faults of libcurl 7.88, of servers and of networks that the checks reproduce.
@Suite("The table of faults")
struct FaultTableTests {
    /// Each fault, with the checks that reproduce it.
    private static let checks: [String: [String]] = [
        // libcurl 7.88 reports these replies as a success, or handles them wrongly.
        "The server closes the connection within the head: a failure.": [
            "A head cut after its status line fails",
            "A head cut within its status line fails",
            "A head cut within a field fails",
            "A head cut before its blank line fails",
            "A head truncated over TLS fails",
        ],
        "The server breaks HTTP/2 within the body and closes: a failure.": [
            "A body over HTTP/2 whose connection closes is truncated",
            "A body without a length fails after DATA on an unopened stream",
        ],
        "The server breaks HTTP/2 within the body and does not close: a failure, in time.": [
            "An HTTP/2 connection error fails the fetch although the connection stays open"
        ],
        "The server ends TLS without close_notify, and nothing else delimits the body: a failure.": [
            "A body ended by a truncated TLS connection fails"
        ],
        "The server announces a length of 2^63 or more: a failure.": [
            "A Content-Length of 2^63 is refused",
            "A Content-Length of twenty-five digits is refused",
            "A missing body with a length near 2^63 fails, using little memory",
        ],
        "The server announces two lengths, or one that is no number: a failure.": [
            "Two different Content-Lengths are refused",
            "A list of different Content-Lengths is refused",
            "A Content-Length with a sign is refused",
            "A body longer than a Content-Length with a stray space fails",
        ],
        "The server truncates a compressed body, and its length is right: a failure.": [
            "Truncated gzip is a failure",
            "gzip without its checksum is a failure",
            "Truncated deflate is a failure",
        ],
        "The server sends GOAWAY before it has processed the stream: a success.": [
            "A request that GOAWAY excludes is sent again"
        ],
        "The server answers, and resets the upload's stream with NO_ERROR: a success.": [
            "A complete response before the upload's end is delivered",
            "A complete response over HTTP/2 ends the upload it does not need",
        ],
        "The server redirects a POST by 301, 302 or 303: a GET without a body.": [
            "A 301 turns POST into GET, without a body",
            "A 302 turns POST into GET, without a body",
            "A 303 turns POST into GET, without a body",
        ],
        "The server sends ten thousand fields: a failure, in time.": [
            "Ten thousand header fields over HTTP/2 are refused without hanging"
        ],
        // Other faults before a response.
        "No server listens, answers or has that name.": [
            "Unreachable addresses are skipped at once, like refusing ones",
            "A refused connection fails as connect and can be retried",
            "The connect timeout ends an unanswered attempt",
            "A name that does not exist fails to resolve",
        ],
        "A name lookup hangs.": [
            "One hanging name lookup delays no other transfer",
            "A connect timeout during a name lookup fires on time",
        ],
        "One family of addresses does not answer.": [
            "An unresponsive address does not delay the other address family"
        ],
        "A keep-alive connection dies when it is used again.": [
            "A GET is repeated after its keep-alive connection died unanswered",
            "A POST is not repeated after its keep-alive connection died unanswered",
        ],
        "The server sends unrequested bytes.": [
            "Unrequested bytes from a server are not taken as a response",
            "Bytes after the end of a response are not taken as another",
            "Unrequested bytes over a Unix socket are not taken as a response",
        ],
        "The server sends GOAWAY while many fetches are in flight.": [
            "A server's request limit per connection loses no request",
            "A server's request limit per connection loses no body without a length",
        ],
        "The proxy refuses, sends garbage, closes, or is gone.": [
            "A CONNECT response of 407 fails the fetch with that status",
            "A proxy that answers CONNECT with random bytes is a proxy failure",
            "A proxy that closes after CONNECT is a proxy failure",
            "A proxy connection that dies between requests does not fail the second",
            "A denial by dante's rules is a proxy failure",
        ],
        "A SOCKS proxy requires other credentials, or reaches no server.": [
            "Credentials unknown to dante are a proxy failure",
            "A SOCKS 5 proxy that reaches no server is a proxy failure",
        ],
        "The proxy refuses a tunnel and sends without end.": [
            "An endless CONNECT response of 407 delays no other fetch",
            "An endless CONNECT response of 403 delays no other fetch",
        ],
        "A few bytes decompress to very many.": [
            "A nested bomb that decodes to nothing delays no other fetch",
            "A redirect's decompression bomb delays no other fetch",
        ],
        "An upload is cancelled midway.": [
            "A stream of a cancelled fetch never arrives as a whole body"
        ],
        "The environment has a proxy that was not asked for, or for other hosts.": [
            "The environment's proxies are used only on request",
            "Origins on the exception list bypass the proxy",
        ],
        "Credentials must not reach the wrong server.": [
            "A proxy's credentials reach the proxy and never the origin",
            "An origin's fields and credentials never reach the tunnel's proxy",
        ],
    ]

    @Test("names checks that exist, and that the curl stack claims to pass")
    func names() {
        let known = Set(ConformanceCheck.all.filter { CurlConformance.subject.claims($0) }.map(\.name))
        for (fault, checks) in Self.checks {
            for check in checks where !known.contains(check) {
                Issue.record("\(fault) The check \"\(check)\" does not exist.")
            }
        }
    }
}
