import NetworkStack

/// A clock whose time passes only when a test says so: retries and delays of hours take no time, and none is left to chance.
///
/// Either a sleep ends when ``advance(by:)`` brings its moment, or, on a clock that keeps up, at once, the time having moved on
/// by its length.
///
///     let clock = VirtualClock()
///     …
///     try await clock.sleepers(1)      // the retry waits
///     clock.advance(by: .seconds(30))  // and goes on
public final class VirtualClock: Clock, Sendable {
    /// A moment of a virtual clock.
    public struct Instant: InstantProtocol {
        /// The time since the clock was made.
        public let offset: Duration

        /// Makes a moment.
        ///
        /// - Parameter offset: The time since the clock was made.
        public init(offset: Duration) { self.offset = offset }

        /// A later moment, or an earlier one if the duration is negative.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

        /// The time from this moment to another.
        public func duration(to other: Instant) -> Duration { other.offset - offset }

        /// Whether a moment comes before another.
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct Sleeper {
        let deadline: Instant
        let number: Int
        let wakeup: Handover<Bool>
    }

    private struct State {
        var now = Instant(offset: .zero)
        var sleepers: [Sleeper] = []
        var number = 0
        var slept: [Duration] = []
    }

    private let state = Lock(State())
    private let keepsUp: Bool

    /// Makes a clock that stands at zero.
    ///
    /// - Parameter keepsUp: Whether every sleep ends at once and moves the time on.
    public init(keepsUp: Bool = false) { self.keepsUp = keepsUp }

    /// The clock's present moment.
    public var now: Instant { state.withLock { $0.now } }

    /// Any difference counts.
    public var minimumResolution: Duration { .zero }

    /// How many sleep now.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// How long each sleep so far was to take, in the order they began.
    public var sleeps: [Duration] { state.withLock { $0.slept } }

    /// Sleeps until the clock has been advanced to a moment.
    ///
    /// - Parameters:
    ///   - deadline: The moment.
    ///   - tolerance: Ignored; nobody wakes late.
    /// - Throws: `CancellationError` if the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        let wakeup = Handover<Bool>()
        let number: Int? = state.withLock { state in
            state.slept.append(state.now.duration(to: deadline))
            if keepsUp { state.now = max(state.now, deadline) }
            guard deadline > state.now else { return nil }
            state.number += 1
            state.sleepers.append(Sleeper(deadline: deadline, number: state.number, wakeup: wakeup))
            return state.number
        }
        guard let number else { return }
        let isRested = await withTaskCancellationHandler {
            await wakeup.take()
        } onCancel: {
            state.withLock { $0.sleepers.removeAll { $0.number == number } }
            wakeup.fill(false)
        }
        if isRested != true { throw CancellationError() }
    }

    /// Lets time pass, and wakes whoever's moment has come, the earliest first.
    ///
    /// - Parameter duration: How much; not negative.
    public func advance(by duration: Duration) {
        advance { $0.advanced(by: max(duration, .zero)) }
    }

    /// Lets time pass up to the next moment somebody waits for.
    ///
    /// - Returns: How much passed, or `nil` if nobody sleeps.
    @discardableResult
    public func advanceToNext() -> Duration? {
        let next = state.withLock { state in
            state.sleepers.map(\.deadline).min().map { ($0, state.now.duration(to: $0)) }
        }
        guard let (deadline, duration) = next else { return nil }
        advance { max($0, deadline) }
        return duration
    }

    /// Waits, in real time, until so many sleep.
    ///
    /// - Parameters:
    ///   - count: How many at least.
    ///   - limit: How long to wait at most.
    /// - Throws: ``WaitTimedOut`` after the limit, or `CancellationError`.
    public func sleepers(_ count: Int, within limit: Duration = .seconds(10)) async throws {
        let deadline = ContinuousClock.now + limit
        while sleeperCount < count {
            guard ContinuousClock.now < deadline else {
                throw WaitTimedOut(limit: limit, seen: "\(sleeperCount) sleepers where \(count) were awaited")
            }
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    private func advance(_ passes: (Instant) -> Instant) {
        let due = state.withLock { state in
            state.now = passes(state.now)
            let due = state.sleepers.filter { $0.deadline <= state.now }
            state.sleepers.removeAll { $0.deadline <= state.now }
            return due.sorted { ($0.deadline, $0.number) < ($1.deadline, $1.number) }
        }
        for sleeper in due { sleeper.wakeup.fill(true) }
    }
}
