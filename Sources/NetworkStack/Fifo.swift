/// A queue: what was added first is taken first, and is let go of then. Adding and taking cost the same however long the
/// queue is.
package struct Fifo<Element> {
    /// What waits, after the places of what was taken.
    private(set) var slots: [Element?] = []
    /// The place of the first that waits.
    private var head = 0

    /// Makes an empty queue.
    package init() {}

    /// How many wait.
    package var count: Int { slots.count - head }

    /// Whether none waits.
    package var isEmpty: Bool { head == slots.count }

    /// The one that is taken next.
    package var first: Element? { isEmpty ? nil : slots[head] }

    /// The one at a position; the one that is taken next is at 0.
    package subscript(position: Int) -> Element {
        get {
            guard let element = slots[head + position] else { preconditionFailure("nothing waits at \(position)") }
            return element
        }
        set { slots[head + position] = newValue }
    }

    /// Adds one at the end.
    package mutating func append(_ element: Element) { slots.append(element) }

    /// Takes the first.
    ///
    /// - Returns: The first, or `nil` if none waits.
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
    private mutating func closeUp() {
        guard isEmpty || (head >= 32 && head > count) else { return }
        if isEmpty { slots.removeAll(keepingCapacity: slots.count <= 64) } else { slots.removeFirst(head) }
        head = 0
    }
}
