/// The namespace of retrying.
public enum Retry {
    /// A time to wait before the next attempt, in seconds.
    public typealias Delay = Double

    /// Why an operation is not tried again.
    public enum Error: Swift.Error {
        /// The most retries allowed were made.
        case retries(Int)
        /// The longest total delay allowed, in seconds, was waited.
        case delay(Delay)
        /// Any other reason.
        case custom(any Swift.Error)
    }

    /// What an operation has been through so far.
    public struct State: Sendable {
        /// The error of every failed attempt, in order.
        ///
        /// Errors keep the responses they came with, heads and not content, until the fetch ends: a policy that retries
        /// for ever keeps one for each attempt. Nothing else of an earlier attempt is kept.
        public internal(set) var errors: [any Swift.Error] = []

        /// The delays that were scheduled before retries, added up, in seconds.
        public private(set) var totalDelay: Delay = 0

        /// The delay that was scheduled last, in seconds; 0 before the first.
        public var lastDelay: Delay { last.magnitude }

        /// The same, with a sign where the request may have arrived: with a word more, what holds a state is no longer passed in
        /// registers, which every fetch would pay for.
        private var last: Delay = 0

        /// Whether something of the failed attempt may have reached a server before what failed: on a hop that was redirected,
        /// or on a connection that died. What failed at last tells the error. It is known when the attempt is voted on.
        public internal(set) var requestMayHaveArrived: Bool {
            get { last.sign == .minus }
            set { last = Delay(sign: newValue ? .minus : .plus, exponent: 0, significand: last.magnitude) }
        }

        /// The state of an operation that has not failed.
        public init() {}

        /// The state of an operation that has failed, for tests of a ``Retry/Policy/Rule`` or an interceptor.
        ///
        /// - Parameters:
        ///   - errors: The error of every failed attempt, in order.
        ///   - delays: The delays that were scheduled before retries, in order, in seconds.
        ///   - requestMayHaveArrived: Whether something of the failed attempt may have reached a server before what failed.
        public init(errors: [any Swift.Error], delays: [Delay] = [], requestMayHaveArrived: Bool = false) {
            self.errors = errors
            totalDelay = delays.reduce(0, +)
            last = delays.last ?? 0
            self.requestMayHaveArrived = requestMayHaveArrived
        }

        /// Another delay is scheduled.
        mutating func delayed(by delay: Delay) {
            totalDelay += delay
            last = Delay(signOf: last, magnitudeOf: delay)
        }

        /// How many retries were made; in the state of an error that ended a fetch, whose last failure it holds, one more.
        public var retryCount: Int { errors.count }

        /// Which attempt is being made, counted from 1; in the state of an error that ended a fetch one more.
        public var attemptCount: Int { errors.count + 1 }
    }
}

extension Retry.State: CustomStringConvertible {
    /// How many attempts have failed, and how the last one did: what an error that holds the state shows of it.
    public var description: String {
        guard let last = errors.last else { return "no failure" }
        return "\(errors.count) " + (errors.count == 1 ? "failure: " : "failures, the last: ") + "\(last)"
    }
}
