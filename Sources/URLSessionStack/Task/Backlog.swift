internal import Foundation
internal import NetworkStack

/// What is to be told, in order. URLSession cannot be stopped from reading, so what comes while the reader holds back is
/// kept, up to a limit.
struct Backlog {
    private var isHeld = false
    private var events = Fifo<Answer.Event>()
    /// The bytes of content among the events.
    private var count: Int64 = 0

    /// Takes new events.
    ///
    /// - Parameters:
    ///   - new: What came.
    ///   - limit: The most bytes of content to keep while the reader holds back; more is a failure, which takes the place of
    ///     everything.
    mutating func add(_ new: [Answer.Event], limit: Int64 = .max) {
        for event in new {
            events.append(event)
            count += event.contentLength
        }
        guard isHeld, count > limit else { return }
        self = Backlog()
        events.append(.failed(.bodyTooLarge(limit: limit)))
    }

    /// Takes what is to be told next; nothing while the reader holds back.
    mutating func next() -> Answer.Event? {
        guard !isHeld, let event = events.popFirst() else { return nil }
        count -= event.contentLength
        return event
    }

    /// The reader holds back.
    mutating func hold() { isHeld = true }

    /// The reader goes on.
    mutating func resume() { isHeld = false }
}

extension Answer.Event {
    /// The bytes of content.
    fileprivate var contentLength: Int64 {
        if case .body(let data) = self { Int64(data.count) } else { 0 }
    }
}
