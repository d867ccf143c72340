extension HTTP {
    /// Something that a stack can or cannot do.
    public struct Capability: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The capability's name, as it follows "a stack does not support".
        public let rawValue: String

        /// Makes a capability.
        ///
        /// - Parameter rawValue: The capability's name, as it follows "a stack does not support".
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The capability's name.
        public var description: String { rawValue }

        /// Sockets and servers; a stack without them answers from memory.
        public static let network = Capability(rawValue: "a network")
        /// HTTP/2, negotiated over TLS and multiplexed.
        public static let http2 = Capability(rawValue: "HTTP/2")
        /// HTTP/2 without TLS, by prior knowledge.
        public static let http2PriorKnowledge = Capability(rawValue: "HTTP/2 by prior knowledge")
        /// A timeout for opening the connection.
        public static let connectTimeout = Capability(rawValue: "a connect timeout")
        /// A timeout for the wait in the stack's queue.
        public static let queueTimeout = Capability(rawValue: "a queue timeout")
        /// A limit of connections over all hosts.
        public static let totalConnectionLimit = Capability(rawValue: "a total connection limit")
        /// An age from which an idle connection is not used.
        public static let idleConnectionAge = Capability(rawValue: "an age limit for idle connections")
        /// A limit of a connection's lifetime, even if it is in use.
        public static let connectionLifetime = Capability(rawValue: "a lifetime of connections")
        /// A limit of the HTTP/2 streams to one host.
        public static let streamsPerConnection = Capability(rawValue: "a limit of streams per connection")
        /// Ending an attempt to connect whose fetch was cancelled or timed out.
        public static let endedAttempts = Capability(rawValue: "ending attempts to connect")
        /// Sockets that a child process does not inherit (`FD_CLOEXEC`).
        public static let closesOnExec = Capability(rawValue: "sockets that child processes do not inherit")
        /// Not using a connection after the time for which its server keeps it (`Keep-Alive: timeout=5`).
        public static let keepAliveTimeouts = Capability(rawValue: "Keep-Alive timeouts of servers")
        /// A request that is not idempotent is not repeated when its keep-alive connection dies, unless no part of it was sent.
        public static let idempotentRetriesOnly = Capability(rawValue: "repeats of idempotent requests alone")
        /// Connections that are opened before they are needed.
        public static let preconnection = Capability(rawValue: "connections opened in advance")
        /// Proxies that the caller chooses.
        public static let proxies = Capability(rawValue: "proxies")
        /// Connections over a Unix domain socket.
        public static let unixSockets = Capability(rawValue: "Unix domain sockets")
        /// Addresses and destinations that replace a DNS lookup.
        public static let hostOverrides = Capability(rawValue: "host overrides")
        /// A choice between IPv4 and IPv6.
        public static let addressFamily = Capability(rawValue: "a choice of the address family")
        /// A choice of the local interface, address or port.
        public static let localAddress = Capability(rawValue: "a choice of the local address")
        /// A choice of how long resolved addresses are cached.
        public static let dnsCacheAge = Capability(rawValue: "an age limit for looked-up addresses")
        /// A choice of HTTP/1.1 where the server supports HTTP/2.
        public static let versionChoice = Capability(rawValue: "a choice of the HTTP version")
        /// Well-known methods in lower case, such as `get`, which is another method than `GET`.
        public static let caseSensitiveMethods = Capability(rawValue: "well-known methods in another case")
        /// A body that waits for 100 Continue.
        public static let expectContinue = Capability(rawValue: "a body that waits for 100 Continue")
        /// A limit of how much a compressed body may expand.
        public static let decompressionRatio = Capability(rawValue: "a limit of the decompression ratio")
        /// Certificate authorities other than the system's.
        public static let customTrustRoots = Capability(rawValue: "custom trust roots")
        /// Public-key pinning (``Network/Configuration/serverTrust``).
        public static let publicKeyPinning = Capability(rawValue: "public-key pinning")
        /// Reporting a server's public keys (``HTTP/Options/collectsServerPins``).
        public static let serverPins = Capability(rawValue: "the server's public keys")
        /// Client certificates (``Network/TLSConfiguration/clientIdentity``).
        public static let clientCertificates = Capability(rawValue: "client certificates")
        /// A choice of the TLS versions (``Network/TLSConfiguration/minimumVersion``).
        public static let tlsVersions = Capability(rawValue: "a choice of TLS versions")
        /// TLS without verification, for tests (``Network/TLSConfiguration/Verification/disabledForTesting``).
        public static let unverifiedTLS = Capability(rawValue: "TLS without verification")
        /// Refusing a certificate that names its host in the subject only (``Network/TLSConfiguration/acceptsCommonNames``).
        public static let alternativeNames = Capability(rawValue: "refusing names in a certificate's subject")
        /// TLS failures that describe the fault of the certificate.
        public static let tlsFailureDetail = Capability(rawValue: "TLS failures in detail")
        /// A request body with a method that usually has none, such as GET.
        public static let bodyWithAnyMethod = Capability(rawValue: "a body with any method")
        /// A request body that is sent while it is produced.
        public static let streamedRequestBody = Capability(rawValue: "a streamed request body")
        /// Response trailers.
        public static let trailers = Capability(rawValue: "trailers")
        /// Fields that follow a request's body (``HTTP/Body/Trailers``).
        public static let requestTrailers = Capability(rawValue: "request trailers")
        /// Informational (1xx) responses, reported to a callback.
        public static let informationalResponses = Capability(rawValue: "informational responses")
        /// Decompressing bodies, at least gzip and deflate.
        public static let decompression = Capability(rawValue: "decompression")
        /// Turning decompression off.
        public static let disablingDecompression = Capability(rawValue: "bodies as they were sent")
        /// Delivering a body in an unknown coding as it was sent (``HTTP/Options/passesUnknownCodings``).
        public static let unknownCodings = Capability(rawValue: "bodies in unknown codings")
        /// Paths with the segments `.` and `..` (``HTTP/Options/pathAsIs``).
        public static let pathAsIs = Capability(rawValue: "paths as they are")
        /// Header lines in order, with repeated lines kept apart.
        public static let headerOrder = Capability(rawValue: "header lines in order")
        /// Accepting responses that violate minor rules, as other clients do: bare line feeds, folded lines, a carriage return or
        /// Latin-1 in a value, equal Content-Lengths, a Content-Length beside chunks, data after the end of gzip.
        public static let nonconformingHeads = Capability(rawValue: "lenient response heads")
        /// Times of each phase.
        public static let phaseMetrics = Capability(rawValue: "metrics of each phase")
        /// Events of connections and of the steps to them (``EventListener``), and facts about them (``HTTP/Metrics/connection``).
        public static let connectionEvents = Capability(rawValue: "events of connections")
        /// URLs whose host is an IPv6 address.
        public static let ipv6Literals = Capability(rawValue: "IPv6 addresses in URLs")
        /// Back-pressure: a slow reader slows the server.
        public static let backPressure = Capability(rawValue: "back-pressure")
        /// A limit of the response head's length.
        public static let headLimit = Capability(rawValue: "a head limit")
        /// A `Host` header that differs from the URL.
        public static let hostHeader = Capability(rawValue: "a Host header of one's own")
        /// Digest authentication (RFC 7616).
        public static let digestAuthentication = Capability(rawValue: "Digest authentication")
        /// Detecting every reply that is cut short or violates HTTP, in its head, framing, coding or HTTP/2 frames.
        public static let strictReplies = Capability(rawValue: "strict checks of replies")
    }

    /// What a stack can do here, and the reason for each thing that it cannot.
    public struct Capabilities: Sendable, CustomStringConvertible {
        private var reasons: [Capability: String]

        /// The published vulnerabilities of the library below, in the version that the process runs with. A distribution may have
        /// corrected them without another version number. Listeners get them once, when the stack is made
        /// (``EventListener/advisoriesFound(_:)``).
        public let advisories: [Advisory]

        /// Makes a report.
        ///
        /// - Parameters:
        ///   - unsupported: What the stack cannot do, with the reasons, in sentences. It can do everything else.
        ///   - advisories: The vulnerabilities of the library below.
        public init(unsupported: [Capability: String] = [:], advisories: [Advisory] = []) {
            (reasons, self.advisories) = (unsupported, advisories)
        }

        /// Returns whether the stack can do this.
        ///
        /// - Parameter capability: The capability.
        /// - Returns: Whether the stack can do it.
        public func supports(_ capability: Capability) -> Bool { reasons[capability] == nil }

        /// Returns the reason why the stack cannot do this, in a sentence, or `nil` if it can.
        ///
        /// - Parameter capability: The capability.
        /// - Returns: The reason, or `nil`.
        public func reason(against capability: Capability) -> String? { reasons[capability] }

        /// Everything that the stack cannot do, with the reasons.
        public var unsupported: [Capability: String] { reasons }

        /// Refuses what the stack cannot do.
        ///
        /// - Parameter capability: The capability that is needed.
        /// - Throws: ``Network/ConfigurationError/unsupported(_:reason:)``.
        public func require(_ capability: Capability) throws(Network.ConfigurationError) {
            if let reason = reasons[capability] { throw .unsupported(capability, reason: reason) }
        }

        /// Refuses proxies, addresses, and ages of connections that the stack cannot follow.
        func requireConnections(of configuration: Network.Configuration) throws(Network.ConfigurationError) {
            let standard = Network.Configuration.Addresses()
            let addresses = configuration.addresses
            if configuration.connections.idleAge != nil { try require(.idleConnectionAge) }
            if configuration.connections.lifetime != nil { try require(.connectionLifetime) }
            if configuration.proxies != .none { try require(.proxies) }
            if addresses == standard { return }
            if addresses.unixSocket != nil { try require(.unixSockets) }
            if !addresses.hostOverrides.isEmpty || !addresses.reroutes.isEmpty { try require(.hostOverrides) }
            if addresses.family != standard.family || addresses.happyEyeballsDelay != standard.happyEyeballsDelay {
                try require(.addressFamily)
            }
            if addresses.interface != nil || addresses.localAddress != nil || addresses.localPorts != nil {
                try require(.localAddress)
            }
            if addresses.dnsCacheAge != standard.dnsCacheAge { try require(.dnsCacheAge) }
        }

        /// What the stack cannot do, one line each.
        public var description: String {
            reasons.map { "without \($0.key): \($0.value)" }.sorted().joined(separator: "\n")
        }
    }
}
