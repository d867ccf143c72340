extension HTTP {
    /// A connection to a server or to a proxy. Requests that share a connection have the same object.
    public final class Connection: Sendable {
        /// Identifies the connection in the process.
        public let id: Int
        /// The address of the other end: the server's or the proxy's. `nil` over a Unix socket, or if the stack does not know it.
        public let remoteAddress: String?
        /// The port of the other end.
        public let remotePort: Int?
        /// The address of this end.
        public let localAddress: String?
        /// The port of this end.
        public let localPort: Int?
        /// What TLS negotiated; `nil` without TLS, or if the stack does not know it.
        public let tls: NegotiatedTLS?
        package let openedAt = MonotonicTime.now

        private static let lastID = Lock(0)

        /// Describes a connection that was opened just now.
        ///
        /// - Parameters:
        ///   - remoteAddress: The address of the other end.
        ///   - remotePort: The port of the other end.
        ///   - localAddress: The address of this end.
        ///   - localPort: The port of this end.
        ///   - tls: What TLS negotiated.
        public init(
            remoteAddress: String? = nil,
            remotePort: Int? = nil,
            localAddress: String? = nil,
            localPort: Int? = nil,
            tls: NegotiatedTLS? = nil
        ) {
            id = Self.lastID.withLock { last in
                last += 1
                return last
            }
            (self.remoteAddress, self.remotePort) = (remoteAddress, remotePort)
            (self.localAddress, self.localPort) = (localAddress, localPort)
            self.tls = tls
        }

        /// Why a connection was closed.
        @nonexhaustive
        public enum CloseReason: String, Hashable, Sendable {
            /// The server, or the proxy, closed it.
            case remote
            /// The server ended it with GOAWAY (RFC 9113 section 6.8).
            case goAway
            /// The stack closed it: a fetch on it was cancelled or failed, it was idle or old, or there were too many.
            case local
        }
    }

    /// What the handshake of TLS came to.
    public struct NegotiatedTLS: Sendable, Hashable {
        /// The version, such as `TLSv1.3`.
        public var version: String
        /// The cipher suite, such as `TLS_AES_256_GCM_SHA384`.
        public var cipher: String?
        /// The protocol that ALPN selected (RFC 7301), such as `h2`; `nil` if none was selected.
        public var applicationProtocol: String?
        /// The group of the key exchange, such as `X25519`, if it is known.
        public var group: String?
        /// Whether an earlier session was resumed.
        public var isResumed: Bool

        /// Makes a description.
        ///
        /// - Parameters:
        ///   - version: The version.
        ///   - cipher: The cipher suite.
        ///   - applicationProtocol: The protocol that ALPN selected.
        ///   - group: The group of the key exchange.
        ///   - isResumed: Whether an earlier session was resumed.
        public init(
            version: String,
            cipher: String? = nil,
            applicationProtocol: String? = nil,
            group: String? = nil,
            isResumed: Bool = false
        ) {
            (self.version, self.cipher, self.applicationProtocol) = (version, cipher, applicationProtocol)
            (self.group, self.isResumed) = (group, isResumed)
        }
    }
}

extension HTTP.Connection: Hashable, CustomStringConvertible {
    /// Whether both are the same connection.
    public static func == (left: HTTP.Connection, right: HTTP.Connection) -> Bool { left === right }

    /// Hashes the identifier.
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }

    /// The identifier and the two ends: `connection 3, 127.0.0.1:50514 to 127.0.0.1:443, TLSv1.3`.
    public var description: String {
        let end = { (address: String?, port: Int?) in
            address.map { "\($0.contains(":") ? "[\($0)]" : $0)\(port.map { ":\($0)" } ?? "")" } ?? "unknown"
        }
        return "connection \(id), \(end(localAddress, localPort)) to \(end(remoteAddress, remotePort))"
            + (tls.map { ", \($0.version)" } ?? "")
    }
}

/// A connection that carries a hop.
struct ConnectionUse {
    let connection: HTTP.Connection
    /// Whether it was open already.
    let isReused: Bool
    /// How long it had been open.
    let age: Duration

    init(_ connection: HTTP.Connection, isReused: Bool, now: MonotonicTime) {
        (self.connection, self.isReused) = (connection, isReused)
        age = now - connection.openedAt
    }
}
