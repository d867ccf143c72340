import NetworkStack
import NetworkStackTesting

extension Pair {
    /// A pair for each feature of a response that affects its connection, its body or its end. Both sides send the same request,
    /// so a difference in a later fetch was left by the response.
    static let ofAnswers: [Pair] =
        [
            ("an answer of HTTP/1.0", Reply.raw("HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nold")),
            ("an answer that is the last on its connection", .ok("last", headers: [("Connection", "close")])),
            ("an answer whose connection is kept for no time", .ok("once", headers: [("Keep-Alive", "timeout=0")])),
            ("an answer whose connection is kept for long", .ok("kept", headers: [("Keep-Alive", "timeout=60")])),
            ("an answer in chunks", .chunked(["in ", "chunks"])),
            ("an answer without a length", Reply.raw("HTTP/1.1 200 OK\r\n\r\nup to the end").then(.close)),
            ("an answer without content", .status(204)),
            ("an answer that is cut short", Reply.raw("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\ncut").then(.close)),
            ("an answer with a broken length", .raw("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nlong")),
            (
                "an informational answer before the answer",
                .raw(
                    "HTTP/1.1 103 Early Hints\r\nKeep-Alive: timeout=0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate"
                )
            ),
            ("an answer of a server that fails", .status(500, "failed")),
            ("an answer that asks for credentials", .status(401, headers: [("WWW-Authenticate", "Basic realm=\"r\"")])),
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
                name: "a coding of the answer",
                needs: [.network, .decompression],
                sharesResource: true,
                answer: { _, side, _ in
                    side == .with ? .ok(bytes: Compressed.gzip, headers: [("Content-Encoding", "gzip")]) : .ok("usual")
                }
            )
        ]
}
