extension HTTP {
    /// The cost of a fetch: times, bytes, and its connection. Figures are those of the last hop, unless stated otherwise.
    public struct Metrics: Sendable, Hashable {
        /// The wait for a connection, its own or one that another transfer opens to the host.
        public var queue: Duration?
        /// From the start of the transfer until the name was resolved; `nil` on a connection that was open already.
        public var resolved: Duration?
        /// From the start of the transfer until the connection was open; `nil` on one that was open already.
        public var connected: Duration?
        /// From the start of the transfer until TLS was negotiated; `nil` on a connection that was open already, or without TLS.
        public var secured: Duration?
        /// From the start of the transfer until the response's first byte.
        public var firstByte: Duration?
        /// From the call of `fetch` until the response was complete; for a stream, until its head. It includes all hops, earlier
        /// attempts and delays.
        public var total: Duration = .zero
        /// Bytes of the request's body that were sent.
        public var bytesSent: Int64 = 0
        /// Bytes of the response's body as received, before decompression.
        public var bytesReceived: Int64 = 0
        /// Bytes of the response's head, if known.
        public var headBytesReceived: Int64?
        /// The server's address, without the port.
        public var remoteAddress: String?
        /// The server's port.
        public var remotePort: Int?
        /// Whether the connection was open already; `nil` if the stack does not know.
        public var isConnectionReused: Bool?
        /// How often the stack itself sent the request again, because a keep-alive connection died without an answer, or the
        /// server did not process the request. `nil` if nothing was sent, or if the stack does not count. Retries of a policy are
        /// separate attempts.
        public var resends: Int?
        /// The public keys of the verified chain, the server's first and the root's last. They are collected if the server is
        /// pinned, or if ``HTTP/Options/collectsServerPins`` is set. `nil` over http, and on a connection that another fetch
        /// opened by resuming a TLS session, which shows no certificates.
        public var serverPins: [PublicKeyPin]?
        /// The pinned key that was found among them, the first in the configuration's checking order.
        public var matchedPin: PublicKeyPin?
        /// How many requests were sent: one more than the redirects that were followed.
        public var hopCount: Int = 1

        /// Makes empty metrics.
        public init() {}

        /// Adds the figures of the whole fetch to those of its last hop.
        mutating func complete(redirects: Int, after total: Duration) {
            (hopCount, self.total) = (redirects + 1, total)
        }
    }
}
