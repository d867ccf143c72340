extension Network {
    /// A proxy.
    ///
    ///     let proxy = try Network.Proxy("http://user:secret@proxy.example:3128")
    ///
    /// An HTTP or HTTPS proxy gets an `http` request in absolute form (RFC 9112 section 3.2.2), and an `https` request through a
    /// `CONNECT` tunnel (RFC 9110 section 9.3.6). The proxy's credentials and ``headers`` are never sent through the tunnel. The
    /// proxy can read an `http` request with all its fields, but not what goes through the tunnel.
    public struct Proxy: Sendable, Hashable {
        /// The protocol of the proxy. The raw values are the schemes of proxy URLs, as in curl.
        public enum Scheme: String, Sendable, Hashable, CaseIterable {
            /// HTTP without TLS.
            case http
            /// HTTP over TLS. The proxy's certificate is verified like an origin's.
            case https
            /// SOCKS 4: IPv4 addresses, resolved here.
            case socks4
            /// SOCKS 4a: the proxy resolves names.
            case socks4a
            /// SOCKS 5 (RFC 1928): names are resolved here.
            case socks5
            /// SOCKS 5: the proxy resolves names, so no DNS query leaves this machine.
            case socks5h

            /// Whether the proxy speaks HTTP.
            public var isHTTP: Bool { self == .http || self == .https }

            /// The port of a proxy URL without one, as in curl: 443 for `https`, otherwise 1080.
            public var defaultPort: Int { self == .https ? 443 : 1080 }
        }

        /// The protocol of the proxy.
        public let scheme: Scheme
        /// The proxy's name or address in lower case, an IPv6 address in brackets.
        public let host: String
        /// The proxy's port.
        public let port: Int
        /// The credentials for the proxy: Basic with an HTTP proxy (RFC 7617), name and password with SOCKS 5 (RFC 1929), a user
        /// identifier with SOCKS 4.
        public var credentials: HTTP.Credentials?
        /// Whether `http` requests use a tunnel, too (`CURLOPT_HTTPPROXYTUNNEL`). Has no effect with SOCKS.
        public var tunnelsHTTP = false
        /// Fields for an HTTP proxy only, in `CONNECT` or in a request in absolute form (`CURLOPT_PROXYHEADER`).
        public var headers: HTTP.Headers = [:]

        /// Makes a proxy.
        ///
        /// - Parameters:
        ///   - scheme: The protocol of the proxy.
        ///   - host: Its name or address, an IPv6 address in brackets.
        ///   - port: Its port, or `nil` for the scheme's default.
        ///   - credentials: The credentials for the proxy, if it needs them.
        /// - Throws: ``HTTP/InvalidValue``, whose reason describes what to change.
        public init(
            _ scheme: Scheme,
            host: String,
            port: Int? = nil,
            credentials: HTTP.Credentials? = nil
        ) throws(HTTP.InvalidValue) {
            let authority = port.map { "\(host):\($0)" } ?? host
            (self.host, self.port) = try Self.read(authority, scheme)
            self.scheme = scheme
            self.credentials = credentials
            try validate()
        }

        /// Parses a proxy's URL, as in `socks5h://user:secret@127.0.0.1:1080`.
        ///
        /// - Parameter url: `[scheme://][user[:password]@]host[:port][/]`, of at most 65,536 bytes. Without a scheme it is an
        ///   HTTP proxy. Credentials are percent-decoded; empty ones count as none.
        /// - Throws: ``HTTP/InvalidValue``, whose reason describes what to change.
        public init(_ url: String) throws(HTTP.InvalidValue) {
            guard url.utf8.count <= URLText.limit else { throw Self.refusal(URLText.Fault.tooLong.reason) }
            var rest = url[...]
            var scheme = Scheme.http
            if let mark = rest.firstRange(of: "://") {
                guard let known = Scheme(rawValue: rest[..<mark.lowerBound].lowercased()) else {
                    throw HTTP.InvalidValue(
                        "A proxy's scheme is one of \(Scheme.allCases.map(\.rawValue).joined(separator: ", "))."
                    )
                }
                scheme = known
                rest = rest[mark.upperBound...]
            }
            let end = rest.utf8.firstIndex(where: \.endsAuthority) ?? rest.endIndex
            guard ["", "/"].contains(rest[end...]) else {
                throw HTTP.InvalidValue("A proxy's URL has no path, no query and no fragment.")
            }
            rest = rest[..<end]
            do { rest = try URLText.asciiAuthority(rest.utf8).map { $0[...] } ?? rest } catch {
                throw Self.refusal(error.reason)
            }
            var credentials: HTTP.Credentials?
            if let at = rest.lastIndex(of: "@") {
                let parts = rest[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                guard let user = Self.percentDecoded(parts[0]),
                    let password = parts.count > 1 ? Self.percentDecoded(parts[1]) : ""
                else { throw HTTP.InvalidValue("The proxy's credentials are not percent-encoded text.") }
                if !user.isEmpty || !password.isEmpty { credentials = HTTP.Credentials(user: user, password: password) }
                rest = rest[rest.index(after: at)...]
            }
            (host, port) = try Self.read(String(rest), scheme)
            self.scheme = scheme
            self.credentials = credentials
            try validate()
        }

        private static func percentDecoded(_ text: Substring) -> String? {
            text.utf8.percentDecoded.flatMap { String(validating: $0, as: UTF8.self) }
        }

        /// The host and port of an authority, read by the parser of URLs.
        private static func read(_ authority: String, _ scheme: Scheme) throws(HTTP.InvalidValue) -> (String, Int) {
            do {
                let named = try HTTP.Target.authority(authority)
                return (named.host, named.port ?? scheme.defaultPort)
            } catch {
                throw refusal(error.description)
            }
        }

        /// The error for an invalid URL of a proxy.
        private static func refusal(_ reason: String) -> HTTP.InvalidValue {
            .init(reason.replacing("The URL", with: "The proxy"))
        }

        /// Refuses what cannot be sent to a proxy.
        func validate() throws(HTTP.InvalidValue) {
            if let credentials {
                guard credentials.isLegal else {
                    throw HTTP.InvalidValue("The proxy's credentials have a control character.")
                }
                if scheme.isHTTP, credentials.user.utf8.contains(UInt8(ascii: ":")) {
                    throw HTTP.InvalidValue("A user's name with a colon cannot be sent to an HTTP proxy (RFC 7617).")
                }
                if scheme == .socks5 || scheme == .socks5h {
                    guard credentials.user.utf8.count < 256, credentials.password.utf8.count < 256 else {
                        throw HTTP.InvalidValue(
                            "A SOCKS 5 proxy takes names and passwords of up to 255 bytes (RFC 1929)."
                        )
                    }
                }
            }
            guard headers.isEmpty || scheme.isHTTP else {
                throw HTTP.InvalidValue("A SOCKS proxy takes no header fields.")
            }
            for field in headers {
                guard HTTP.Headers.isLegal(name: field.name.rawValue), HTTP.Headers.isLegal(value: field.value) else {
                    throw HTTP.InvalidValue("A header field for the proxy has a character that no field may have.")
                }
            }
        }
    }
}

extension Network.Proxy {
    /// The proxy's name in a TLS handshake; `nil` for an address.
    package var serverName: String? { CanonicalHost(host: host).serverName }
}

extension Network.Proxy: CustomStringConvertible {
    /// The proxy's URL without its credentials.
    public var description: String { "\(scheme.rawValue)://\(host):\(port)" }
}

extension Network.Proxy: CustomReflectable {
    /// The proxy's URL without its credentials, so that a dump shows none.
    public var customMirror: Mirror { Mirror(self, children: ["url": description]) }
}
