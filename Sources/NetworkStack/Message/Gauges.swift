extension Network {
    /// What a stack is doing at one moment: for dashboards, health checks and alarms (``HTTPNetworkStack/gauges``).
    ///
    /// Its size is bounded: at most ``originLimit`` origins have separate figures.
    public struct Gauges: Sendable, Hashable {
        /// Fetches that have begun and have not ended, whatever they wait for: a connection, the server, the next attempt, the reader
        /// of a stream.
        public var fetches = 0
        /// The requests and connections of all origins.
        public var total = Share()
        /// The requests and connections of each origin that has any; of more than ``originLimit`` origins, those that have the most.
        public var origins: [HTTP.Origin: Share] = [:]
        /// The sum of the origins that are not in ``origins``.
        public var otherOrigins = Share()
        /// Bytes of request bodies that were sent since the stack was made. A request counts when it ends; one that the stack ends
        /// early does not.
        public var bytesSent: Int64 = 0
        /// Bytes of response bodies that were received since the stack was made, before decompression. They count as in ``bytesSent``.
        public var bytesReceived: Int64 = 0
        /// What only a stack with its own connections knows; `nil` for other stacks. CurlStack has it.
        public var loop: Loop?

        /// The most origins that have separate figures.
        public static let originLimit = 100

        /// Makes gauges of a stack that does nothing.
        public init() {}
    }
}

extension Network.Gauges {
    /// Requests and connections: those of an origin, or of several.
    public struct Share: Sendable, Hashable {
        /// Requests that have a connection. Over HTTP/2, each is a stream of a connection that they may share.
        public var active = 0
        /// Requests that wait for a connection.
        public var waiting = 0
        /// Connections that a request uses; 0 on a stack that does not know its connections, as only CurlStack does.
        public var connectionsInUse = 0
        /// Open connections that no request uses; 0 as above.
        public var idleConnections = 0
        /// Connections that are being opened; 0 as above.
        public var connecting = 0

        /// Makes an empty share.
        public init() {}

        /// Connections that are open or being opened.
        public var connections: Int { connectionsInUse + idleConnections + connecting }

        /// Adds the figures of another share.
        static func += (sum: inout Self, share: Self) {
            sum.active += share.active
            sum.waiting += share.waiting
            sum.connectionsInUse += share.connectionsInUse
            sum.idleConnections += share.idleConnections
            sum.connecting += share.connecting
        }
    }

    /// The thread that carries a stack's requests.
    public struct Loop: Sendable, Hashable {
        /// Connections that were opened since the stack was made.
        public var connectionsOpened = 0
        /// Lookups of hosts since the stack was made. A connection without a lookup found the host's addresses in the stack's cache.
        public var nameLookups = 0
        /// How often the thread had something to do, in the last one to two minutes. The durations that follow are those of these turns.
        public var turns = 0
        /// The median of their durations, rounded up by at most 25 %.
        public var medianTurn = Duration.zero
        /// The 99th percentile of their durations, rounded up by at most 25 %.
        public var slowTurn = Duration.zero
        /// The longest duration. For that long, no other request of the stack made progress.
        public var longestTurn = Duration.zero

        /// Makes gauges of a thread that has done nothing.
        public init() {}
    }

    /// Makes gauges of a transport.
    ///
    /// - Parameter shares: The requests and connections of all origins.
    package init(_ shares: [HTTP.Origin: Share]) {
        for share in shares.values { total += share }
        guard shares.count > Self.originLimit else {
            origins = shares
            return
        }
        let ordered = shares.sorted {
            ($0.value.active + $0.value.waiting, $0.value.connections)
                > ($1.value.active + $1.value.waiting, $1.value.connections)
        }
        origins = .init(uniqueKeysWithValues: ordered.prefix(Self.originLimit).map { ($0.key, $0.value) })
        for (_, share) in ordered.dropFirst(Self.originLimit) { otherOrigins += share }
    }
}
