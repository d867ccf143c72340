internal import FoundationEssentials

/// Joins a base URL, a path and a query as text: an order of magnitude cheaper than `URLComponents`, and it keeps the
/// base's own escapes (`%2F` stays what it is).
enum EndpointURL {
    static func join(
        _ base: URL,
        path: String?,
        parameters: [String: String] = [:],
        queryItems: [URLQueryItem]
    ) throws(HTTP.InvalidValue) -> URL {
        let path = path ?? ""
        if path.isEmpty, parameters.isEmpty, queryItems.isEmpty { return base }
        let bytes = Array(base.absoluteString.utf8)
        let fragment = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.count
        let query = bytes[..<fragment].firstIndex(of: UInt8(ascii: "?")) ?? fragment
        var joined = Array(bytes[..<query])
        joined.reserveCapacity(bytes.count + path.utf8.count + 32)
        if !path.isEmpty || !parameters.isEmpty {
            // With nothing where a host should be, the path's first segment would be it.
            if let colon = joined.firstIndex(of: UInt8(ascii: ":")), joined.count <= colon + 3 {
                throw HTTP.InvalidValue("The endpoint's base URL has no host; it must begin with http://host.")
            }
            if joined.last == UInt8(ascii: "/") { joined.removeLast() }
            if path.utf8.first != UInt8(ascii: "/") { joined.append(UInt8(ascii: "/")) }
            if parameters.isEmpty, !path.utf8.contains(UInt8(ascii: "{")) {
                joined.append(escaping: path, unless: { $0.isPathByte })
            } else {
                try PathTemplate(path, parameters).append(to: &joined)
            }
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
            joined.append(escaping: item.name, unless: isQueryByte)
            guard let value = item.value else { continue }
            joined.append(UInt8(ascii: "="))
            joined.append(escaping: value, unless: isQueryByte)
        }
        joined += bytes[fragment...]
        guard let url = URL(string: String(decoding: joined, as: UTF8.self)) else {
            throw HTTP.InvalidValue("The endpoint's base URL, path and query form no valid URL.")
        }
        return url
    }

    /// What may stand in a name or value unescaped; `+` is escaped because forms read it as a space.
    private static func isQueryByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "&"), UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: ";"), UInt8(ascii: "'"): false
        case UInt8(ascii: "?"): true
        default: byte.isPathByte
        }
    }
}
