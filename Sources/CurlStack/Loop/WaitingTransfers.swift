internal import NetworkStack

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
