import NetworkStack
import Testing

@testable import URLSessionStack

@Suite("The places of a session")
struct PlaceQueueTests {
    private final class Guest {}

    /// A queue with queries for expectations.
    private final class Places {
        private var queue: PlaceQueue<Guest>

        init(perHost: Int, total: Int?) { queue = PlaceQueue(perHost: perHost, total: total) }

        func enter(_ guest: Guest, for origin: HTTP.Origin) -> UInt64? { queue.enter(guest, for: origin) }

        func withdraw(_ ticket: UInt64, from origin: HTTP.Origin) -> Bool {
            queue.withdraw(ticket: ticket, from: origin)
        }

        /// Whether exactly this guest gets a place when another leaves; `nil` for none.
        func leave(_ origin: HTTP.Origin, admits guest: Guest?) -> Bool {
            let admitted = queue.leave(origin)
            return admitted.count == (guest == nil ? 0 : 1) && admitted.first === guest
        }
    }

    private func origin(_ port: Int) throws -> HTTP.Origin {
        try HTTP.Origin(of: URLText.parse("http://a.test:\(port)/"))
    }

    @Test("Hops start in the order of arrival, per host")
    func order() throws {
        let queue = Places(perHost: 1, total: nil)
        let (one, two) = (try origin(1), try origin(2))
        let guests = (0..<6).map { _ in Guest() }
        #expect(queue.enter(guests[0], for: one) == nil)
        #expect(queue.enter(guests[1], for: one) != nil)
        #expect(queue.enter(guests[2], for: one) != nil)
        #expect(queue.enter(guests[3], for: two) == nil)
        #expect(queue.leave(one, admits: guests[1]))
        #expect(queue.enter(guests[4], for: one) != nil)
        #expect(queue.leave(one, admits: guests[2]))
        #expect(queue.leave(two, admits: nil))
        #expect(queue.leave(one, admits: guests[4]))
        #expect(queue.leave(one, admits: nil))
        #expect(queue.enter(guests[5], for: one) == nil)
    }

    @Test("A total limit is shared in the order of arrival")
    func total() throws {
        let queue = Places(perHost: 2, total: 2)
        let (one, two) = (try origin(1), try origin(2))
        let guests = (0..<5).map { _ in Guest() }
        #expect(queue.enter(guests[0], for: one) == nil)
        #expect(queue.enter(guests[1], for: one) == nil)
        #expect(queue.enter(guests[2], for: two) != nil)
        #expect(queue.enter(guests[3], for: one) != nil)
        #expect(queue.leave(one, admits: guests[2]))
        #expect(queue.leave(one, admits: guests[3]))
        #expect(queue.leave(two, admits: nil))
        #expect(queue.leave(one, admits: nil))
    }

    @Test("Only a cancelled waiter is skipped")
    func withdrawal() throws {
        let queue = Places(perHost: 1, total: nil)
        let one = try origin(1)
        let guests = (0..<1000).map { _ in Guest() }
        #expect(queue.enter(guests[0], for: one) == nil)
        let tickets = try guests.dropFirst().map { try #require(queue.enter($0, for: one)) }
        for (index, ticket) in tickets.enumerated() where index % 2 == 0 {
            #expect(queue.withdraw(ticket, from: one))
            #expect(!queue.withdraw(ticket, from: one))
        }
        for index in stride(from: 2, to: 1000, by: 2) { #expect(queue.leave(one, admits: guests[index])) }
        #expect(queue.leave(one, admits: nil))
        #expect(!queue.withdraw(tickets[1], from: one))
    }
}
