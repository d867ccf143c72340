/// The namespace for retries.
public enum Retry {
    /// The time before the next attempt, in seconds.
    public typealias Delay = Double

    /// Why an operation is not retried.
    public enum Error: Swift.Error {
        /// The allowed number of retries was reached.
        case retries(Int)
        /// The allowed total delay, in seconds, was reached.
        case delay(Delay)
        /// Any other reason.
        case custom(any Swift.Error)
    }

    /// The state of an operation before its next attempt.
    public struct State: Sendable {
        /// The error of every failed attempt, in order.
        ///
        /// The errors keep their responses, heads without bodies, and their metrics, without ``HTTP/Metrics/hops``, until the fetch
        /// ends: a policy without a limit keeps one for each attempt. Besides, an ``HTTP/EarlierHop`` with metrics is kept for each
        /// attempt and redirect. Nothing else of an earlier attempt is kept. In the state of ``HTTPFetchError/retry(_:_:)``, the last
        /// error keeps its body and all its metrics.
        public internal(set) var errors: [any Swift.Error] = []

        /// The sum of the delays that were scheduled before retries, in seconds.
        public private(set) var totalDelay: Delay = 0

        /// The last scheduled delay, in seconds; 0 before the first.
        public private(set) var lastDelay: Delay = 0

        /// Whether the failed attempt may have reached a server, whatever its error is: on a hop that was redirected, on a connection
        /// that died, or by the request of an ``HTTPInterceptor`` that threw another error. The error itself describes the last hop.
        /// Set before interceptors vote on the attempt.
        public internal(set) var requestMayHaveArrived = false

        /// Makes the state of an operation that has not failed.
        public init() {}

        /// Makes the state of an operation that has failed, for tests of a ``Retry/Policy/Rule`` or an interceptor.
        ///
        /// - Parameters:
        ///   - errors: The error of every failed attempt, in order.
        ///   - delays: The delays that were scheduled before retries, in order, in seconds.
        ///   - requestMayHaveArrived: Whether the failed attempt may have reached a server before its last hop or connection.
        public init(errors: [any Swift.Error], delays: [Delay] = [], requestMayHaveArrived: Bool = false) {
            self.errors = errors
            totalDelay = delays.reduce(0, +)
            lastDelay = delays.last ?? 0
            self.requestMayHaveArrived = requestMayHaveArrived
        }

        /// Adds a delay.
        mutating func delayed(by delay: Delay) {
            totalDelay += delay
            lastDelay = delay
        }

        /// The number of retries so far. In the state of an error that ended a fetch it is one more, because that includes the
        /// last failure.
        public var retryCount: Int { errors.count }

        /// The number of the current attempt, from 1. In the state of an error that ended a fetch it is one more.
        public var attemptCount: Int { errors.count + 1 }
    }
}

extension Retry.State: CustomStringConvertible {
    /// How many attempts have failed, and the last failure.
    public var description: String {
        guard let last = errors.last else { return "no failure" }
        return "\(errors.count) " + (errors.count == 1 ? "failure: " : "failures, the last: ") + "\(last)"
    }
}

extension Retry {
    // Not an initializer of Duration: resolving one makes Swift 6.3 attribute timespec to an overlay module, which breaks release builds.
    /// A delay as a duration, which holds less: thirty years at most.
    static func duration(_ delay: Delay) -> Duration { .seconds(min(delay, 1e9)) }
}
