public import FoundationEssentials

extension HTTP {
    /// Scheme, host and port: what must be equal for two URLs to share credentials (RFC 6454).
    ///
    /// It is read from the very text a backend is given, by one small strict reader, so that no two parsers can disagree
    /// about the host.
    public struct Origin: Hashable, Sendable, CustomStringConvertible {
        /// The scheme, http or https.
        public let scheme: Scheme
        /// The host in lower case, an IPv6 address in brackets, one trailing dot removed.
        public let host: String
        /// The port, the scheme's own if the URL names none.
        public let port: Int

        /// The origin of a URL.
        ///
        /// - Parameter url: An absolute http or https URL.
        /// - Throws: ``HTTP/Refusal/invalidRequest(_:)`` with a sentence that says what to change: another scheme, no
        ///   host, a host that is not ASCII (its A-label is asked for) or has illegal characters, a port out of range.
        public init(of url: URL) throws(Refusal) { self = try Target(url).origin }

        /// The origin as it is written in a URL.
        public var description: String {
            port == scheme.defaultPort ? "\(scheme)://\(host)" : "\(scheme)://\(host):\(port)"
        }

        init(scheme: Scheme, host: String, port: Int) {
            self.scheme = scheme
            self.host = host
            self.port = port
        }
    }

    /// A URL, read once: its origin, and its text without user info and fragment.
    struct Target: Sendable {
        let origin: Origin
        let userInfo: String?
        /// What follows the `#`; it is not sent.
        let fragment: String?
        /// The text to give a backend, its scheme in lower case, or `nil` when the URL's own text serves.
        let stripped: String?

        init(_ url: URL) throws(Refusal) {
            let text = url.absoluteString
            let bytes = Array(text.utf8)
            guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else {
                throw .invalidRequest("The URL has no scheme; it must begin with http:// or https://.")
            }
            let scheme = Scheme(rawValue: String(decoding: bytes[..<colon], as: UTF8.self))
            guard let defaultPort = scheme.defaultPort else {
                throw .invalidRequest("The URL's scheme is \(scheme); only http and https can be fetched.")
            }
            guard bytes.count > colon + 2, bytes[colon + 1] == UInt8(ascii: "/"), bytes[colon + 2] == UInt8(ascii: "/")
            else {
                throw .invalidRequest("The URL has no host; it must begin with \(scheme)://host.")
            }
            let start = colon + 3
            let end = bytes[start...].firstIndex(where: \.endsAuthority) ?? bytes.count
            var hostStart = start
            if let at = bytes[start..<end].lastIndex(of: UInt8(ascii: "@")) {
                userInfo = String(decoding: bytes[start..<at], as: UTF8.self)
                hostStart = at + 1
            } else {
                userInfo = nil
            }
            let (host, port) = try Self.hostAndPort(bytes[hostStart..<end])
            origin = Origin(scheme: scheme, host: host, port: port ?? defaultPort)
            let hash = bytes[end...].firstIndex(of: UInt8(ascii: "#"))
            fragment = hash.map { String(decoding: bytes[($0 + 1)...], as: UTF8.self) }
            // A scheme in capitals is legal, and some backend takes it for an unknown one.
            let isLowered = bytes[..<colon].elementsEqual(scheme.rawValue.utf8)
            guard userInfo != nil || hash != nil || !isLowered else {
                stripped = nil
                return
            }
            let rest = bytes[hostStart..<(hash ?? bytes.count)]
            stripped = "\(scheme)://" + String(decoding: rest, as: UTF8.self)
        }

        /// Refuses a host beyond ASCII in a URL's text, before it is parsed: where Foundation is linked its parser knows
        /// IDNA and would change the host, elsewhere it would not.
        static func requireASCIIHost(in text: String) throws(Refusal) {
            let afterScheme =
                text.utf8.first == UInt8(ascii: "/") ? text[...] : text.drop { $0 != "/" && $0 != "?" && $0 != "#" }
            guard afterScheme.hasPrefix("//") else { return }
            let authority = afterScheme.utf8.dropFirst(2).prefix { !$0.endsAuthority }
            let host = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[$0...] } ?? authority
            if host.contains(where: { $0 >= 0x80 }) { throw hostNotASCII }
        }

        static var hostNotASCII: Refusal {
            .invalidRequest("The URL's host is not ASCII; give its A-label (the xn-- form) instead.")
        }

        /// Reads `host[:port]` as it stands in a URL: the host in lower case, an IPv6 address in brackets.
        static func authority(_ text: String) throws(Refusal) -> (host: String, port: Int?) {
            try hostAndPort(Array(text.utf8)[...])
        }

        private static func hostAndPort(_ authority: ArraySlice<UInt8>) throws(Refusal) -> (String, Int?) {
            var hostEnd = authority.endIndex
            var portText: ArraySlice<UInt8>?
            if authority.first == UInt8(ascii: "[") {
                guard let bracket = authority.firstIndex(of: UInt8(ascii: "]")) else {
                    throw .invalidRequest("The URL's IPv6 address has no closing bracket.")
                }
                hostEnd = bracket + 1
                let allowed = authority[(authority.startIndex + 1)..<bracket].allSatisfy {
                    $0.isTokenByte && $0 != UInt8(ascii: "_") || $0 == UInt8(ascii: ":")
                }
                guard allowed, bracket > authority.startIndex + 1 else {
                    throw .invalidRequest("The URL's host is not an IPv6 address.")
                }
                if hostEnd < authority.endIndex {
                    guard authority[hostEnd] == UInt8(ascii: ":") else {
                        throw .invalidRequest("The URL has text between its IPv6 address and its port.")
                    }
                    portText = authority[(hostEnd + 1)...]
                }
            } else if let colon = authority.lastIndex(of: UInt8(ascii: ":")) {
                hostEnd = colon
                portText = authority[(colon + 1)...]
            }
            var name = authority[authority.startIndex..<hostEnd]
            if name.count > 1, name.last == UInt8(ascii: ".") { name = name.dropLast() }
            guard !name.isEmpty, name.first != UInt8(ascii: ".") else {
                throw .invalidRequest("The URL has no host.")
            }
            if name.first != UInt8(ascii: "[") { try check(host: name) }
            return (String(decoding: name.map(\.asciiLowercased), as: UTF8.self), try port(portText))
        }

        private static func check(host: ArraySlice<UInt8>) throws(Refusal) {
            guard host.count <= 253 else { throw .invalidRequest("The URL's host is longer than 253 bytes.") }
            var label = 0
            for byte in host {
                switch byte {
                case UInt8(ascii: "."):
                    guard label > 0 else { throw .invalidRequest("The URL's host has an empty label.") }
                    label = 0
                    continue
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    break
                case UInt8(ascii: "%"), 0x80...:
                    throw hostNotASCII
                default: throw .invalidRequest("The URL's host has a character that no host has.")
                }
                label += 1
                guard label <= 63 else { throw .invalidRequest("The URL's host has a label longer than 63 bytes.") }
            }
        }

        private static func port(_ text: ArraySlice<UInt8>?) throws(Refusal) -> Int? {
            guard let text, !text.isEmpty else { return nil }
            let digits = text.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            guard digits, let port = Int(String(decoding: text, as: UTF8.self)), (1...65535).contains(port) else {
                throw .invalidRequest("The URL's port is not a number from 1 to 65535.")
            }
            return port
        }
    }
}
