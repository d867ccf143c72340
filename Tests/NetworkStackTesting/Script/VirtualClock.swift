import NetworkStack

/// A clock whose time passes only when a test advances it, so that retries and delays of hours take no time.
///
/// A sleep ends when ``advance(by:)`` reaches its moment. On a clock that keeps up it ends at once, and the time advances by its
/// length.
///
///     let clock = VirtualClock()
///     …
///     try await clock.sleepers(1)      // the retry waits
///     clock.advance(by: .seconds(30))  // and resumes
public final class VirtualClock: Clock, Sendable {
    /// A moment of a virtual clock.
    public struct Instant: InstantProtocol {
        /// The time since the clock was made.
        public let offset: Duration

        /// Makes a moment.
        ///
        /// - Parameter offset: The time since the clock was made.
        public init(offset: Duration) { self.offset = offset }

        /// Returns a later moment, or an earlier one if the duration is negative.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

        /// Returns the time from this moment to another.
        public func duration(to other: Instant) -> Duration { other.offset - offset }

        /// Whether a moment is before another.
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct Sleeper {
        let deadline: Instant
        let number: Int
        let wakeup: OneShot<Bool>
    }

    private struct State {
        var now = Instant(offset: .zero)
        var sleepers: [Sleeper] = []
        var number = 0
        var slept: [Duration] = []
    }

    private let state = Lock(State())
    private let keepsUp: Bool

    /// Makes a clock at zero.
    ///
    /// - Parameter keepsUp: Whether every sleep ends at once and advances the time.
    public init(keepsUp: Bool = false) { self.keepsUp = keepsUp }

    /// The current moment.
    public var now: Instant { state.withLock { $0.now } }

    /// Zero: any difference counts.
    public var minimumResolution: Duration { .zero }

    /// The number of current sleeps.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// The length of each sleep so far, in the order in which they began.
    public var sleeps: [Duration] { state.withLock { $0.slept } }

    /// Sleeps until the clock has reached a moment.
    ///
    /// - Parameters:
    ///   - deadline: The moment.
    ///   - tolerance: Ignored.
    /// - Throws: `CancellationError` if the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        let wakeup = OneShot<Bool>()
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

    /// Advances the time, and ends the sleeps whose moment is reached, the earliest first.
    ///
    /// - Parameter duration: By how much; not negative.
    public func advance(by duration: Duration) {
        advance { $0.advanced(by: max(duration, .zero)) }
    }

    /// Advances the time to the next moment for which a sleep waits.
    ///
    /// - Returns: By how much, or `nil` if there is no sleep.
    @discardableResult
    public func advanceToNext() -> Duration? {
        let next = state.withLock { state in
            state.sleepers.map(\.deadline).min().map { ($0, state.now.duration(to: $0)) }
        }
        guard let (deadline, duration) = next else { return nil }
        advance { max($0, deadline) }
        return duration
    }

    /// Waits, in real time, for a number of sleeps.
    ///
    /// - Parameters:
    ///   - count: The least number.
    ///   - limit: The longest wait.
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
