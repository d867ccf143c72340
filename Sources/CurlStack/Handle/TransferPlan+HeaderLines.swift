internal import NetworkStack

extension TransferPlan {
    /// The header lines of a request without a body and without fields.
    static func standardLines(userAgent: String?, sendsDefaultAccept: Bool, contentCodings: String) -> TextList {
        headerLines(
            of: [:],
            trailers: [],
            content: .none,
            asksFirst: false,
            userAgent: userAgent,
            sendsDefaultAccept: sendsDefaultAccept,
            contentCodings: contentCodings
        )
    }

    static func headerLines(
        of headers: HTTP.Headers,
        trailers: [HTTP.HeaderName],
        content: Content,
        asksFirst: Bool,
        userAgent: String?,
        sendsDefaultAccept: Bool,
        contentCodings: String?
    ) -> TextList {
        let fields = headers.fields
        // Room for the usual fields, and for the few of the stack's own.
        var lines = TextLines(capacity: 64 * (fields.count + 3), count: fields.count + 4)
        var (hasUserAgent, hasAcceptEncoding) = (false, false)
        for field in fields {
            if field.name == .contentLength { continue }
            if field.name == .userAgent { hasUserAgent = true }
            if field.name == .expect, field.asksForContinue { continue }
            if field.name == .acceptEncoding { hasAcceptEncoding = true }
            // TE is for the next hop only (RFC 9110 section 10.1.4).
            let steersTE = field.name == .connection && headers.contains(.te) && field.value.lowercased() != "te"
            lines.append(field.name, steersTE ? "\(field.value), TE" : field.value)
        }
        if headers.contains(.te), !headers.contains(.connection) { lines.append("Connection: TE") }
        if !hasUserAgent, let userAgent { lines.append(.userAgent, userAgent) }
        // A name and a colon keep libcurl from adding its own field.
        if !sendsDefaultAccept, !headers.contains(.accept) { lines.append("Accept:") }
        // A part of compressed content could not be decompressed: a range is one of what is sent (RFC 9110 section 14).
        if !hasAcceptEncoding, let codings = contentCodings.map({ headers.contains(.range) ? "identity" : $0 }) {
            lines.append(.acceptEncoding, codings)
        }
        if !trailers.isEmpty, !headers.contains(.trailer) {
            lines.append(.trailer, trailers.map(\.rawValue).joined(separator: ", "))
        }
        // Otherwise libcurl asks for a 100 that most servers never send, and waits for it.
        if content.isSent { lines.append(asksFirst ? "Expect: 100-continue" : "Expect:") }
        return TextList(lines)
    }
}
