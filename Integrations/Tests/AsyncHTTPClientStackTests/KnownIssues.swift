import NetworkStackConformance

extension KnownIssue {
    /// The promises that AsyncHTTPClient breaks, where no stack above it can help. Each fails when it is kept.
    static let all: [KnownIssue] =
        [
            KnownIssue(
                "A body in gzip under its old name is decoded",
                reason: "NIO does not know x-gzip (RFC 9110 section 8.4.1.3).",
                reference: "\(nioExtras)/Sources/NIOHTTPCompression/HTTPDecompression.swift#L87"
            ),
            KnownIssue(
                "gzip of two members is decoded to its end",
                reason: "NIO refuses what follows the first member.",
                reference: "\(nioExtras)/Sources/NIOHTTPCompression/HTTPDecompressor.swift#L192"
            ),
            KnownIssue(
                "A body in chunks with extensions is delivered whole",
                reason: "NIO's parser refuses a blank before the semicolon (RFC 9112 section 7.1.1).",
                reference: "\(nio)/Sources/CNIOLLHTTP/c_nio_llhttp.c#L7065"
            ),
            KnownIssue(
                "Fetches that wait for a failed handshake connect anew",
                reason: "A failed connection fails all requests that wait for one.",
                reference: "\(pool)/HTTPConnectionPool+HTTP1StateMachine.swift#L249"
            ),
            KnownIssue(
                "A head over 64 KiB is refused over HTTP/2, keeping the connection",
                reason: "A head of more than 16 KiB is never sent: NIO writes no CONTINUATION frames.",
                reference: "\(nioHTTP2)/Sources/NIOHTTP2/HTTP2FrameEncoder.swift#L225"
            ),
            KnownIssue(
                "Endless PING acknowledgements over HTTP/2 delay no other fetch",
                reason: "After 200 PING frames NIO reads no more, and the client leaves the connection open.",
                reference: "\(nioHTTP2)/Sources/NIOHTTP2/HTTP2ChannelHandler.swift#L271"
            ),
        ] + emptyOptions

    private static let emptyOptions: [KnownIssue] = [
        "OPTIONS without a body sends no content fields",
        "curl with the exported command sends what the stack sends",
    ].map { check in
        KnownIssue(
            check,
            reason: "Content-Length: 0 is sent with OPTIONS, which expects no content (RFC 9110 section 8.6).",
            reference: "\(client)/RequestValidation.swift#L146"
        )
    }

    private static let client = "https://github.com/swift-server/async-http-client/blob/1.37.0/Sources/AsyncHTTPClient"
    private static let pool = "\(client)/ConnectionPool/State%20Machine"
    private static let nio = "https://github.com/apple/swift-nio/blob/2.101.2"
    private static let nioExtras = "https://github.com/apple/swift-nio-extras/blob/1.35.2"
    private static let nioHTTP2 = "https://github.com/apple/swift-nio-http2/blob/1.46.0"
}
