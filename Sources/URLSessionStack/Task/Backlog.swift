internal import Foundation
internal import NetworkStack

/// Events that are to be reported, in order. URLSession cannot be paused, so what arrives while the reader pauses is kept, up to
/// a limit.
struct Backlog {
    private var isHeld = false
    private var events = Deque<Answer.Event>()
    /// The bytes of bodies among the events.
    private var count: Int64 = 0

    /// Adds events.
    ///
    /// - Parameters:
    ///   - new: The events.
    ///   - limit: The most bytes to keep while the reader pauses. Above it, a failure replaces all events.
    mutating func add(_ new: [Answer.Event], limit: Int64 = .max) {
        for event in new {
            events.append(event)
            count += event.contentLength
        }
        guard isHeld, count > limit else { return }
        self = Backlog()
        events.append(.failed(.bodyTooLarge(limit: limit)))
    }

    /// Takes the next event; `nil` while the reader pauses.
    mutating func next() -> Answer.Event? {
        guard !isHeld, let event = events.popFirst() else { return nil }
        count -= event.contentLength
        return event
    }

    /// Pauses the reader.
    mutating func hold() { isHeld = true }

    /// Resumes the reader.
    mutating func resume() { isHeld = false }
}

extension Answer.Event {
    /// The bytes of the body.
    fileprivate var contentLength: Int64 {
        if case .body(let data) = self { Int64(data.count) } else { 0 }
    }
}
