/// A queue: what was added first is taken first, and is let go of then. Adding and taking cost the same however long the
/// queue is.
@usableFromInline
package struct Fifo<Element> {
    /// What waits, after the places of what was taken.
    @usableFromInline
    var slots: [Element?] = []
    /// The place of the first that waits.
    @usableFromInline
    var head = 0

    /// Makes an empty queue.
    @inlinable
    package init() {}

    /// How many wait.
    @inlinable
    package var count: Int { slots.count - head }

    /// Whether none waits.
    @inlinable
    package var isEmpty: Bool { head == slots.count }

    /// The one that is taken next.
    @inlinable
    package var first: Element? { isEmpty ? nil : slots[head] }

    /// The one at a position; the one that is taken next is at 0.
    @inlinable
    package subscript(position: Int) -> Element {
        get {
            guard let element = slots[head + position] else { preconditionFailure("nothing waits at \(position)") }
            return element
        }
        set { slots[head + position] = newValue }
    }

    /// Adds one at the end.
    @inlinable
    package mutating func append(_ element: Element) { slots.append(element) }

    /// Takes the first.
    ///
    /// - Returns: The first, or `nil` if none waits.
    @inlinable
    package mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        defer {
            slots[head] = nil
            head += 1
            closeUp()
        }
        return slots[head]
    }

    /// Gives the places of what was taken back once they are the most. What then moves up is less than was taken since.
    @inlinable
    mutating func closeUp() {
        guard isEmpty || (head >= 32 && head > count) else { return }
        if isEmpty { slots.removeAll(keepingCapacity: slots.count <= 64) } else { slots.removeFirst(head) }
        head = 0
    }
}
