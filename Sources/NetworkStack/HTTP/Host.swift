public import FoundationEssentials

extension HTTP {
    /// A server's name or address, with an optional port.
    ///
    /// Define the servers of an app once:
    ///
    ///     extension HTTP.Host {
    ///         static let graph: Self = "graph.microsoft.com"
    ///         static let local: Self = "localhost:8080"
    ///     }
    public struct Host: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// The name in lower case; an IPv6 address is in brackets.
        public let name: String
        /// The port, or `nil` for the scheme's default.
        public let port: Int?

        /// Makes a host.
        ///
        /// - Parameters:
        ///   - name: A name, an IPv4 address, or an IPv6 address with or without brackets. Anything else is refused when a URL is
        ///     made.
        ///   - port: The port, or `nil` for the scheme's default.
        public init(_ name: String, port: Int?) {
            let lowered = name.asciiLowercased
            let isBareIPv6 = !lowered.hasPrefix("[") && lowered.utf8.count { $0 == UInt8(ascii: ":") } > 1
            self.name = isBareIPv6 ? "[\(lowered)]" : lowered
            self.port = port
        }

        /// Makes a host.
        ///
        /// - Parameter text: A name or address, optionally with a colon and a port: `api.example.com`, `localhost:8080`,
        ///   `[::1]:80`.
        public init(_ text: String) {
            guard let colon = text.lastIndex(of: ":"), case let digits = text[text.index(after: colon)...],
                !digits.hasPrefix("+"), let port = Int(digits),
                !text[..<colon].contains(":") || text[..<colon].hasSuffix("]")
            else {
                self.init(text, port: nil)
                return
            }
            self.init(String(text[..<colon]), port: port)
        }

        /// Makes a host.
        ///
        /// - Parameter value: A name or address, optionally with a colon and a port.
        public init(stringLiteral value: String) { self.init(value) }

        /// The host as written in a URL.
        public var description: String { port.map { "\(name):\($0)" } ?? name }

        /// The URL of this host's root.
        ///
        /// - Parameter scheme: The scheme, http or https.
        /// - Returns: The URL; it ends with a slash.
        /// - Throws: ``HTTP/InvalidValue``, whose reason describes what to change: another scheme, no host, a host with illegal
        ///   characters or without A-labels, a port out of range.
        public func url(_ scheme: Scheme) throws(HTTP.InvalidValue) -> URL {
            guard scheme == .http || scheme == .https else {
                throw HTTP.InvalidValue("The scheme is \(scheme); only http:// and https:// can be fetched.")
            }
            // A slash, for example, would make a legal host with another name.
            guard name.utf8.allSatisfy({ !"/?#@\\".utf8.contains($0) }) else {
                throw HTTP.InvalidValue("The host has a character that no host has.")
            }
            if let port, !(1...65535).contains(port) {
                throw HTTP.InvalidValue("The port \(port) is not from 1 to 65535.")
            }
            let url: URL
            do { url = try URLText.url("\(scheme)://\(self)/") } catch { throw HTTP.InvalidValue(error.reason) }
            _ = try Target(url)
            return url
        }
    }
}
