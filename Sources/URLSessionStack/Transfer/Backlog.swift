internal import Foundation
internal import NetworkStack

/// What came while the reader held back. URLSession cannot be stopped from reading, so it is kept, up to a limit.
struct Backlog {
    private var isHeld = false
    private var events: [Answer.Event] = []
    private var count: Int64 = 0

    /// Takes new events.
    ///
    /// - Parameters:
    ///   - new: What came.
    ///   - limit: The most bytes of content to keep.
    /// - Returns: What is to be told now.
    mutating func add(_ new: [Answer.Event], limit: Int64 = .max) -> [Answer.Event] {
        guard isHeld else { return new }
        for case .body(let data) in new { count += Int64(data.count) }
        if count > limit {
            self = Backlog()
            return [.failed(.refused(.bodyTooLarge(limit: limit)))]
        }
        events += new
        return []
    }

    /// The reader holds back, with this not told yet.
    mutating func hold(_ rest: ArraySlice<Answer.Event>) {
        isHeld = true
        events.insert(contentsOf: rest, at: 0)
    }

    /// The reader goes on.
    ///
    /// - Returns: What is to be told now.
    mutating func resume() -> [Answer.Event] {
        defer { self = Backlog() }
        return events
    }
}
