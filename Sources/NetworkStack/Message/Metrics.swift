extension HTTP {
    /// What a fetch took: times, bytes, and the connection it went over. Figures are of the last hop unless said otherwise.
    public struct Metrics: Sendable, Hashable {
        /// The wait for a place among the connections, or for the one that is just being opened to the host and may serve.
        public var queue: Duration?
        /// From the start of the transfer until the name was looked up; `nil` if the connection was open already.
        public var resolved: Duration?
        /// From the start of the transfer until the connection was open; `nil` if it was already.
        public var connected: Duration?
        /// From the start of the transfer until TLS was negotiated; `nil` if the connection was open already, or has none.
        public var secured: Duration?
        /// From the start of the transfer until the response's first byte.
        public var firstByte: Duration?
        /// From the call of `fetch` until this response had come, or its head if its content is streamed: all hops, and of a
        /// fetch that was tried again the earlier attempts and the delays, too.
        public var total: Duration = .zero
        /// Bytes of content sent.
        public var bytesSent: Int64 = 0
        /// Bytes of content received, as they travelled (before decompression).
        public var bytesReceived: Int64 = 0
        /// Bytes of the response's head, if known.
        public var headBytesReceived: Int64?
        /// The server's address, without the port.
        public var remoteAddress: String?
        /// The server's port.
        public var remotePort: Int?
        /// Whether a connection that was open already was used; `nil` if the stack cannot tell.
        public var isConnectionReused: Bool?
        /// How often the stack sent the request again by itself, because a kept connection died without an answer, or its server
        /// did not process the request; `nil` if nothing was sent, or the stack does not count. What a retry policy sends again
        /// is another attempt.
        public var resends: Int?
        /// The public keys of the certificates that the server was verified by, its own first and the root's last: told if the
        /// server's keys are pinned, or ``HTTP/Options/collectsServerPins`` asks. Then it is `nil` over http, where certificates
        /// are not verified, and if the connection is one that another fetch, which did not ask, opened by resuming a session of
        /// TLS: that shows no certificates.
        public var serverPins: [PublicKeyPin]?
        /// The pinned key that was found among them, the first in the configuration's checking order.
        public var matchedPin: PublicKeyPin?
        /// How many requests were sent: one more than the redirects followed.
        public var hopCount: Int = 1

        /// Makes metrics with nothing measured.
        public init() {}

        /// Adds what is of the whole fetch to the figures of its last hop.
        mutating func complete(redirects: Int, after total: Duration) {
            (hopCount, self.total) = (redirects + 1, total)
        }
    }
}
