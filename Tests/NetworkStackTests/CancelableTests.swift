import Foundation
import Testing

@testable import NetworkStack

final class Counting: Cancelable {
    private let counter = Lock(0)
    var count: Int { counter.withLock { $0 } }
    func cancel() { counter.withLock { $0 += 1 } }
}

@Suite("A bag of cancelables")
struct CancelableBagTests {
    @Test("cancels every member once, however often it is cancelled")
    func members() {
        let (bag, members) = (CancelableBag(), (0..<5).map { _ in Counting() })
        for member in members { bag.add(member) }
        #expect(!bag.isCancelled)
        bag.cancel()
        bag.cancel()
        #expect(bag.isCancelled)
        #expect(members.map(\.count) == [1, 1, 1, 1, 1])
    }

    @Test("cancels a late member at once")
    func late() {
        let (bag, member) = (CancelableBag(), Counting())
        bag.cancel()
        bag += member
        #expect(member.count == 1)
    }

    @Test("ignores an empty cancelable, and accepts another bag as a member")
    func nesting() {
        let (outer, inner, member) = (CancelableBag(), CancelableBag(), Counting())
        outer += nil
        outer += inner
        inner += member
        outer.cancel()
        #expect(member.count == 1)
    }

    @Test("releases its members when it is cancelled")
    func ownership() {
        let bag = CancelableBag()
        weak var member: Counting?
        do {
            let counting = Counting()
            bag.add(counting)
            member = counting
        }
        #expect(member != nil)
        bag.cancel()
        #expect(member == nil)
    }

    @Test("may be cancelled from within a member's cancel")
    func reentrancy() {
        final class Returning: Cancelable {
            let bag: CancelableBag
            init(_ bag: CancelableBag) { self.bag = bag }
            func cancel() {
                bag.cancel()
                bag += EmptyCancelable()
            }
        }
        let bag = CancelableBag()
        bag += Returning(bag)
        bag.cancel()
        #expect(bag.isCancelled)
    }

    @Test("loses no member in a race between adding and cancelling (upstream: two atomics)")
    func race() async {
        for _ in 0..<500 {
            let (bag, members) = (CancelableBag(), (0..<8).map { _ in Counting() })
            await withTaskGroup(of: Void.self) { group in
                for (index, member) in members.enumerated() {
                    if index == 4 { group.addTask { bag.cancel() } }
                    group.addTask { bag.add(member) }
                }
            }
            #expect(members.allSatisfy { $0.count == 1 })
        }
    }
}

@Suite("OneShot")
struct OneShotTests {
    @Test("returns a value that was filled in before it was taken")
    func before() async {
        let oneShot = OneShot<Int>()
        oneShot.fill(1)
        oneShot.fill(2)
        #expect(await oneShot.take() == 1)
    }

    @Test("wakes the waiting thread with the first of many values")
    func race() async {
        for _ in 0..<1000 {
            let oneShot = OneShot<Int>()
            async let taken = oneShot.take()
            await withTaskGroup(of: Void.self) { group in
                for value in 1...4 { group.addTask { oneShot.fill(value) } }
            }
            let value = await taken
            #expect((1...4).contains(value))
        }
    }
}
