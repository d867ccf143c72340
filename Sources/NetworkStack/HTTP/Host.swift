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
        /// The host as written in a URL: in lower case, an IPv6 address in brackets.
        public let description: String

        /// Makes a host. What is no host is refused when a URL is made.
        ///
        /// - Parameters:
        ///   - name: A name, an IPv4 address, or an IPv6 address with or without brackets.
        ///   - port: The port, or `nil` for the scheme's default.
        public init(_ name: String, port: Int?) {
            let host = Self(name).description
            description = port.map { "\(host):\($0)" } ?? host
        }

        /// Makes a host. What is no host is refused when a URL is made.
        ///
        /// - Parameter text: A name or address, optionally with a colon and a port: `api.example.com`, `localhost:8080`,
        ///   `[::1]:80`.
        public init(_ text: String) {
            let lowered = text.asciiLowercased
            let isBareIPv6 = !lowered.hasPrefix("[") && lowered.utf8.count { $0 == UInt8(ascii: ":") } > 1
            description = isBareIPv6 ? "[\(lowered)]" : lowered
        }

        /// Makes a host.
        ///
        /// - Parameter value: A name or address, optionally with a colon and a port.
        public init(stringLiteral value: String) { self.init(value) }

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
            guard description.utf8.allSatisfy({ !"/?#@\\".utf8.contains($0) }) else {
                throw HTTP.InvalidValue("The host has a character that no host has.")
            }
            let url: URL
            do { url = try URLText.url("\(scheme)://\(self)/") } catch {
                let isReadable = error != .notURL
                throw HTTP.InvalidValue(isReadable ? error.reason : "\(self) is no host with a port from 1 to 65535.")
            }
            _ = try Target(url)
            return url
        }
    }
}
