internal import FoundationEssentials

/// The host, path and scheme of a request, which decide about its cookies.
struct CookieScope {
    let host: String
    let path: String
    let isSecure: Bool

    /// Makes the scope of a URL.
    ///
    /// - Throws: ``HTTP/InvalidValue`` if it is not an http or https URL.
    init(_ url: URL) throws(HTTP.InvalidValue) {
        self.init(origin: try HTTP.Origin(of: url), urlText: url.absoluteString)
    }

    init(origin: HTTP.Origin, urlText: String) {
        host = origin.isAbsolute ? origin.host + "." : origin.host
        isSecure = origin.scheme == .https
        let authority =
            urlText.utf8.firstRange(of: "://".utf8).map { urlText.utf8[$0.upperBound...] } ?? urlText.utf8[...]
        let rest = authority.drop { !$0.endsAuthority }
        let path = rest.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        // The path as it is sent, without dot segments.
        self.path = path.isEmpty ? "/" : String(decoding: Array(path)[...].withoutDotSegments, as: UTF8.self)
    }

    /// The path of a cookie without one: up to the last slash (section 5.1.4).
    var defaultPath: String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    /// Whether a cookie is sent to this host, path and scheme.
    func matches(_ cookie: HTTP.Cookie) -> Bool {
        let isItsHost = cookie.isHostOnly ? host == cookie.domain : Self.domain(cookie.domain, matches: host)
        return isItsHost && (isSecure || !cookie.isSecure) && Self.path(cookie.path, matches: path)
    }

    /// Whether a host is a domain or below it (section 5.1.3).
    static func domain(_ domain: String, matches host: String) -> Bool {
        if host == domain { return true }
        return host.hasSuffix(domain) && host.utf8.dropLast(domain.utf8.count).last == UInt8(ascii: ".")
            && !isAddress(host)
    }

    /// Whether a path is a cookie's or below it (section 5.1.4).
    static func path(_ path: String, matches requested: String) -> Bool {
        guard requested.hasPrefix(path) else { return false }
        if requested.utf8.count == path.utf8.count || path.hasSuffix("/") { return true }
        return requested.utf8.dropFirst(path.utf8.count).first == UInt8(ascii: "/")
    }

    /// Whether a host is an address: it is in brackets, or its last label is a number in any form that resolvers read.
    static func isAddress(_ host: String) -> Bool {
        if host.hasPrefix("[") { return true }
        let last = host.utf8.split(separator: UInt8(ascii: ".")).last ?? host.utf8[...]
        if last.starts(with: "0x".utf8) { return true }
        return last.allSatisfy(\.isDigit)
    }
}
