/// The answer of a handler of `ScriptedServer.responding`: exact bytes, then steps.
///
/// Nothing is added to the bytes (no Date, no Server). ``body`` is not sent in an answer to HEAD.
public struct Reply: Sendable {
    /// The status line and fields with the blank line; empty if the reply has steps only.
    public var head: [UInt8]
    /// The body as sent, with its chunk framing, if any.
    public var body: [UInt8]
    /// The steps after the bytes; if empty, the next request is served.
    public var steps: [ScriptedServer.Step]

    /// Makes a reply of a head, a body and the steps after them.
    public init(head: [UInt8], body: [UInt8], steps: [ScriptedServer.Step] = []) {
        self.head = head
        self.body = body
        self.steps = steps
    }

    /// A reply with Content-Length and a text body.
    public static func ok(_ body: String = "", headers: [(name: String, value: String)] = []) -> Reply {
        .status(200, body, headers: headers)
    }

    /// A reply with Content-Length and a body of bytes.
    public static func ok(bytes: [UInt8], headers: [(name: String, value: String)] = []) -> Reply {
        .status(200, bytes: bytes, headers: headers)
    }

    /// A JSON reply with status 200.
    public static func json(_ text: String, headers: [(name: String, value: String)] = []) -> Reply {
        .ok(text, headers: [("Content-Type", "application/json")] + headers)
    }

    /// A reply with the status code, Content-Length (not for 204, 304) and a text body.
    public static func status(_ code: Int, _ body: String = "", headers: [(name: String, value: String)] = []) -> Reply
    {
        .status(code, bytes: Array(body.utf8), headers: headers)
    }

    /// A reply with the status code, Content-Length (not for 204, 304) and a body of bytes.
    public static func status(_ code: Int, bytes: [UInt8], headers: [(name: String, value: String)] = []) -> Reply {
        let length = code == 204 || code == 304 ? [] : [(name: "Content-Length", value: String(bytes.count))]
        return Reply(head: head(code, length + headers), body: bytes)
    }

    /// A redirect with an empty body.
    ///
    /// `location` is sent as it is.
    public static func redirect(_ code: Int = 302, to location: String) -> Reply {
        .status(code, headers: [("Location", location)])
    }

    /// A chunked reply, one chunk per piece, with trailers. Empty pieces are omitted, because they would end the body.
    public static func chunked(
        _ pieces: [String],
        status code: Int = 200,
        headers: [(name: String, value: String)] = [],
        trailers: [(name: String, value: String)] = []
    ) -> Reply {
        var body = ""
        for piece in pieces where !piece.isEmpty {
            body += String(piece.utf8.count, radix: 16) + "\r\n" + piece + "\r\n"
        }
        body += "0\r\n" + trailers.map { "\($0.name): \($0.value)\r\n" }.joined() + "\r\n"
        return Reply(head: head(code, [("Transfer-Encoding", "chunked")] + headers), body: Array(body.utf8))
    }

    /// Exactly these bytes.
    public static func raw(_ text: String) -> Reply { Reply(head: Array(text.utf8), body: []) }

    /// Exactly these bytes.
    public static func raw(_ bytes: [UInt8]) -> Reply { Reply(head: bytes, body: []) }

    /// Steps only.
    public static func steps(_ steps: [ScriptedServer.Step]) -> Reply { Reply(head: [], body: [], steps: steps) }

    /// The same bytes, then these steps.
    public func then(_ steps: ScriptedServer.Step...) -> Reply {
        Reply(head: head, body: body, steps: self.steps + steps)
    }

    /// All bytes of the reply in order.
    public var bytes: [UInt8] { head + body }

    private static func head(_ code: Int, _ fields: [(name: String, value: String)]) -> [UInt8] {
        let lines = fields.map { "\($0.name): \($0.value)\r\n" }.joined()
        return Array("HTTP/1.1 \(code) \(reasons[code] ?? "Status \(code)")\r\n\(lines)\r\n".utf8)
    }

    private static let reasons: [Int: String] = [
        200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 206: "Partial Content",
        301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified", 307: "Temporary Redirect",
        308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
        407: "Proxy Authentication Required", 408: "Request Timeout", 416: "Range Not Satisfiable",
        421: "Misdirected Request", 429: "Too Many Requests", 500: "Internal Server Error", 502: "Bad Gateway",
        503: "Service Unavailable", 504: "Gateway Timeout",
    ]
}
