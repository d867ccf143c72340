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

/// A queue, first in, first out, from which any element can be taken by its ticket. Each operation takes constant time.
@usableFromInline
package struct TicketQueue<Element> {
    /// An element, and the tickets of its neighbours.
    @usableFromInline
    struct Place {
        @usableFromInline let element: Element
        @usableFromInline var before: UInt64?
        @usableFromInline var after: UInt64?

        @inlinable
        init(_ element: Element, after before: UInt64?) { (self.element, self.before) = (element, before) }
    }

    @usableFromInline var places: [UInt64: Place] = [:]
    /// The ticket of the next element to take.
    @usableFromInline package var first: UInt64?
    @usableFromInline var last: UInt64?

    /// Makes an empty queue.
    @inlinable
    package init() {}

    /// How many elements there are.
    @inlinable package var count: Int { places.count }

    /// Whether there is no element.
    @inlinable package var isEmpty: Bool { first == nil }

    /// Adds an element at the end, with a ticket that no other has.
    @inlinable
    package mutating func append(_ element: Element, _ ticket: UInt64) {
        places[ticket] = Place(element, after: last)
        if let last { places[last]?.after = ticket } else { first = ticket }
        last = ticket
    }

    /// Takes the element of a ticket.
    ///
    /// - Returns: The element, or `nil` if it is not there.
    @inlinable
    @discardableResult
    package mutating func remove(_ ticket: UInt64) -> Element? {
        guard let place = places.removeValue(forKey: ticket) else { return nil }
        if let before = place.before { places[before]?.after = place.after } else { first = place.after }
        if let after = place.after { places[after]?.before = place.before } else { last = place.before }
        // A long queue leaves no storage behind.
        if isEmpty, places.capacity > 64 { places = [:] }
        return place.element
    }

    /// Takes the first element.
    ///
    /// - Returns: The element, or `nil` if there is none.
    @inlinable
    package mutating func popFirst() -> Element? { first.flatMap { remove($0) } }
}
