public import NetworkStack

extension Network {
    /// How a stack's connections stand at one moment.
    public struct ConnectionStatistics: Sendable, Hashable {
        /// What is under way with one origin.
        public struct Share: Sendable, Hashable {
            /// Transfers that have a place.
            public var active = 0
            /// Transfers that wait for one.
            public var waiting = 0

            /// Makes an empty share.
            public init() {}
        }

        /// Sockets that are open: in use, kept for reuse, or being connected.
        public var openSockets = 0
        /// What is under way with each origin. One with nothing under way is left out.
        public var origins: [HTTP.Origin: Share] = [:]

        /// Makes statistics of a stack that has nothing.
        public init() {}

        init(openSockets: Int, origins: [HTTP.Origin: Share]) {
            (self.openSockets, self.origins) = (openSockets, origins)
        }

        /// Transfers that have a place, in all.
        public var active: Int { origins.values.reduce(0) { $0 + $1.active } }
        /// Transfers that wait for a place, in all.
        public var waiting: Int { origins.values.reduce(0) { $0 + $1.waiting } }
    }
}
