/// How many of a host's transfers are under way in each pool.
///
/// An object, and so is each pool's place: each access to a value within an object is checked for exclusivity while the program
/// runs.
final class PoolPlaces {
    private final class Place {
        var taken = 0
    }

    /// By the pools' order, as far as any was taken.
    private var places = [Place()]
    /// Where transfers share a connection.
    private var shared = 0

    /// How many of a host's transfers a pool has before another gets the next: libcurl looks at every connection to a host
    /// for every request to it. Idle ones are found again because pools fill in order.
    private static let poolSize = 16
    /// How many pools there are for a host's transfers.
    private static let mostPools = 64
    /// The pool whose connections are not shared at the same time. Nobody counts who is there.
    static let ownPool = 1

    /// Has those that share a connection go elsewhere from now on, where there is none yet, or an old one.
    func moveOn() { shared = (shared + 1) % 4 }

    /// Takes a place in the pool of those that share a connection, or in the first with room.
    ///
    /// - Returns: The pool.
    func take(spreads: Bool) -> Int {
        let number = spreads ? firstWithRoom : shared
        // Put in place whole, which does not happen often: see above.
        while places.count <= number { places = places + [Place()] }
        places[number].taken += 1
        return number < Self.ownPool ? number : number + 1
    }

    /// Gives a place back, of whoever had one.
    func giveBack(_ pool: Int?) {
        guard let pool, pool != Self.ownPool else { return }
        places[pool < Self.ownPool ? pool : pool - 1].taken -= 1
    }

    /// The first pool with room; if none has any, the one with the fewest.
    private var firstWithRoom: Int {
        var fewest = 0
        for number in places.indices {
            let taken = places[number].taken
            if taken < Self.poolSize { return number }
            if taken < places[fewest].taken { fewest = number }
        }
        return places.count < Self.mostPools ? places.count : fewest
    }
}
