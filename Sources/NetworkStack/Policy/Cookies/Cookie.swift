public import FoundationEssentials

extension HTTP {
    /// A cookie in a jar (RFC 6265bis section 5.7). `SameSite` is ignored: it is about requests from other sites, which only
    /// browsers have.
    public struct Cookie: Hashable, Sendable {
        /// The longest name and value together, in bytes.
        private static let longestPair = 4096

        /// The name; empty for a cookie that has only a value.
        public let name: String
        /// The value.
        public let value: String
        /// The cookie's host, in lower case and without a leading dot.
        public let domain: String
        /// Whether it is sent to that host only, not to hosts below it.
        public let isHostOnly: Bool
        /// The path at and below which it is sent.
        public let path: String
        /// When it expires, or `nil` for a session cookie.
        public internal(set) var expires: Date?
        /// Whether it is sent over https only.
        public let isSecure: Bool
        /// Whether scripts must not read it.
        public let isHTTPOnly: Bool

        /// Makes a cookie.
        ///
        /// - Parameters:
        ///   - name: The name: no `=` or `;`, no control character except the tab, no blank at its ends.
        ///   - value: The value: the same, but `=` is allowed if there is a name. Name and value together have 1 to 4096 bytes.
        ///   - domain: The cookie's host.
        ///   - isHostOnly: Whether it is sent to that host only.
        ///   - path: The path at and below which it is sent; it begins with `/` and has no control character except the tab.
        ///   - expires: When it expires, or `nil` for a session cookie.
        ///   - isSecure: Whether it is sent over https only.
        ///   - isHTTPOnly: Whether scripts must not read it.
        /// - Throws: ``HTTP/InvalidValue``, whose reason describes what to change.
        public init(
            name: String,
            value: String,
            domain: String,
            isHostOnly: Bool = true,
            path: String = "/",
            expires: Date? = nil,
            isSecure: Bool = false,
            isHTTPOnly: Bool = false
        ) throws(HTTP.InvalidValue) {
            // A cookie without a name is sent as its value; with an `=` in it, that would be another cookie.
            guard Self.isLegal(name), Self.isLegal(value), !name.utf8.contains(UInt8(ascii: "=")),
                !name.isEmpty || !value.isEmpty && !value.utf8.contains(UInt8(ascii: "=")),
                name.utf8.count + value.utf8.count <= Self.longestPair
            else {
                throw HTTP.InvalidValue(
                    """
                    A cookie's name and value have 1 to \(Self.longestPair) bytes together, no control characters but the \
                    tab, no ';' and no blanks around them, and the name has no '=', nor has the value of one without a name.
                    """
                )
            }
            guard path.hasPrefix("/"), HTTP.Headers.isLegal(value: path) else {
                throw HTTP.InvalidValue("A cookie's path begins with '/' and has no control characters but the tab.")
            }
            guard let named = try? HTTP.Target.authority(domain), named.port == nil, !domain.hasSuffix(":"),
                case let host = named.host + (named.isAbsolute ? "." : ""), host == domain.lowercased()
            else { throw HTTP.InvalidValue("A cookie's domain is a host's name alone, such as example.com.") }
            (self.name, self.value, self.domain, self.path) = (name, value, host, path)
            (self.isHostOnly, self.isSecure, self.isHTTPOnly) = (isHostOnly, isSecure, isHTTPOnly)
            self.expires = expires
        }

        /// The pair as in a `Cookie` field.
        var pair: String { name.isEmpty ? value : "\(name)=\(value)" }

        /// Whether the cookie satisfies the rules of its name's prefix, `__Secure-` or `__Host-` (RFC 6265bis section 4.1.3).
        var keepsPrefix: Bool {
            if begins(with: "__secure-") { return isSecure && !name.isEmpty }
            if hasHostPrefix { return isSecure && isHostOnly && path == "/" && !name.isEmpty }
            return true
        }

        /// Whether the name has the prefix `__Host-`.
        var hasHostPrefix: Bool { begins(with: "__host-") }

        private func begins(with prefix: String) -> Bool {
            (name.isEmpty ? value : name).prefix(9).lowercased().utf8.starts(with: prefix.utf8)
        }

        private static func isLegal(_ text: String) -> Bool {
            let blanks = [UInt8(ascii: " "), UInt8(ascii: "\t")]
            return text.utf8.allSatisfy { $0.isValueByte && $0 != UInt8(ascii: ";") }
                && !blanks.contains(text.utf8.first ?? 0) && !blanks.contains(text.utf8.last ?? 0)
        }
    }
}

extension HTTP.Cookie: CustomStringConvertible {
    /// The cookie without its secret value.
    public var description: String { "\(name)=<redacted>; Domain=\(domain); Path=\(path)" }
}

extension HTTP.Cookie: CustomReflectable {
    /// The cookie without its secret value.
    public var customMirror: Mirror { Mirror(self, children: ["cookie": description]) }
}
