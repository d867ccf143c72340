/// When waiting transfers give up, earliest first. Most stacks use one timeout, so appending is the rule.
///
/// Who waits no longer stays in the list for a while, and is passed over.
struct QueueDeadlines {
    /// A moment, and who gives up then. An identifier may be another's by that time: the moment tells them apart.
    typealias Entry = (id: ObjectIdentifier, deadline: MonotonicInstant)

    private var entries: [Entry] = []
    private var first = 0

    /// The earliest deadline.
    var next: MonotonicInstant? { first < entries.count ? entries[first].deadline : nil }

    /// How many there are, those who wait no longer included.
    var count: Int { entries.count - first }

    mutating func insert(_ id: ObjectIdentifier, at deadline: MonotonicInstant) {
        var index = entries.count
        while index > first, entries[index - 1].deadline > deadline { index -= 1 }
        entries.insert((id, deadline), at: index)
    }

    /// Takes the earliest entry if its time has come.
    mutating func popExpired(_ now: MonotonicInstant) -> Entry? {
        guard first < entries.count, entries[first].deadline <= now else { return nil }
        defer {
            first += 1
            // There may always be somebody who waits.
            if first == entries.count || first > 64 && first * 2 > entries.count {
                entries.removeFirst(first)
                first = 0
            }
        }
        return entries[first]
    }

    /// Forgets who waits no longer.
    mutating func keep(_ waits: (Entry) -> Bool) {
        entries = entries[first...].filter(waits)
        first = 0
    }
}
