internal import NetworkStack

/// The transfers that have a place. Each knows its index among them, so that none is looked up.
struct ActiveTransfers {
    /// All of them, in no order.
    private(set) var all: [Transfer] = []
    /// The transfers that wait for another's connection.
    private var followers: [ObjectIdentifier: Transfer] = [:]

    var isEmpty: Bool { all.isEmpty }

    /// The transfer of a control, if it is one of these.
    subscript(control: TransferControl) -> Transfer? { control.activeIndex < 0 ? nil : all[control.activeIndex] }

    func contains(_ transfer: Transfer) -> Bool { transfer.control.activeIndex >= 0 }

    mutating func insert(_ transfer: Transfer) {
        transfer.control.activeIndex = all.count
        all.append(transfer)
    }

    mutating func remove(_ transfer: Transfer) {
        let index = transfer.control.activeIndex
        guard index >= 0 else { return }
        transfer.control.activeIndex = -1
        if !followers.isEmpty { followers[transfer.id] = nil }
        let last = all.removeLast()
        guard last !== transfer else { return }
        all[index] = last
        last.control.activeIndex = index
    }

    /// Removes and returns them all.
    mutating func removeAll() -> [Transfer] {
        for transfer in all { transfer.control.activeIndex = -1 }
        followers = [:]
        defer { all = [] }
        return all
    }

    /// One of them waits for another's connection, which it may share.
    mutating func follow(_ transfer: Transfer) {
        followers[transfer.id] = transfer
        transfer.entered(.connecting)
    }

    /// Takes one that need not wait any longer.
    mutating func takeFollower(_ id: ObjectIdentifier) -> Transfer? { followers.removeValue(forKey: id) }
}

/// The transfers that wait for a place, and how long each waits at most.
struct WaitingTransfers {
    private var all: [ObjectIdentifier: Transfer] = [:]
    private var deadlines = QueueDeadlines()

    var isEmpty: Bool { all.isEmpty }

    /// When the next may be late, in milliseconds of the monotonic clock.
    var nextMoment: Int64? { deadlines.next?.nextMillisecond }

    mutating func insert(_ transfer: Transfer) {
        all[transfer.id] = transfer
        guard let timeout = transfer.control.hop.options.timeouts.queue else { return }
        let deadline = transfer.place.enqueuedAt + timeout
        transfer.place.deadline = deadline
        deadlines.insert(transfer.id, at: deadline)
        // The deadlines of transfers that have left are removed when there are many.
        if deadlines.count > 2 * all.count + 64 {
            deadlines.keep { [all] in all[$0.id]?.place.deadline == $0.deadline }
        }
    }

    /// Takes a transfer, if it waits.
    mutating func take(_ id: ObjectIdentifier) -> Transfer? { all.removeValue(forKey: id) }

    /// Takes a transfer that has waited for too long.
    mutating func takeLate(at now: MonotonicTime) -> Transfer? {
        while let entry = deadlines.popExpired(now) {
            if let transfer = all[entry.id], transfer.place.deadline == entry.deadline { return take(entry.id) }
        }
        return nil
    }

    mutating func removeAll() -> [Transfer] {
        defer { all = [:] }
        return Array(all.values)
    }
}

/// When waiting transfers give up, earliest first. Most stacks use one timeout, so appending is the rule.
///
/// A transfer that waits no longer stays in the list for a while, and is skipped.
struct QueueDeadlines {
    /// A deadline and its transfer. The identifier may be another transfer's by that time: the deadline distinguishes them.
    typealias Entry = (id: ObjectIdentifier, deadline: MonotonicTime)

    private var entries = Deque<Entry>()

    /// The earliest deadline.
    var next: MonotonicTime? { entries.first?.deadline }

    /// How many entries there are, those that wait no longer included.
    var count: Int { entries.count }

    mutating func insert(_ id: ObjectIdentifier, at deadline: MonotonicTime) {
        entries.append((id, deadline))
        var index = entries.count - 1
        while index > 0, entries[index - 1].deadline > deadline {
            entries[index] = entries[index - 1]
            index -= 1
        }
        entries[index] = (id, deadline)
    }

    /// Takes the earliest entry if its time has come.
    mutating func popExpired(_ now: MonotonicTime) -> Entry? {
        guard let next, next <= now else { return nil }
        return entries.popFirst()
    }

    /// Removes the entries that wait no longer.
    mutating func keep(_ waits: (Entry) -> Bool) {
        let all = entries
        entries = Deque()
        for index in 0..<all.count where waits(all[index]) { entries.append(all[index]) }
    }
}
