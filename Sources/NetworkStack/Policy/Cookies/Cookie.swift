public import FoundationEssentials

extension HTTP {
    /// A cookie, as a jar keeps it (RFC 6265bis section 5.7).
    public struct Cookie: Hashable, Sendable {
        /// Which requests from other sites a cookie goes along with. It is kept, and counts for nothing here: every request
        /// of a client that is no browser is the user's own.
        public enum SameSite: String, Hashable, Sendable {
            /// With none.
            case strict = "Strict"
            /// With those that lead the user to the site.
            case lax = "Lax"
            /// With all.
            case none = "None"
        }

        /// The name; empty for a cookie that is a value alone.
        public let name: String
        /// The value.
        public let value: String
        /// The host it belongs to, in lower case and without a leading dot.
        public let domain: String
        /// Whether it goes to that very host only, and not to the hosts below it.
        public let isHostOnly: Bool
        /// The path at and below which it goes along.
        public let path: String
        /// When it ends, or `nil` if it ends with the session.
        public internal(set) var expires: Date?
        /// Whether it goes over https only.
        public let isSecure: Bool
        /// Whether scripts are to be kept from it.
        public let isHTTPOnly: Bool
        /// Which requests from other sites it goes along with, if it said so.
        public let sameSite: SameSite?

        /// Makes a cookie of one's own.
        ///
        /// - Parameters:
        ///   - name: The name: no control character, `=` or `;`, no blank around it.
        ///   - value: The value: no control character or `;`, no blank around it. Name and value have 1 to 4096 bytes together.
        ///   - domain: The host it belongs to.
        ///   - isHostOnly: Whether it goes to that very host only.
        ///   - path: The path at and below which it goes along; it begins with `/`.
        ///   - expires: When it ends, or `nil` if it ends with the session.
        ///   - isSecure: Whether it goes over https only.
        ///   - isHTTPOnly: Whether scripts are to be kept from it.
        ///   - sameSite: Which requests from other sites it goes along with.
        /// - Throws: ``HTTP/InvalidValue`` with a sentence that says what to change.
        public init(
            name: String,
            value: String,
            domain: String,
            isHostOnly: Bool = true,
            path: String = "/",
            expires: Date? = nil,
            isSecure: Bool = false,
            isHTTPOnly: Bool = false,
            sameSite: SameSite? = nil
        ) throws(HTTP.InvalidValue) {
            guard Self.isLegal(name), Self.isLegal(value), !name.utf8.contains(UInt8(ascii: "=")),
                !name.isEmpty || !value.isEmpty && !value.utf8.contains(UInt8(ascii: "=")),
                name.utf8.count + value.utf8.count <= SetCookie.longestPair
            else {
                throw HTTP.InvalidValue(
                    """
                    A cookie's name and value have 1 to \(SetCookie.longestPair) bytes together, no control characters, no ';' \
                    and no blanks around them, and the name has no '=', nor has the value of one without a name.
                    """
                )
            }
            guard path.hasPrefix("/"), Self.isLegal(path) else {
                throw HTTP.InvalidValue("A cookie's path begins with '/' and has no control characters.")
            }
            let host: String
            do { host = try Origin(of: URL(string: "http://\(domain)/") ?? URL(filePath: "/")).host } catch {
                throw HTTP.InvalidValue("A cookie's domain is a host's name, such as example.com.")
            }
            guard host == domain.lowercased() else {
                throw HTTP.InvalidValue("A cookie's domain is a host's name alone, such as example.com.")
            }
            self.init(
                kept: (name, value),
                domain: host,
                isHostOnly: isHostOnly,
                path: path,
                expires: expires,
                isSecure: isSecure,
                isHTTPOnly: isHTTPOnly,
                sameSite: sameSite
            )
        }

        init(
            kept pair: (name: String, value: String),
            domain: String,
            isHostOnly: Bool,
            path: String,
            expires: Date?,
            isSecure: Bool,
            isHTTPOnly: Bool,
            sameSite: SameSite?
        ) {
            (name, value) = pair
            self.domain = domain
            self.isHostOnly = isHostOnly
            self.path = path
            self.expires = expires
            self.isSecure = isSecure
            self.isHTTPOnly = isHTTPOnly
            self.sameSite = sameSite
        }

        /// The pair as it stands in a `Cookie` field.
        var pair: String { name.isEmpty ? value : "\(name)=\(value)" }

        /// Whether a browser's promises about names hold: `__Secure-` and `__Host-` (RFC 6265bis section 4.1.3).
        var keepsPrefix: Bool {
            if begins(with: "__secure-") { return isSecure && !name.isEmpty }
            if hasHostPrefix { return isSecure && isHostOnly && path == "/" && !name.isEmpty }
            return true
        }

        /// Whether the name promises that the cookie is of one host alone.
        var hasHostPrefix: Bool { begins(with: "__host-") }

        private func begins(with prefix: String) -> Bool {
            (name.isEmpty ? value : name).prefix(9).lowercased().utf8.starts(with: prefix.utf8)
        }

        private static func isLegal(_ text: String) -> Bool {
            let blanks = [UInt8(ascii: " "), UInt8(ascii: "\t")]
            return text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: ";") }
                && !blanks.contains(text.utf8.first ?? 0) && !blanks.contains(text.utf8.last ?? 0)
        }
    }
}

extension HTTP.Cookie: CustomStringConvertible {
    /// The cookie without its value, which is a secret.
    public var description: String { "\(name)=<redacted>; Domain=\(domain); Path=\(path)" }
}

extension HTTP.Cookie: CustomReflectable {
    /// The cookie without its value, which is a secret.
    public var customMirror: Mirror { Mirror(self, children: ["cookie": description]) }
}
