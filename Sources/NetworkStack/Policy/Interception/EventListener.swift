public import FoundationEssentials

/// Tells every event of every attempt, with its metrics, to a closure: for counters, timings and traces.
public struct EventListener: HTTPResourceInterceptor {
    /// The neutral request.
    public typealias Request = HTTP.Request
    /// The neutral response.
    public typealias Response = HTTP.Response

    /// One attempt of a fetch.
    public struct Attempt: Sendable {
        /// Unlike that of any other attempt of the stack.
        public let identifier: Int
        /// The request that is sent.
        public let request: HTTP.Request
        /// What the fetch has been through before.
        public let retryState: Retry.State

        /// Describes an attempt.
        ///
        /// - Parameters:
        ///   - identifier: Unlike that of any other attempt of the stack.
        ///   - request: The request that is sent.
        ///   - retryState: What the fetch has been through before.
        public init(identifier: Int, request: HTTP.Request, retryState: Retry.State = Retry.State()) {
            self.identifier = identifier
            self.request = request
            self.retryState = retryState
        }
    }

    /// What happens to a fetch.
    @nonexhaustive
    public enum Event: Sendable {
        /// A request could not be made, or was refused as it is; nothing began. The state is that before this failure.
        case notMade(any Error, Retry.State)
        /// An attempt begins.
        case started(Attempt)
        /// An attempt has succeeded, with so many bytes of content (after decompression; none are counted of a stream).
        case succeeded(Attempt, HTTP.Response, byteCount: Int)
        /// An attempt has failed, with a response if there was one.
        case failed(Attempt, any Error, HTTP.Response?)

        /// What the attempt's last hop took, once there is a response. ``HTTP/Metrics/total`` alone counts from the call of
        /// `fetch`, earlier attempts and delays included; an attempt's own time is that between its ``started(_:)`` and its end.
        public var metrics: HTTP.Metrics? {
            switch self {
            case .succeeded(_, let response, _): response.metrics
            case .failed(_, _, let response): response?.metrics
            case .notMade, .started: nil
            }
        }
    }

    private let listen: @Sendable (Event, ContinuousClock.Instant) -> Void

    /// Makes a listener.
    ///
    /// - Parameter listen: Told each event, and when it happened; several fetches call it at once, and a slow one delays them.
    ///   A first attempt's ``Event/started(_:)`` is told within `fetch`, on the thread that called it, unless the request took
    ///   its time; the rest on the engine's queue.
    public init(_ listen: @escaping @Sendable (Event, ContinuousClock.Instant) -> Void) { self.listen = listen }

    /// Requests are none of its business.
    public var interceptsRequests: Bool { false }

    /// Content is none of its business.
    public var interceptsContent: Bool { false }

    /// Tells that an attempt begins.
    public func interceptScheduledTask(withIdentifier identifier: Int, request: HTTP.Request, retryState: Retry.State) {
        listen(.started(Attempt(identifier: identifier, request: request, retryState: retryState)), .now)
    }

    /// Tells that an attempt has succeeded.
    public func interceptSuccessfulTask(
        withIdentifier identifier: Int,
        request: HTTP.Request,
        data: Data,
        response: HTTP.Response,
        retryState: Retry.State
    ) {
        let attempt = Attempt(identifier: identifier, request: request, retryState: retryState)
        listen(.succeeded(attempt, response, byteCount: data.count), .now)
    }

    /// Tells that an attempt has failed, or that there is none. Votes for nothing.
    public func interceptFailedTask(
        withIdentifier identifier: Int,
        request: HTTP.Request?,
        data: Data?,
        response: HTTP.Response?,
        error: any Error,
        retryState: Retry.State
    ) -> Retry.Action {
        if let request {
            let attempt = Attempt(identifier: identifier, request: request, retryState: retryState)
            listen(.failed(attempt, error, response), .now)
        } else {
            listen(.notMade(error, retryState), .now)
        }
        return .none
    }
}
