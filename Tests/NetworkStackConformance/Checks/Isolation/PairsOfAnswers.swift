import NetworkStack
import NetworkStackTesting

extension Pair {
    /// A pair for each feature of a response that affects its connection, its body or its end. Both sides send the same request,
    /// so a difference in a later fetch was left by the response.
    static let ofAnswers: [Pair] =
        [
            ("an HTTP/1.0 response", Reply.raw("HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nold")),
            ("a response with Connection: close", .ok("last", headers: [("Connection", "close")])),
            ("a Keep-Alive timeout of zero", .ok("once", headers: [("Keep-Alive", "timeout=0")])),
            ("a long Keep-Alive timeout", .ok("kept", headers: [("Keep-Alive", "timeout=60")])),
            ("a chunked response", .chunked(["in ", "chunks"])),
            ("a response without a length", Reply.raw("HTTP/1.1 200 OK\r\n\r\nup to the end").then(.close)),
            ("a response without a body", .status(204)),
            ("a truncated response", Reply.raw("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\ncut").then(.close)),
            ("a response with a broken length", .raw("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nlong")),
            (
                "an informational response",
                .raw(
                    "HTTP/1.1 103 Early Hints\r\nKeep-Alive: timeout=0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate"
                )
            ),
            ("a server error response", .status(500, "failed")),
            ("a response with a challenge", .status(401, headers: [("WWW-Authenticate", "Basic realm=\"r\"")])),
        ]
        .map { name, reply in
            Pair(
                name: name,
                needs: [.network],
                sharesResource: true,
                answer: { _, side, _ in side == .with ? reply : .ok("usual") }
            )
        }
        + [
            Pair(
                name: "a content coding",
                needs: [.network, .decompression],
                sharesResource: true,
                answer: { _, side, _ in
                    side == .with ? .ok(bytes: Compressed.gzip, headers: [("Content-Encoding", "gzip")]) : .ok("usual")
                }
            )
        ]
}
