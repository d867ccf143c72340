internal import FoundationEssentials

/// What is known of a fetch's attempt while others intercept it, and what they are told of it.
///
/// Its functions are compiled for the neutral types besides: what is generic looks its types up at run time, and that came
/// to more than all the rest of an interceptor that changes nothing.
final class InterceptedAttempt<Request: HTTPRequestConvertible, Response: HTTPResponseConvertible>: Sendable {
    private struct Kept {
        /// Which attempt it is: what comes of an earlier one does not count.
        var number = 0
        /// A base request that is handed over twice counts once.
        var wasMade = false
        var request: Request?
        var response: Response?
        var data: Data?
        /// The stack's result, unless it is a success whose content is collected.
        var outcome: (any Sendable)?
    }

    /// Whether anybody takes part in content.
    let interceptsContent: Bool
    private let chain: InterceptorChain<Request, Response>
    private let kept: Lock<Kept>

    #if compiler(>=6.3)
        @specialized(where Request == HTTP.Request, Response == HTTP.Response)
    #endif
    init(_ chain: InterceptorChain<Request, Response>) {
        self.chain = chain
        interceptsContent = chain.interceptsContent
        kept = Lock(Kept())
    }

    /// Another attempt begins.
    #if compiler(>=6.3)
        @specialized(where Request == HTTP.Request, Response == HTTP.Response)
    #endif
    func begin(_ attempt: Attempt) {
        kept.withLock { kept in
            if kept.number > 0 { kept = Kept() }
            kept.number = attempt.retryState.attemptCount
        }
    }

    /// Threads the base request of an attempt through the interceptors, and keeps what comes of it.
    ///
    /// - Parameters:
    ///   - made: The base request, or why there is none.
    ///   - attempt: Whose it is.
    ///   - handler: Takes what came of it. Called once at most.
    /// - Returns: Cancels what is under way.
    #if compiler(>=6.3)
        @specialized(where Request == HTTP.Request, Response == HTTP.Response)
    #endif
    func thread(
        _ made: Result<Request, any Error>,
        of attempt: Attempt,
        _ handler: @escaping @Sendable (Result<Request, any Error>) -> any Cancelable
    ) -> any Cancelable {
        let number = attempt.retryState.attemptCount
        let isFirst = kept.withLock { kept in
            guard kept.number == number, !kept.wasMade else { return false }
            kept.wasMade = true
            return true
        }
        guard isFirst else { return EmptyCancelable() }
        return chain.threadRequest(made) { [self] threaded in
            if case .success(let request) = threaded {
                kept.withLock { if $0.number == number { $0.request = request } }
            }
            return handler(threaded)
        }
    }

    /// Tells that the attempt is about to start.
    #if compiler(>=6.3)
        @specialized(where Request == HTTP.Request, Response == HTTP.Response)
    #endif
    func schedule(_ attempt: Attempt) {
        guard let request = kept.withLock({ $0.request }) else { return }
        chain.schedule(attempt, request)
    }

    /// Keeps what the attempt has come to: the response of a success, the content that came, and the stack's result unless it
    /// is a success whose content is collected.
    #if compiler(>=6.3)
        @specialized(where Request == HTTP.Request, Response == HTTP.Response)
    #endif
    func keep(_ response: Response?, _ data: Data?, outcome: (any Sendable)?) {
        kept.withLock { ($0.response, $0.data, $0.outcome) = (response, data, outcome) }
    }

    /// The result that is kept.
    var outcome: (any Sendable)? { kept.withLock { $0.outcome } }

    /// Puts another result in its place.
    func keep(outcome: any Sendable) { kept.withLock { $0.outcome = outcome } }

    /// Has the content of the success that is kept transformed, and keeps what comes of it.
    ///
    /// - Parameter handler: Takes what an interceptor failed with, if one did. Called once.
    /// - Returns: Cancels the transforming.
    #if compiler(>=6.3)
        @specialized(where Request == HTTP.Request, Response == HTTP.Response)
    #endif
    func transform(_ handler: @escaping @Sendable ((any Error)?) -> Void) -> any Cancelable {
        let (number, request, response, data) = kept.withLock { ($0.number, $0.request, $0.response, $0.data) }
        guard let request, let response, let data else {
            handler(CancellationError())
            return EmptyCancelable()
        }
        return chain.threadContent(data, response: response, request: request) { [self] threaded in
            let (transformed, error): (Data?, (any Error)?) =
                switch threaded {
                case .success(let data): (data, nil)
                case .failure(let error): (nil, error)
                }
            // Only what is transformed in this attempt counts.
            let counts = kept.withLock { kept in
                guard kept.number == number, kept.data != nil else { return false }
                if let transformed { kept.data = transformed }
                return true
            }
            if counts { handler(error) }
            return EmptyCancelable()
        }
    }

    /// Tells of the success that is kept.
    #if compiler(>=6.3)
        @specialized(where Request == HTTP.Request, Response == HTTP.Response)
    #endif
    func succeed(_ attempt: Attempt) {
        let (request, response, data) = kept.withLock { ($0.request, $0.response, $0.data) }
        guard let request, let response else { return }
        chain.succeed(attempt, request, data ?? Data(), response)
    }

    /// Tells of a failure, and has it voted on.
    func vote(_ attempt: Attempt, response: Response?, on error: any Error) -> Retry.Action {
        let (request, data) = kept.withLock { ($0.request, $0.data) }
        return chain.vote(attempt, request: request, data: data, response: response, error: error)
    }

    /// Lets go of everything. Answers the content and the response of a success, if there is one.
    #if compiler(>=6.3)
        @specialized(where Request == HTTP.Request, Response == HTTP.Response)
    #endif
    func take() -> (Data?, Response?, outcome: (any Sendable)?) {
        kept.withLock { kept in
            defer { kept = Kept() }
            return (kept.data, kept.response, kept.outcome)
        }
    }
}
