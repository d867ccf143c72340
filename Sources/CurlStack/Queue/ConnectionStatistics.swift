public import NetworkStack

extension Network {
    /// The connections of a stack at one moment.
    public struct ConnectionStatistics: Sendable, Hashable {
        /// The transfers to one origin.
        public struct Share: Sendable, Hashable {
            /// Transfers that have a connection or a stream.
            public var active = 0
            /// Transfers that are queued.
            public var waiting = 0

            /// Makes an empty share.
            public init() {}
        }

        /// Open sockets: in use, idle, or connecting.
        public var openSockets = 0
        /// The transfers by origin. Origins without transfers are omitted.
        public var origins: [HTTP.Origin: Share] = [:]

        /// Makes empty statistics.
        public init() {}

        init(openSockets: Int, origins: [HTTP.Origin: Share]) {
            (self.openSockets, self.origins) = (openSockets, origins)
        }

        /// All transfers that have a connection or a stream.
        public var active: Int { origins.values.reduce(0) { $0 + $1.active } }
        /// All transfers that are queued.
        public var waiting: Int { origins.values.reduce(0) { $0 + $1.waiting } }
    }
}
