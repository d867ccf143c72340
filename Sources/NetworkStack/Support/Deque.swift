/// A queue, first in, first out. An element is released when it is taken. Adding and taking cost the same however long the queue is.
@usableFromInline
package struct Deque<Element> {
    /// The elements, after the slots of those that were taken.
    @usableFromInline
    var slots: [Element?] = []
    /// The slot of the first element.
    @usableFromInline
    var head = 0

    /// Makes an empty queue.
    @inlinable
    package init() {}

    /// How many elements there are.
    @inlinable
    package var count: Int { slots.count - head }

    /// Whether there is no element.
    @inlinable
    package var isEmpty: Bool { head == slots.count }

    /// The next element to take.
    @inlinable
    package var first: Element? { isEmpty ? nil : slots[head] }

    /// The element at a position; the next one to take is at 0.
    @inlinable
    package subscript(position: Int) -> Element {
        get {
            guard let element = slots[head + position] else { preconditionFailure("no element at \(position)") }
            return element
        }
        set { slots[head + position] = newValue }
    }

    /// Adds an element at the end.
    @inlinable
    package mutating func append(_ element: Element) { slots.append(element) }

    /// Takes the first element.
    ///
    /// - Returns: The element, or `nil` if there is none.
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

    /// Removes the slots of taken elements once they are the most. It then moves fewer elements than were taken.
    @inlinable
    mutating func closeUp() {
        guard isEmpty || (head >= 32 && head > count) else { return }
        if isEmpty { slots.removeAll(keepingCapacity: slots.count <= 64) } else { slots.removeFirst(head) }
        head = 0
    }
}
