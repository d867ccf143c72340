public import FoundationEssentials

extension HTTP {
    /// Scheme, host and port (RFC 6454). URLs share credentials only if their origins are equal.
    ///
    /// One strict parser reads it from the very text that a backend gets, so that no two parsers can disagree about the host.
    public struct Origin: Hashable, Sendable, CustomStringConvertible {
        /// The scheme, http or https.
        public let scheme: Scheme
        /// The host in lower case, an IPv6 address in brackets, without a final dot.
        public let host: String
        /// The port; the scheme's default if the URL has none.
        public let port: Int
        /// Whether the host was written with a final dot. It is then another host: search domains do not apply to it.
        let isAbsolute: Bool

        /// Parses the origin of a URL.
        ///
        /// - Parameter url: An absolute http or https URL.
        /// - Throws: ``HTTP/InvalidValue``, whose reason describes what to change: another scheme, no host, a host with illegal
        ///   characters or without A-labels, a port out of range, more than 65,536 bytes.
        public init(of url: URL) throws(HTTP.InvalidValue) { self = try Target(url).origin }

        /// The origin as written in a URL.
        public var description: String {
            "\(scheme)://\(host)\(isAbsolute ? "." : "")\(port == scheme.defaultPort ? "" : ":\(port)")"
        }

        init(scheme: Scheme, host: String, port: Int, isAbsolute: Bool) {
            (self.scheme, self.host, self.port, self.isAbsolute) = (scheme, host, port, isAbsolute)
        }
    }

    /// A parsed `host[:port]`: the host in lower case, an IPv6 address in brackets, without one final dot.
    struct Authority {
        let host: String
        let port: Int?
        /// Whether there was a final dot.
        let isAbsolute: Bool
    }

    /// A URL, parsed once: its origin, and its text without user info and fragment.
    struct Target: Sendable {
        let origin: Origin
        let userInfo: String?
        /// The text after `#`; it is not sent.
        let fragment: String?
        /// The text for a backend, its scheme in lower case; `nil` if the URL's text can be used.
        let stripped: String?

        init(_ url: URL) throws(HTTP.InvalidValue) {
            var text = url.absoluteString
            // A URL that is too long is not parsed.
            guard text.utf8.count <= URLText.limit else { throw HTTP.InvalidValue(URLText.Fault.tooLong.reason) }
            text.makeContiguousUTF8()
            let bytes = text.utf8.span
            guard let colon = bytes.firstIndex(of: UInt8(ascii: ":"), in: bytes.indices) else {
                throw HTTP.InvalidValue("The URL has no scheme; it must begin with http:// or https://.")
            }
            let scheme = try Self.scheme(bytes, 0..<colon)
            guard bytes.count > colon + 2, bytes[colon + 1] == UInt8(ascii: "/"), bytes[colon + 2] == UInt8(ascii: "/")
            else {
                throw HTTP.InvalidValue("The URL has no host; it must begin with \(scheme)://host.")
            }
            let start = colon + 3
            let end = (start..<bytes.count).first { bytes[$0].endsAuthority } ?? bytes.count
            var hostStart = start
            if let at = bytes.lastIndex(of: UInt8(ascii: "@"), in: start..<end) {
                userInfo = try Self.userInfo(bytes, start..<at)
                hostStart = at + 1
            } else {
                userInfo = nil
            }
            let place = hostStart..<end
            // Escapes in a name mean their bytes (RFC 3986 section 3.2.2), and backends do not decode them. In an IPv6 address
            // they belong to its zone, and stay.
            let isEscaped =
                bytes.firstIndex(of: UInt8(ascii: "%"), in: place) != nil && bytes[hostStart] != UInt8(ascii: "[")
            let unescaped = isEscaped ? try Self.unescaped(bytes.text(place)) : nil
            let named =
                if let unescaped { try Self.authority(unescaped) } else { try Self.authority(bytes, place) }
            origin = Origin(
                scheme: scheme,
                host: named.host,
                port: named.port ?? scheme.defaultPort ?? 0,
                isAbsolute: named.isAbsolute
            )
            let hash = bytes.firstIndex(of: UInt8(ascii: "#"), in: end..<bytes.count)
            fragment = hash.map { bytes.text(($0 + 1)..<bytes.count) }
            // A scheme in capitals is legal, but unknown to some backend.
            let isLowered = (0..<colon).allSatisfy { bytes[$0].asciiLowercased == bytes[$0] }
            guard userInfo != nil || hash != nil || !isLowered || isEscaped else {
                stripped = nil
                return
            }
            let authority = unescaped ?? bytes.text(place)
            stripped = "\(scheme)://" + authority + bytes.text(end..<(hash ?? bytes.count))
        }

