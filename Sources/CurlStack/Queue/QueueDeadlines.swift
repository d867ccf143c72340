internal import NetworkStack

/// When waiting transfers give up, earliest first. Most stacks use one timeout, so appending is the rule.
///
/// A transfer that waits no longer stays in the list for a while, and is skipped.
struct QueueDeadlines {
    /// A deadline and its transfer. The identifier may be another transfer's by that time: the deadline distinguishes them.
    typealias Entry = (id: ObjectIdentifier, deadline: MonotonicTime)

    private var entries: [Entry] = []
    private var first = 0

    /// The earliest deadline.
    var next: MonotonicTime? { first < entries.count ? entries[first].deadline : nil }

    /// How many entries there are, those that wait no longer included.
    var count: Int { entries.count - first }

    mutating func insert(_ id: ObjectIdentifier, at deadline: MonotonicTime) {
        var index = entries.count
        while index > first, entries[index - 1].deadline > deadline { index -= 1 }
        entries.insert((id, deadline), at: index)
    }

    /// Takes the earliest entry if its time has come.
    mutating func popExpired(_ now: MonotonicTime) -> Entry? {
        guard first < entries.count, entries[first].deadline <= now else { return nil }
        defer {
            first += 1
            // The list may never become empty.
            if first == entries.count || first > 64 && first * 2 > entries.count {
                entries.removeFirst(first)
                first = 0
            }
        }
        return entries[first]
    }

    /// Removes the entries that wait no longer.
    mutating func keep(_ waits: (Entry) -> Bool) {
        entries = entries[first...].filter(waits)
        first = 0
    }
}
