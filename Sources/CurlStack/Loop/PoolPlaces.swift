/// How many of a host's transfers are under way in each pool.
struct PoolPlaces {
    private var taken = InlineArray<64, Int>(repeating: 0)
    /// Where transfers share a connection.
    private var shared = 0

    /// How many of a host's transfers a pool has before another gets the next: libcurl looks at every connection to a host
    /// for every request to it. Idle ones are found again because pools fill in order.
    private static let poolSize = 16
    /// The pool whose connections are not shared at the same time. Nobody counts who is there.
    static let ownPool = 1

    /// Has those that share a connection go elsewhere from now on, where there is none yet, or an old one.
    mutating func moveOn() { shared = (shared + 1) % 4 }

    /// Takes a place in the pool of those that share a connection, or in the first with room.
    ///
    /// - Returns: The pool.
    mutating func take(spreads: Bool) -> Int {
        let place = spreads ? firstWithRoom : shared
        taken[place] += 1
        return place < Self.ownPool ? place : place + 1
    }

    /// Gives a place back, of whoever had one.
    mutating func giveBack(_ pool: Int?) {
        guard let pool, pool != Self.ownPool else { return }
        taken[pool < Self.ownPool ? pool : pool - 1] -= 1
    }

    /// The first pool with room; if none has any, the one with the fewest.
    private var firstWithRoom: Int {
        var fewest = 0
        for place in taken.indices {
            if taken[place] < Self.poolSize { return place }
            if taken[place] < taken[fewest] { fewest = place }
        }
        return fewest
    }
}
