import Testing

@testable import NetworkStack

@Suite("A first-in, first-out queue")
struct DequeTests {
    private final class Witness {}

    @Test("keeps the order and reuses its storage, however it is filled and emptied")
    func order() {
        var queue = Deque<Int>()
        var (added, taken) = (0, 0)
        for round in 0..<2000 {
            for _ in 0..<(round % 7) {
                queue.append(added)
                added += 1
            }
            for _ in 0..<(round % 5) where taken < added {
                let next = queue.popFirst()
                #expect(next == taken)
                taken += 1
            }
            #expect(queue.count == added - taken && queue.isEmpty == (added == taken))
            #expect(queue.first == (added == taken ? nil : taken))
            if added > taken { #expect(queue[added - taken - 1] == added - 1) }
            #expect(queue.slots.count <= 2 * queue.count + 32)
        }
        while queue.popFirst() != nil { taken += 1 }
        #expect(taken == added && queue.isEmpty)
    }

    @Test("releases removed elements at once, even if it is never empty")
    func release() {
        var queue = Deque<Witness>()
        queue.append(Witness())
        for _ in 0..<100 {
            queue.append(Witness())
            weak let first = queue.first
            #expect(first != nil)
            _ = queue.popFirst()
            #expect(first == nil)
        }
        #expect(queue.count == 1)
    }
}
