import Testing

@testable import CurlStack

@Suite("PoolPlaces")
struct PoolPlacesTests {
    @Test("fills the pools in order, beside the unshared one, and then evenly")
    func order() {
        var places = PoolPlaces()
        let taken = (0..<(64 * 16)).map { _ in places.take(spreads: true) }
        let expected = (0..<64).flatMap { Array(repeating: $0 < PoolPlaces.ownPool ? $0 : $0 + 1, count: 16) }
        #expect(taken == expected)
        #expect(!taken.contains(PoolPlaces.ownPool))
        // If no pool has room, the one with the fewest transfers is next.
        let more = (0..<64).map { _ in places.take(spreads: true) }
        #expect(Set(more) == Set(taken) && more.count == Set(more).count)
        for pool in [7, nil, PoolPlaces.ownPool] { places.giveBack(pool) }
        let (next, after) = (places.take(spreads: true), places.take(spreads: true))
        #expect((next, after) == (7, 0))
    }

    @Test("keeps fetches that share a connection in one pool, and elsewhere once it is old")
    func shared() {
        var places = PoolPlaces()
        var pools: [Int] = []
        for _ in 0..<5 {
            pools += (0..<20).map { _ in places.take(spreads: false) }
            places.moveOn()
        }
        #expect(pools == [0, 2, 3, 4, 0].flatMap { Array(repeating: $0, count: 20) })
    }
}
