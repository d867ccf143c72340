public import FoundationEssentials

extension Network {
    /// How a stack is set up: one value for every backend.
    ///
    /// A backend that cannot do what is asked throws ``HTTP/Refusal/unsupported(_:reason:)`` from its initializer;
    /// nothing is ever ignored.
    public struct Configuration: Sendable {
        /// How many connections are held, and how long.
        public struct Connections: Sendable {
            /// Transfers under way to one host (scheme, name and port) over HTTP/1.1; the rest wait in order. At least 1.
            public var perHost: Int
            /// Transfers under way in all, or `nil` for the backend's own measure. At least 1.
            public var total: Int?
            /// Streams under way on one HTTP/2 connection. At least 1.
            public var streamsPerConnection: Int
            /// How long an unused connection is kept, or `nil` for the backend's own measure. Whole seconds count.
            public var idleAge: Duration?

            /// Makes a set of limits.
            public init(
                perHost: Int = 32,
                total: Int? = nil,
                streamsPerConnection: Int = 100,
                idleAge: Duration? = nil
            ) {
                self.perHost = perHost
                self.total = total
                self.streamsPerConnection = streamsPerConnection
                self.idleAge = idleAge
            }
        }

        /// How every fetch is carried out, unless a resource says otherwise.
        public var options = HTTP.Options()
        /// How many connections are held.
        public var connections = Connections()
        /// Whom the stack trusts.
        public var tls = TLSConfiguration()
        /// The `User-Agent` of requests that name none, or `nil` for none.
        public var userAgent: String? = "NetworkStack/0.1"

        /// Makes the default configuration.
        public init() {}

        /// Refuses what makes no sense.
        ///
        /// - Throws: ``HTTP/Refusal/invalidOptions(_:)``.
        public func validate() throws(HTTP.Refusal) {
            try options.validate()
            let total = connections.total ?? 1
            guard connections.perHost > 0, total > 0, connections.streamsPerConnection > 0 else {
                throw .invalidOptions("A connection limit must be at least 1.")
            }
            if let age = connections.idleAge, age <= .zero {
                throw .invalidOptions("The idle age of connections must be longer than zero.")
            }
            if let userAgent, !HTTP.Headers.isLegal(value: userAgent) {
                throw .invalidOptions("The user agent has a character that no header value may have.")
            }
        }
    }
}

/// Whom a stack trusts when it speaks TLS. Verification cannot be turned off.
public struct TLSConfiguration: Sendable {
    /// The certificate authorities a server's chain must end in.
    public enum TrustRoots: Sendable, Hashable {
        /// Those of the system.
        case system
        /// Those of a PEM file, and no others.
        case file(path: String)
        /// Those of PEM text, and no others.
        case pem(Data)
    }

    /// The certificate authorities a server's chain must end in.
    public var trustRoots = TrustRoots.system

    /// Makes the default: the system's authorities.
    public init() {}
}
