import NetworkStackTesting
import Testing

@testable import NetworkStack

@Suite("A queue with tickets")
struct TicketQueueTests {
    private final class Witness {}

    @Test("is an array of which any element can be taken", arguments: UInt64(1)...40)
    func histories(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var queue = TicketQueue<Int>()
        var (expected, ticket): ([UInt64], UInt64) = ([], 0)
        // Some histories have short queues, some long ones.
        let growth = 1 + random.number(below: 4)
        for _ in 0..<500 {
            switch random.number(below: 4 + growth) {
            case 0:
                let place = expected.indices.randomElement(using: &random)
                let taken = place.map { expected.remove(at: $0) } ?? ticket + 1
                let (element, again) = (queue.remove(taken), queue.remove(taken))
                #expect(element == place.map { _ in Int(taken) } && again == nil)
            case 1...2:
                let element = queue.popFirst()
                let next = expected.isEmpty ? nil : Int(expected.removeFirst())
                #expect(element == next)
            default:
                ticket += 1 + UInt64(random.number(below: 3))
                queue.append(Int(ticket), ticket)
                expected.append(ticket)
            }
            #expect(queue.first == expected.first && queue.count == expected.count)
            #expect(queue.isEmpty == expected.isEmpty)
        }
        var rest: [UInt64] = []
        while let next = queue.popFirst() { rest.append(UInt64(next)) }
        #expect(rest == expected && queue.isEmpty && queue.count == 0)
    }

    @Test("releases removed elements at once, and the storage of many with the last")
    func release() {
        var queue = TicketQueue<Witness>()
        for ticket in 0..<UInt64(1000) { queue.append(Witness(), ticket) }
        for ticket in 0..<UInt64(1000) {
            weak let element = queue.places[ticket]?.element
            #expect(element != nil)
            if ticket % 2 == 0 { _ = queue.popFirst() } else { queue.remove(ticket) }
            #expect(element == nil)
        }
        #expect(queue.isEmpty && queue.places.capacity <= 64)
    }
}
