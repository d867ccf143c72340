/// When waiting transfers give up, earliest first. Most stacks use one timeout, so appending is the rule.
struct QueueDeadlines {
    private var entries: [(id: ObjectIdentifier, deadline: MonotonicInstant)] = []
    private var first = 0

    /// The earliest deadline.
    var next: MonotonicInstant? { first < entries.count ? entries[first].deadline : nil }

    mutating func insert(_ id: ObjectIdentifier, at deadline: MonotonicInstant) {
        var index = entries.count
        while index > first, entries[index - 1].deadline > deadline { index -= 1 }
        entries.insert((id, deadline), at: index)
    }

    /// Takes the earliest entry if its time has come.
    mutating func popExpired(_ now: MonotonicInstant) -> ObjectIdentifier? {
        guard first < entries.count, entries[first].deadline <= now else { return nil }
        defer {
            first += 1
            if first == entries.count {
                entries.removeAll(keepingCapacity: true)
                first = 0
            }
        }
        return entries[first].id
    }
}
