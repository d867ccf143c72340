extension HTTP {
    /// The cost of a fetch: times, bytes, and its connection. Figures are those of the last hop, unless stated otherwise.
    ///
    /// A failure has what was measured until then (``FetchContext/metrics``); what was not reached is `nil`. Where the stack itself
    /// ends a fetch, as a timeout does, it counts the bytes that it knows of at that moment.
    public struct Metrics: Sendable, Hashable {
        /// The times of the last hop, and of the whole fetch.
        private var times = Times()
        /// Bytes of the request's body that were sent.
        public var bytesSent: Int64 = 0
        /// Bytes of the response's body as received, before decompression. If the stack itself ends the fetch, after it.
        public var bytesReceived: Int64 = 0
        /// Bytes of the response's head, if known.
        public var headBytesReceived: Int64?
        /// The connection that the request was sent on; `nil` if it was sent on none, or if the stack does not know.
        public var connection: Connection?
        /// How long that connection had been open when the request was sent.
        public var connectionAge: Duration?
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
        /// The bytes of the body after decompression, if the stack has decompressed it.
        public var decodedBytes: Int64?
        /// The requests of the last attempt: one more than its redirects. Earlier attempts and ``resends`` do not count.
        public var hopCount: Int = 1
        /// The requests of the fetch before the last one, in order: those that were redirected, and those of earlier attempts.
        public var hops: [EarlierHop] = []

        /// Makes empty metrics.
        public init() {}

        /// The wait for a connection, its own or one that another transfer opens to the host.
        public var queue: Duration? {
            get { times.queue }
            set { times.queue = newValue }
        }

        /// From the start of the transfer until the name was resolved; `nil` on a connection that was open already.
        public var resolved: Duration? {
            get { times.resolved }
            set { times.resolved = newValue }
        }

        /// From the start of the transfer until the connection was open; `nil` on one that was open already.
        public var connected: Duration? {
            get { times.connected }
            set { times.connected = newValue }
        }

        /// From the start of the transfer until TLS was negotiated; `nil` on a connection that was open already, or without TLS.
        public var secured: Duration? {
            get { times.secured }
            set { times.secured = newValue }
        }

        /// From the start of the transfer until the request was sent; `nil` if the stack does not know.
        public var requestSent: Duration? {
            get { times.requestSent }
            set { times.requestSent = newValue }
        }

        /// From the start of the transfer until the response's first byte.
        public var firstByte: Duration? {
            get { times.firstByte }
            set { times.firstByte = newValue }
        }

        /// From the start of the transfer until its end, good or bad; for a stream, until its head.
        public var ended: Duration? {
            get { times.ended }
            set { times.ended = newValue }
        }

        /// The phase in which the transfer ended: `.receiving` for a response.
        public var endedIn: Phase? {
            get { times.endedIn }
            set { times.endedIn = newValue }
        }

        /// From the call of `fetch` until the response was complete; for a stream, until its head. It includes all hops, earlier
        /// attempts and delays.
        public var total: Duration {
            get { times.total }
            set { times.total = newValue }
        }

        /// Adds the figures of the whole fetch to those of its last hop.
        mutating func complete(redirects: Int, after total: Duration) {
            (hopCount, self.total) = (redirects + 1, total)
        }

        /// Adds the connection that the hop has.
        mutating func complete(_ use: ConnectionUse?) {
            guard let use else { return }
            connection = use.connection
            connectionAge = use.age
            isConnectionReused = use.isReused
        }
    }

    /// A request of a fetch that another followed: a redirect, or an attempt that failed.
    public struct EarlierHop: Sendable, Hashable {
        /// The number of the attempt, from 1.
        public var attempt: Int
        /// The method; `nil` if no request was made.
        public var method: Method?
        /// The URL, without user info, query and fragment; `nil` if no request was made.
        public var url: String?
        /// From the call of `fetch` until the request was queued.
        public var start: Duration
        /// The status of the response, if there was one.
        public var status: StatusCode?
        /// The failure, in a sentence without secrets, if the attempt failed.
        public var failure: String?
        /// The name of the failure's case (``HTTPError/caseName``), such as `timedOut`.
        public var failureCase: String?
        /// What was measured of it.
        public var metrics: Metrics

        /// Makes a hop.
        ///
        /// - Parameters:
        ///   - attempt: The number of the attempt, from 1.
        ///   - method: The method.
        ///   - url: The URL, without secrets.
        ///   - start: From the call of `fetch` until the request was queued.
        ///   - status: The status of the response.
        ///   - failure: The failure, without secrets.
        ///   - metrics: What was measured of it.
        public init(
            attempt: Int,
            method: Method? = nil,
            url: String?,
            start: Duration = .zero,
            status: StatusCode? = nil,
            failure: String? = nil,
            metrics: Metrics = Metrics()
        ) {
            (self.attempt, self.method, self.url, self.status) = (attempt, method, url, status)
            (self.start, self.failure, self.metrics) = (start, failure, metrics)
        }

        /// The end of an attempt that failed. The hops before it stand for themselves.
        init(attempt: Int, failure error: any Error) {
            let error = error as? any HTTPError
            let context = error?.context
            self.init(attempt: attempt, url: context?.url, status: error?.statusCode, failure: error?.summary)
            failureCase = error?.caseName
            metrics = context?.metrics ?? error?.httpResponse?.metrics ?? Metrics()
            metrics.hops = []
        }
    }
}

/// The times of ``HTTP/Metrics``, whose properties document them.
private struct Times: Sendable, Hashable {
    var queue: Duration?
    var resolved: Duration?
    var connected: Duration?
    var secured: Duration?
    var requestSent: Duration?
    var firstByte: Duration?
    var ended: Duration?
    var endedIn: HTTP.Phase?
    var total: Duration = .zero
}