        /// A host and port without escapes. The decoded bytes are checked like any other, and not decoded again.
        private static func unescaped(_ authority: String) throws(HTTP.InvalidValue) -> String {
            let end = authority.lastIndex(of: ":") ?? authority.endIndex
            guard let host = authority[..<end].utf8.percentDecoded else {
                throw HTTP.InvalidValue("The URL's host has an invalid percent-encoding.")
            }
            // These would make it an address, or end it.
            guard host.allSatisfy({ !"[:".utf8.contains($0) }) else {
                throw HTTP.InvalidValue("The URL's host has an escaped character that no host has.")
            }
            let name = String(decoding: host, as: UTF8.self)
            guard let ascii = DomainName.ascii(name) else { throw HTTP.InvalidValue(URLText.Fault.host.reason) }
            return ascii + authority[end...]
        }

        /// User info on which all parsers agree. In a `URL`, a backslash was escaped; an unescaped one ends the authority for
        /// some parsers.
        private static func userInfo(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(HTTP.InvalidValue) -> String {
            let userInfo = bytes.text(range)
            guard !userInfo.utf8.contains(UInt8(ascii: "@")), !userInfo.asciiLowercased.contains("%5c") else {
                throw HTTP.InvalidValue(
                    "The URL's user info has a backslash or an @; set an Authorization field instead."
                )
            }
            return userInfo
        }

        private static func scheme(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(HTTP.InvalidValue) -> Scheme {
            let isHTTP =
                range.count >= 4 && bytes[0] | 0x20 == UInt8(ascii: "h") && bytes[1] | 0x20 == UInt8(ascii: "t")
                && bytes[2] | 0x20 == UInt8(ascii: "t") && bytes[3] | 0x20 == UInt8(ascii: "p")
            if isHTTP, range.count == 4 { return .http }
            if isHTTP, range.count == 5, bytes[4] | 0x20 == UInt8(ascii: "s") { return .https }
            let scheme = Scheme(rawValue: bytes.text(range))
            throw HTTP.InvalidValue("The URL's scheme is \(scheme); only http:// and https:// can be fetched.")
        }

        /// Parses `host[:port]` of a URL: the host in lower case, an IPv6 address in brackets.
        static func authority(_ text: String) throws(HTTP.InvalidValue) -> Authority {
            var text = text
            text.makeContiguousUTF8()
            let bytes = text.utf8.span
            return try authority(bytes, bytes.indices)
        }

        private static func authority(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(HTTP.InvalidValue) -> Authority
        {
            var hostEnd = range.upperBound
            var portStart: Int?
            let isAddress = !range.isEmpty && bytes[range.lowerBound] == UInt8(ascii: "[")
            if isAddress {
                guard let bracket = bytes.firstIndex(of: UInt8(ascii: "]"), in: range) else {
                    throw HTTP.InvalidValue("The URL's IPv6 address has no closing bracket.")
                }
                hostEnd = bracket + 1
                let allowed = (range.lowerBound + 1..<bracket).allSatisfy {
                    bytes[$0].isTokenByte && bytes[$0] != UInt8(ascii: "_") || bytes[$0] == UInt8(ascii: ":")
                }
                // The longest address has 45 bytes; a zone may follow it.
                guard allowed, 2...253 ~= bracket - range.lowerBound else {
                    throw HTTP.InvalidValue("The URL's host is not an IPv6 address.")
                }
                if hostEnd < range.upperBound {
                    guard bytes[hostEnd] == UInt8(ascii: ":") else {
                        throw HTTP.InvalidValue("The URL has text between its IPv6 address and its port.")
                    }
                    portStart = hostEnd + 1
                }
            } else if let colon = bytes.lastIndex(of: UInt8(ascii: ":"), in: range) {
                hostEnd = colon
                portStart = colon + 1
            }
            var host = range.lowerBound..<hostEnd
            let isAbsolute = host.count > 1 && bytes[hostEnd - 1] == UInt8(ascii: ".")
            if isAbsolute { host = host.lowerBound..<(hostEnd - 1) }
            guard !host.isEmpty, bytes[host.lowerBound] != UInt8(ascii: ".") else {
                throw HTTP.InvalidValue("The URL has no host.")
            }
            if !isAddress { try check(host: bytes, host) }
            let text = bytes.text(host).asciiLowercased
            if isAddress, IPAddress(text) == nil {
                throw HTTP.InvalidValue("The URL's host is not an IPv6 address.")
            }
            let port = try port(bytes, (portStart ?? range.upperBound)..<range.upperBound)
            return Authority(host: text, port: port, isAbsolute: isAbsolute)
        }

        private static func check(host bytes: Span<UInt8>, _ range: Range<Int>) throws(HTTP.InvalidValue) {
            guard range.count <= 253 else { throw HTTP.InvalidValue("The URL's host is longer than 253 bytes.") }
            var label = 0
            for index in range {
                switch bytes[index] {
                case UInt8(ascii: "."):
                    guard label > 0 else { throw HTTP.InvalidValue("The URL's host has an empty label.") }
                    label = 0
                    continue
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    break
                case 0x80...: throw HTTP.InvalidValue(URLText.Fault.host.reason)
                default: throw HTTP.InvalidValue("The URL's host has a character that no host has.")
                }
                label += 1
                guard label <= 63 else { throw HTTP.InvalidValue("The URL's host has a label longer than 63 bytes.") }
            }
            if label == 0 { throw HTTP.InvalidValue("The URL's host ends in an empty label.") }
        }

        private static func port(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(HTTP.InvalidValue) -> Int? {
            if range.isEmpty { return nil }
            var port = 0
            for index in range {
                let digit = Int(bytes[index]) - 0x30
                port = (0...9).contains(digit) && port <= 65535 ? port * 10 + digit : .max
                if port == .max { break }
            }
            guard (1...65535).contains(port) else {
                throw HTTP.InvalidValue("The URL's port is not a number from 1 to 65535.")
            }
            return port
        }
    }
}

extension Span<UInt8> {
    fileprivate func firstIndex(of byte: UInt8, in range: Range<Int>) -> Int? { range.first { self[$0] == byte } }

    fileprivate func lastIndex(of byte: UInt8, in range: Range<Int>) -> Int? { range.last { self[$0] == byte } }

    /// A part as text; all bytes came from a text.
    func text(_ range: Range<Int>) -> String {
        guard let piece = try? UTF8Span(validating: extracting(range)) else { return "" }
        return String(copying: piece)
    }
}

extension HTTP {
    /// A URL scheme.
    public struct Scheme: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The scheme in lower case.
        public let rawValue: String

        /// Makes a scheme.
        ///
        /// - Parameter rawValue: The scheme; its letters become lower case (RFC 3986 section 3.1).
        public init(rawValue: String) { self.rawValue = rawValue.lowercased() }

        /// The scheme in lower case.
        public var description: String { rawValue }

        /// HTTP without TLS.
        public static let http = Scheme(rawValue: "http")
        /// HTTP over TLS.
        public static let https = Scheme(rawValue: "https")

        /// The port of a URL without a port, if the scheme is known.
        public var defaultPort: Int? {
            switch self {
            case .http: 80
            case .https: 443
            default: nil
            }
        }
    }
}
