internal import Dispatch

/// Something with a deadline.
protocol DeadlineEntry: AnyObject, Sendable {
    /// The time has come to look at the clock.
    ///
    /// - Parameter now: The time.
    /// - Returns: When to look again, or `nil` for never.
    func deadlineReached(_ now: MonotonicTime) -> MonotonicTime?
}

/// Every deadline of an engine on one timer.
///
/// An attempt registers once, for the earliest moment at which anything could be late; progress changes nothing here. When that moment
/// comes the fetch reads its clocks, and returns when to do so again. Registering and leaving are a few array writes, and the timer
/// itself is touched only when it would fire too late. When it fires, every record is looked at: as many as
/// there were entries at once.
final class Deadlines: Sendable {
    typealias Ticket = Int

    private struct Record {
        var entry: (any DeadlineEntry)?
        /// `never` while the entry is asked, after it has returned `nil`, and where there is no entry.
        var deadline = MonotonicTime.never
    }

    private struct State {
        var records: [Record] = []
        var free: [Ticket] = []
        /// The deadline for which the timer is set.
        var armedFor = MonotonicTime.never
        let timer: any DispatchSourceTimer
        var isClosed = false
        /// Whether no new fetch is taken.
        var isSealed = false
        /// Fired when the last entry has left.
        var departures: [AsyncEvent] = []

        init(timer: any DispatchSourceTimer) { self.timer = timer }

        var isEmpty: Bool { free.count == records.count }

        /// Has the timer fire for this deadline, unless it fires earlier. The time is rounded up, so that nothing is asked early, and
        /// close deadlines are asked together.
        mutating func arm(for deadline: MonotonicTime) {
            guard deadline < armedFor else { return }
            armedFor = deadline
            let time = (deadline.nanoseconds / Deadlines.tick + 1) * Deadlines.tick
            timer.schedule(deadline: DispatchTime(uptimeNanoseconds: time), leeway: .nanoseconds(0))
        }
    }

    private static let tick: UInt64 = 8_000_000

    /// The timer holds this, and not the object: references to an object with weak references cost three times as much.
    private let state: Lock<State>

    init() {
        let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "network-stack.deadlines"))
        let state = Lock(State(timer: timer))
        self.state = state
        timer.setEventHandler { Self.turn(state) }
        timer.activate()
    }

    deinit {
        let left = state.withLock { state in
            state.timer.cancel()
            // It may be turning now, or keep this a little longer.
            return exchange(&state.records, with: Array(repeating: Record(), count: state.records.count))
        }
        withExtendedLifetime(left) {}
    }

    /// Registers an entry: `deadlineReached` is called at the deadline or shortly after, until the entry is removed. Returns `nil` if
    /// this is closed, or if it is sealed and the entry is new.
    func insert(_ entry: any DeadlineEntry, at deadline: MonotonicTime, isNew: Bool = true) -> Ticket? {
        state.withLock { state in
            guard !state.isClosed, !(isNew && state.isSealed) else { return nil }
            state.arm(for: deadline)
            let record = Record(entry: entry, deadline: deadline)
            guard let ticket = state.free.popLast() else {
                state.records.append(record)
                return state.records.count - 1
            }
            state.records[ticket] = record
            return ticket
        }
    }

    /// Removes an entry. Called once for every ticket.
    func remove(_ ticket: Ticket) {
        let (entry, departures) = state.withLock { state in
            let entry = exchange(&state.records[ticket], with: Record()).entry
            state.free.append(ticket)
            return (entry, state.isSealed && state.isEmpty ? exchange(&state.departures, with: []) : [])
        }
        withExtendedLifetime(entry) {}
        for departure in departures { departure.fire() }
    }

    /// How many entries there are.
    var count: Int { state.withLock { $0.records.count - $0.free.count } }

    /// Takes no new fetch from now on. Returns an event that fires when the last entry has left.
    func seal() -> AsyncEvent {
        let departure = AsyncEvent()
        let isEmpty = state.withLock { state in
            state.isSealed = true
            if !state.isEmpty { state.departures.append(departure) }
            return state.isEmpty
        }
        if isEmpty { departure.fire() }
        return departure
    }

    /// Takes no more entries. Returns those it has, which leave as they always do.
    func close() -> [any DeadlineEntry] {
        state.withLock { state in
            state.isClosed = true
            return state.records.compactMap(\.entry)
        }
    }

    private static func turn(_ state: Lock<State>) {
        let now = MonotonicTime.now
        let due = state.withLock { state in
            state.armedFor = .never
            var due: [(Ticket, any DeadlineEntry)] = []
            for ticket in state.records.indices where state.records[ticket].deadline <= now {
                state.records[ticket].deadline = .never
                if let entry = state.records[ticket].entry { due.append((ticket, entry)) }
            }
            return due
        }
        var again: [(Ticket, any DeadlineEntry, MonotonicTime)] = []
        for (ticket, entry) in due {
            if let deadline = entry.deadlineReached(now) { again.append((ticket, entry, deadline)) }
        }
        state.withLock { state in
            for (ticket, entry, deadline) in again
            where state.records[ticket].entry === entry && state.records[ticket].deadline == .never {
                state.records[ticket].deadline = deadline
            }
            state.arm(for: state.records.reduce(.never) { min($0, $1.deadline) })
        }
    }
}
