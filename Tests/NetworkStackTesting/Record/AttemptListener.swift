package import FoundationEssentials
package import NetworkStack

/// Reports every attempt to a closure, as an interceptor that changes nothing sees it.
package struct AttemptListener: HTTPResourceInterceptor {
    /// The neutral request.
    package typealias Request = HTTP.Request
    /// The neutral response.
    package typealias Response = HTTP.Response

    /// One attempt of a fetch.
    package struct Attempt: Sendable {
        /// The attempt's identifier, unique in the stack.
        package let identifier: Int
        /// The request that is sent.
        package let request: HTTP.Request
        /// The state of the fetch before the attempt.
        package let retryState: Retry.State

        /// Makes an attempt.
        ///
        /// - Parameters:
        ///   - identifier: The attempt's identifier, unique in the stack.
        ///   - request: The request that is sent.
        ///   - retryState: The state of the fetch before the attempt.
        package init(identifier: Int, request: HTTP.Request, retryState: Retry.State = Retry.State()) {
            self.identifier = identifier
            self.request = request
            self.retryState = retryState
        }
    }

    /// The events of a fetch.
    package enum Event: Sendable {
        /// A request could not be made, or is invalid; no attempt was started. The state is that before this failure.
        case notMade(any Error, Retry.State)
        /// An attempt starts.
        case started(Attempt)
        /// An attempt has succeeded, with this many bytes of body (after decompression; 0 for a stream).
        case succeeded(Attempt, HTTP.Response, byteCount: Int)
        /// An attempt has failed, with a response if there was one.
        case failed(Attempt, any Error, HTTP.Response?)

        /// The metrics of the attempt's last hop, if there is a response. Only ``HTTP/Metrics/total`` counts from the call of
        /// `fetch`, with earlier attempts and delays. The time of one attempt is that between its ``started(_:)`` and its end.
        package var metrics: HTTP.Metrics? {
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
    /// - Parameter listen: Called with each event and its time. Several fetches call it concurrently, and a slow one delays them.
    ///   A first attempt's ``Event/started(_:)`` is reported within `fetch`, on the caller's thread, unless the request is made
    ///   later. Other events are reported on the engine's queue.
    package init(_ listen: @escaping @Sendable (Event, ContinuousClock.Instant) -> Void) { self.listen = listen }

    /// `false`: it does not intercept requests.
    package var interceptsRequests: Bool { false }

    /// `false`: it does not intercept bodies.
    package var interceptsBody: Bool { false }

    /// Reports that an attempt starts.
    package func interceptScheduledTask(withIdentifier identifier: Int, request: HTTP.Request, retryState: Retry.State)
    {
        listen(.started(Attempt(identifier: identifier, request: request, retryState: retryState)), .now)
    }

    /// Reports that an attempt has succeeded.
    package func interceptSuccessfulTask(
        withIdentifier identifier: Int,
        request: HTTP.Request,
        data: Data,
        response: HTTP.Response,
        retryState: Retry.State
    ) {
        let attempt = Attempt(identifier: identifier, request: request, retryState: retryState)
        listen(.succeeded(attempt, response, byteCount: data.count), .now)
    }

    /// Reports that an attempt has failed, or that there is none. Returns `.none`.
    package func interceptFailedTask(
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
