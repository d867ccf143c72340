internal import NetworkStack

extension ConnectionQueue.Host {
    /// What a hop shares a connection by.
    init(_ hop: HTTPHop, _ quirks: LibcurlQuirks) {
        self.init(
            origin: hop.origin,
            version: hop.versionPolicy,
            isShared: !hop.needsOwnConnection(quirks),
            sharesOnceAnswered: hop.sharesOnceAnswered(quirks)
        )
    }
}

extension HTTPHop {
    /// Whether the hop must have its connection to itself (``LibcurlQuirks/mixedHTTP2Bodies``): its body has no announced length,
    /// or it wants trailers.
    fileprivate func needsOwnConnection(_ quirks: LibcurlQuirks) -> Bool {
        guard versionPolicy != .http1_1, quirks.contains(.mixedHTTP2Bodies) else { return false }
        return source.map { $0.length == nil } ?? false || wantsTrailers
    }
}

extension ConnectionQueue {
    /// What was observed of a host.
    struct HostHints {
        /// Whether it has sent more than libcurl's usual buffer holds in one response.
        var sendsMuch = false
        /// Whether it has answered with HTTP/2 in a status line of HTTP/1.1.
        var misstatesVersion = false
        /// Whether it has announced the length of every body that it sent over HTTP/2; `nil` before the first.
        var announcesLengths: Bool?
    }

    /// The queue of a hop's host.
    mutating func hostQueue(of hop: HTTPHop) -> HostQueue { hostQueue(of: Host(hop, quirks)) }
}

/// How many of a host's transfers are under way in each pool.
struct PoolPlaces {
    /// How many places are taken in each pool but the own one, by number, as far as any was taken.
    private var taken = [0]
    /// The pool where transfers share a connection.
    private var shared = 0

    /// How many of a host's transfers a pool has before another gets the next: libcurl looks at every connection to a host
    /// for every request to it. Idle ones are found again because pools fill in order.
    private static let poolSize = 16
    /// How many pools there are for a host's transfers.
    private static let mostPools = 64
    /// The number of the pool whose connections are not shared at the same time. Its transfers are not counted.
    static let ownPool = 1

    /// Has transfers that share a connection use another pool from now on. It has no connection to the host, or only an old one.
    mutating func moveOn() { shared = (shared + 1) % 4 }

    /// Takes a place in the pool of those that share a connection, or in the first with room.
    ///
    /// - Returns: The pool's number.
    mutating func take(spreads: Bool) -> Int {
        let index = spreads ? firstWithRoom : shared
        while taken.count <= index { taken.append(0) }
        taken[index] += 1
        return index < Self.ownPool ? index : index + 1
    }

    /// Gives a place back, if there was one.
    mutating func giveBack(_ number: Int?) {
        guard let number, number != Self.ownPool else { return }
        taken[number < Self.ownPool ? number : number - 1] -= 1
    }

    /// The first pool with room; if none has any, the one with the fewest.
    private var firstWithRoom: Int {
        var fewest = 0
        for index in taken.indices {
            if taken[index] < Self.poolSize { return index }
            if taken[index] < taken[fewest] { fewest = index }
        }
        return taken.count < Self.mostPools ? taken.count : fewest
    }
}
