internal import NetworkStack

/// The HTTP/2 transfers that were told to go on receiving and have not yet been seen to.
///
/// libcurl 7.88 may leave what it holds of such a stream where it is, for ever: those that stand still are told again.
struct StreamStalls {
    private struct Entry {
        let id: ObjectIdentifier
        let count: Int64
        var delay: Duration
        var due: MonotonicInstant
    }

    private var entries: [Entry] = []

    /// When somebody is to be looked at next.
    var next: MonotonicInstant? { entries.map(\.due).min() }

    /// A transfer was told to go on; it has received so many bytes.
    mutating func watch(_ id: ObjectIdentifier, count: Int64, now: MonotonicInstant) {
        entries.removeAll { $0.id == id }
        entries.append(Entry(id: id, count: count, delay: .milliseconds(20), due: now.after(.milliseconds(20))))
    }

    /// Looks at those that are due.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - nudge: Tells a transfer again if it stands at a count still, and answers whether it does.
    mutating func look(_ now: MonotonicInstant, nudge: (ObjectIdentifier, Int64) -> Bool) {
        guard entries.contains(where: { $0.due <= now }) else { return }
        entries = entries.compactMap { entry in
            guard entry.due <= now else { return entry }
            guard nudge(entry.id, entry.count) else { return nil }
            var entry = entry
            // A server that has nothing to send looks the same: it is asked about less and less often.
            entry.delay = min(entry.delay * 2, .seconds(1))
            entry.due = now.after(entry.delay)
            return entry
        }
    }
}
