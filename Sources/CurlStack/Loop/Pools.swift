internal import NetworkStack

/// The pools of a loop, made as they are needed, in order.
struct Pools {
    private let configuration: Network.Configuration
    private let authorities: Authorities
    private let poller: Poller
    private let sockets: OpenSockets
    private(set) var all: [Pool] = []

    init(_ configuration: Network.Configuration, _ authorities: Authorities, poller: Poller, sockets: OpenSockets) {
        (self.configuration, self.authorities, self.poller, self.sockets) = (
            configuration, authorities, poller, sockets
        )
    }

    /// The pool of a transfer that was to connect, unless there was no memory for one.
    subscript(of transfer: Transfer) -> Pool? { transfer.poolNumber.flatMap { $0 < all.count ? all[$0] : nil } }

    /// Makes pools up to a number, as far as there is memory.
    mutating func make(through number: Int) {
        while all.count <= number {
            let pool = Pool(
                configuration: configuration,
                authorities: authorities,
                watch: SocketWatch(poller: poller, sockets: sockets, number: all.count),
                sharesConnections: all.count != PoolPlaces.ownPool
            )
            guard let pool else { return }
            all.append(pool)
        }
    }
}
