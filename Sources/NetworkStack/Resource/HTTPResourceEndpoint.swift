public import FoundationEssentials

/// An API's endpoint: what its requests are made of. An enum with a case per endpoint reads best.
public protocol HTTPResourceEndpoint: Sendable {
    /// The method.
    var method: HTTP.Method { get }
    /// The URL the path is joined to. Its query, if any, comes before the endpoint's.
    var baseURL: URL { get }
    /// The path as decoded text, joined with exactly one `/`; `nil` adds nothing. What a path may not hold is escaped.
    var path: String? { get }
    /// The query's items, in order, repeated names kept; `nil` and `[]` add nothing.
    var queryItems: [URLQueryItem]? { get }
    /// The header fields.
    var headers: HTTP.Headers? { get }

    /// Makes the content.
    ///
    /// - Throws: Whatever making it throws; the fetch then ends with `noRequest`.
    func makeBody() throws -> HTTP.Body

    /// Makes the request.
    ///
    /// - Throws: ``HTTP/Refusal/invalidRequest(_:)`` if no URL comes of the parts, or what ``makeBody()`` throws.
    func makeRequest() throws -> HTTP.Request
}

extension HTTPResourceEndpoint {
    /// No path beyond the base URL's.
    public var path: String? { nil }
    /// No query beyond the base URL's.
    public var queryItems: [URLQueryItem]? { nil }
    /// No header fields.
    public var headers: HTTP.Headers? { nil }

    /// No content.
    public func makeBody() throws -> HTTP.Body { .none }

    /// Joins the parts.
    public func makeRequest() throws -> HTTP.Request {
        HTTP.Request(
            method: method,
            url: try EndpointURL.join(baseURL, path: path, queryItems: queryItems ?? []),
            headers: headers ?? [:],
            body: try makeBody()
        )
    }
}

/// Joins a base URL, a path and a query as text: an order of magnitude cheaper than `URLComponents`, and it keeps the
/// base's own escapes (`%2F` stays what it is).
enum EndpointURL {
    static func join(_ base: URL, path: String?, queryItems: [URLQueryItem]) throws(HTTP.Refusal) -> URL {
        if path?.isEmpty ?? true, queryItems.isEmpty { return base }
        let bytes = Array(base.absoluteString.utf8)
        let fragment = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.count
        let query = bytes[..<fragment].firstIndex(of: UInt8(ascii: "?")) ?? fragment
        var joined = Array(bytes[..<query])
        joined.reserveCapacity(bytes.count + (path?.utf8.count ?? 0) + 32)
        if let path, !path.isEmpty {
            if joined.last == UInt8(ascii: "/") { joined.removeLast() }
            if path.utf8.first != UInt8(ascii: "/") { joined.append(UInt8(ascii: "/")) }
            escape(path, allowing: isPathByte, into: &joined)
        }
        var separator = UInt8(ascii: "?")
        if query < fragment {
            joined += bytes[query..<fragment]
            separator = UInt8(ascii: "&")
            if query + 1 == fragment {
                joined.removeLast()
                separator = UInt8(ascii: "?")
            }
        }
        for item in queryItems {
            joined.append(separator)
            separator = UInt8(ascii: "&")
            escape(item.name, allowing: isQueryByte, into: &joined)
            guard let value = item.value else { continue }
            joined.append(UInt8(ascii: "="))
            escape(value, allowing: isQueryByte, into: &joined)
        }
        joined += bytes[fragment...]
        guard let url = URL(string: String(decoding: joined, as: UTF8.self)) else {
            throw .invalidRequest("No URL comes of the endpoint's base URL, path and query.")
        }
        return url
    }

    private static func escape(_ text: String, allowing isAllowed: (UInt8) -> Bool, into bytes: inout [UInt8]) {
        for byte in text.utf8 {
            if isAllowed(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)]
            }
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 48 + value : 55 + value }

    /// RFC 3986 `pchar`, and the slash that parts segments.
    private static func isPathByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "/"), UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "("), UInt8(ascii: ")"),
            UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="):
            true
        case UInt8(ascii: "%"), UInt8(ascii: "#"), UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "|"): false
        default: byte.isTokenByte
        }
    }

    /// What may stand in a name or value unescaped; `+` is escaped because forms read it as a space.
    private static func isQueryByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "&"), UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: ";"), UInt8(ascii: "'"): false
        case UInt8(ascii: "?"): true
        default: isPathByte(byte)
        }
    }
}
