internal import Dispatch

/// Something with a deadline.
protocol TimerWheelEntry: AnyObject, Sendable {
    /// The time has come to look at the clock.
    ///
    /// - Parameter now: The time.
    /// - Returns: When to look again, or `nil` for never.
    func deadlineReached(_ now: MonotonicTime) -> MonotonicTime?
}

/// Every deadline of an engine on one timer.
///
/// An attempt registers once, for the earliest moment at which anything could be late; progress does not touch the wheel.
/// When that moment comes the fetch reads its clocks, and returns when to do so again. Registering and leaving are a few array
/// writes, and the timer itself is touched only when it would fire too late.
final class TimerWheel: Sendable {
    typealias Ticket = Int

    private struct Record {
        var entry: (any TimerWheelEntry)?
        var deadline = MonotonicTime(nanoseconds: 0)
        var slot = -1
        var index = 0
    }

    private struct State {
        var records: [Record] = []
        var free: [Ticket] = []
        var slots: [[Ticket]] = Array(repeating: [], count: TimerWheel.slotCount)
        var lookedAt: UInt64
        var armedFor: UInt64?
        let timer: any DispatchSourceTimer
        var isClosed = false
        /// Whether no new fetch is taken.
        var isSealed = false
        /// Fired when the last entry has left.
        var departures: [AsyncEvent] = []

        init(lookedAt: UInt64, timer: any DispatchSourceTimer) { (self.lookedAt, self.timer) = (lookedAt, timer) }

        var isEmpty: Bool { free.count == records.count }
    }

    private static let slotCount = 1024
    private static let tick: UInt64 = 8_000_000

    /// The timer holds this, and not the wheel: references to an object with weak references cost three times as much.
    private let state: Lock<State>

    init(startingAt start: MonotonicTime = .now) {
        let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "network-stack.deadlines"))
        let state = Lock(State(lookedAt: start.nanoseconds / Self.tick, timer: timer))
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
    /// the wheel is closed, or if it is sealed and the entry is new.
    func insert(_ entry: any TimerWheelEntry, at deadline: MonotonicTime, isNew: Bool = true) -> Ticket? {
        state.withLock { state in
            guard !state.isClosed, !(isNew && state.isSealed) else { return nil }
            let ticket: Ticket
            if let free = state.free.popLast() {
                ticket = free
            } else {
                ticket = state.records.count
                state.records.append(Record())
            }
            state.records[ticket].entry = entry
            Self.place(ticket, at: deadline, in: &state)
            return ticket
        }
    }

    /// Removes an entry. Called once for every ticket.
    func remove(_ ticket: Ticket) {
        let (entry, isLast) = state.withLock { state in
            Self.take(ticket, from: &state)
            state.free.append(ticket)
            return (state.records[ticket].entry.take(), state.isSealed && state.isEmpty)
        }
        withExtendedLifetime(entry) {}
        guard isLast else { return }
        for departure in state.withLock({ exchange(&$0.departures, with: []) }) { departure.fire() }
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
    func close() -> [any TimerWheelEntry] {
        state.withLock { state in
            state.isClosed = true
            return state.records.compactMap(\.entry)
        }
    }

    private static func place(_ ticket: Ticket, at deadline: MonotonicTime, in state: inout State) {
        // Rounded up, so that nothing is asked early; far deadlines are looked at on the way.
        let due = deadline.nanoseconds / Self.tick + 1
        let tick = min(max(due, state.lookedAt + 1), state.lookedAt + UInt64(Self.slotCount) - 1)
        let slot = Int(tick % UInt64(Self.slotCount))
        state.records[ticket].deadline = deadline
        state.records[ticket].slot = slot
        state.records[ticket].index = state.slots[slot].count
        state.slots[slot].append(ticket)
        if tick < state.armedFor ?? .max { arm(for: tick, in: &state) }
    }

    private static func take(_ ticket: Ticket, from state: inout State) {
        let (slot, index) = (state.records[ticket].slot, state.records[ticket].index)
        guard slot >= 0 else { return }
        let last = state.slots[slot].removeLast()
        if last != ticket {
            state.slots[slot][index] = last
            state.records[last].index = index
        }
        state.records[ticket].slot = -1
    }

    private static func arm(for tick: UInt64, in state: inout State) {
        state.armedFor = tick
        state.timer.schedule(deadline: DispatchTime(uptimeNanoseconds: tick * Self.tick), leeway: .nanoseconds(0))
    }

    private static func turn(_ state: Lock<State>) {
        let now = MonotonicTime.now
        let due = state.withLock { state in
            let reached = now.nanoseconds / Self.tick
            var due: [(Ticket, any TimerWheelEntry)] = []
            let first = max(
                state.lookedAt + 1,
                reached >= UInt64(Self.slotCount) ? reached - UInt64(Self.slotCount) + 1 : 0
            )
            var far: [Ticket] = []
            if first <= reached {
                for tick in first...reached {
                    for ticket in state.slots[Int(tick % UInt64(Self.slotCount))] {
                        state.records[ticket].slot = -1
                        if state.records[ticket].deadline > now {
                            far.append(ticket)
                        } else if let entry = state.records[ticket].entry {
                            due.append((ticket, entry))
                        }
                    }
                    state.slots[Int(tick % UInt64(Self.slotCount))].removeAll(keepingCapacity: true)
                }
                state.lookedAt = reached
            }
            state.armedFor = nil
            for ticket in far { place(ticket, at: state.records[ticket].deadline, in: &state) }
            return due
        }
        var again: [(Ticket, any TimerWheelEntry, MonotonicTime)] = []
        for (ticket, entry) in due {
            if let deadline = entry.deadlineReached(now) { again.append((ticket, entry, deadline)) }
        }
        state.withLock { state in
            for (ticket, entry, deadline) in again
            where state.records[ticket].entry === entry && state.records[ticket].slot < 0 {
                place(ticket, at: deadline, in: &state)
            }
            // What was placed meanwhile has armed the timer only for itself; something nearer may have been there before.
            let end = min(state.armedFor ?? .max, state.lookedAt + UInt64(Self.slotCount))
            var next = state.lookedAt + 1
            while next < end, state.slots[Int(next % UInt64(Self.slotCount))].isEmpty { next += 1 }
            if next < end { arm(for: next, in: &state) }
        }
    }
}
