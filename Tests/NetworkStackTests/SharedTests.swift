import Testing

@testable import NetworkStack

@Suite("A value in a heap box")
struct SharedTests {
    /// Reports its release.
    private final class Content: Sendable {
        let left: Lock<Int>

        init(_ left: Lock<Int>) { self.left = left }

        deinit { left.withLock { $0 += 1 } }
    }

    @Test("is changed for the caller only")
    func changes() {
        let first = Shared([1])
        var second = first
        #expect(second === first)
        Shared.change(&second) { $0.append(2) }
        #expect(!(second === first))
        #expect(first.value == [1] && second.value == [1, 2])
    }

    @Test("is changed in place if it has one reference")
    func staysInPlace() {
        var shared = Shared([1])
        let place = ObjectIdentifier(shared.place)
        Shared.change(&shared) { $0.append(2) }
        #expect(ObjectIdentifier(shared.place) == place && shared.value == [1, 2])
    }

    @Test("is released once")
    func ends() {
        let left = Lock(0)
        do {
            var shared = Shared([Content(left)])
            let other = shared
            Shared.change(&shared) { $0.append(Content(left)) }
            #expect(other.value.count == 1 && shared.value.count == 2)
        }
        #expect(left.withLock { $0 } == 2)
    }
}
