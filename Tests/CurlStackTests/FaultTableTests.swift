import NetworkStackConformance
import Testing

/// The faults of libcurl 7.88, of servers and of networks that the checks reproduce.
@Suite("The table of faults")
struct FaultTableTests {
    /// Each fault, with the checks that reproduce it.
    private static let checks: [String: [String]] = [
        // libcurl 7.88 reports these replies as a success, or goes on with them in a wrong way.
        "The server ends the connection within the head: a failure.": [
            "A head cut after its status line fails",
            "A head cut within its status line fails",
            "A head cut within a field fails",
            "A head cut before its blank line fails",
            "A head cut short over TLS fails",
        ],
        "The server breaks HTTP/2 within the content and closes: a failure.": [
            "Content over HTTP/2 whose connection ends is not whole",
            "Content without a length that DATA on a stream that nobody opened cuts short over HTTP/2 is not whole",
        ],
        "The server breaks HTTP/2 within the content and does not close: a failure, in time.": [
            "A connection error over HTTP/2 whose connection stays open does not last for ever"
        ],
        "The server ends TLS without close_notify, and nothing else delimits the content: a failure.": [
            "Content whose TLS connection was cut off is not whole"
        ],
        "The server announces a length of 2^63 or more: a failure.": [
            "A Content-Length of 2^63 is refused",
            "A Content-Length of twenty-five digits is refused",
            "A length near 2^63 that never comes is not taken for whole, and fills no memory",
        ],
        "The server announces two lengths, or one that is no number: a failure.": [
            "Two different Content-Lengths are refused",
            "A list of different Content-Lengths is refused",
            "A Content-Length with a sign is refused",
            "Content is not longer than a Content-Length with a space before its colon says",
        ],
        "The server truncates compressed content, and its length is right: a failure.": [
            "Truncated gzip is a failure",
            "gzip without its checksum is a failure",
            "Truncated deflate is a failure",
        ],
        "The server sends GOAWAY before it has processed the stream: a success.": [
            "What a server did not deal with before its farewell is sent again"
        ],
        "The server answers, and resets the upload's stream with NO_ERROR: a success.": [
            "An answer that is whole before the upload has ended is the answer",
            "An answer of known length over HTTP/2 ends the upload that it does not wait for",
        ],
        "The server redirects a POST by 301, 302 or 303: a GET without content.": [
            "A 301 turns POST into GET, without content",
            "A 302 turns POST into GET, without content",
            "A 303 turns POST into GET, without content",
        ],
        "The server sends ten thousand fields: a failure, in time.": [
            "Ten thousand header fields over HTTP/2 are refused, and do not hang"
        ],
        // Other faults on the way to a response.
        "No server listens, answers or has that name.": [
            "Addresses that lead nowhere are passed over at once, like those that take no connection",
            "A port where nobody listens fails to connect, and can be tried again",
            "The connect timeout ends an attempt that nobody answers",
            "A name that does not exist fails to resolve",
        ],
        "A name lookup hangs.": [
            "One hanging name lookup delays no other transfer",
            "A connect timeout in a name lookup comes in time",
        ],
        "One family of addresses does not answer.": [
            "An address that does not answer does not hold up the other family's"
        ],
        "A keep-alive connection dies when it is used again.": [
            "A GET is sent again if its kept connection died without an answer",
            "A POST is not sent again by itself if its kept connection died without an answer",
        ],
        "The server sends unrequested bytes.": [
            "Bytes that a server sends unasked are nobody's answer",
            "Bytes after the end of an answer are nobody's answer",
            "Bytes that a server sends unasked over a Unix socket are nobody's answer",
        ],
        "The server sends GOAWAY while many fetches are in flight.": [
            "A server that ends its connections after some requests loses none",
            "A server that ends its connections after some requests loses none of many without a length",
        ],
        "The proxy refuses, sends garbage, closes, or is gone.": [
            "A proxy that answers CONNECT with 407 fails the fetch with that status",
            "A proxy that answers CONNECT with bytes without sense fails the fetch as the proxy's",
            "A proxy that closes after CONNECT fails the fetch as the proxy's",
            "A proxy that dies between two requests does not fail the second",
            "What dante's rules deny is the proxy's failure",
        ],
        "A SOCKS proxy wants other credentials, or reaches no server.": [
            "A name and a password that dante does not know are the proxy's failure",
            "A SOCKS 5 proxy that reaches nobody is the proxy's failure",
        ],
        "The proxy refuses a tunnel and sends without end.": [
            "A proxy that answers CONNECT with 407 and never stops holds up no other fetch",
            "A proxy that answers CONNECT with 403 and never stops holds up no other fetch",
        ],
        "A few bytes decompress to very many.": [
            "What is nothing in the end, and much on the way there, holds up no other fetch",
            "What a redirect's content becomes holds up no other fetch",
        ],
        "An upload is cancelled midway.": [
            "A stream whose fetch is cancelled never arrives as if it were whole"
        ],
        "The environment has a proxy that was not asked for, or for other hosts.": [
            "The environment's proxies are used only if they are asked for",
            "Origins that are excepted are reached without the proxy",
        ],
        "Credentials must not reach the wrong server.": [
            "A proxy's credentials open it, and never reach the origin",
            "What an origin is told never reaches the proxy of its tunnel",
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
