internal import FoundationEssentials

/// What is known of a fetch's attempt while others intercept it, and what they are told of it.
///
/// Its functions are compiled for the neutral types besides: what is generic looks its types up at run time, and that came
/// to more than all the rest of an interceptor that changes nothing.
@usableFromInline
final class InterceptedAttempt<Request: HTTPRequestConvertible, Response: HTTPResponseConvertible>: Sendable {
    /// The request of an attempt. An object, like the success, so that passing it on is the same for every type.
    private final class Made: Sendable {
        let request: Request

        init(_ request: Request) { self.request = request }
    }

    /// What an attempt has come to, if all is well so far.
    @usableFromInline
    final class Success: Sendable {
        @usableFromInline let response: Response
        /// Its content; nothing if that is streamed.
        let data: Data?

        init(_ response: Response, _ data: Data?) { (self.response, self.data) = (response, data) }
    }

    private struct Kept {
        /// Which attempt it is: what comes of an earlier one does not count.
        var number = 0
        /// A base request that is handed over twice counts once.
        var wasMade = false
        /// Whether the fetch has ended before its attempt: what is made after that goes to nobody.
        var isOver = false
        var made: Made?
        /// Whether the request was told of: until then an end has nothing that it ends.
        var wasScheduled = false
        var success: Success?
        /// The content that came with a failure.
        var failedData: Data?
        /// The stack's result, unless it is a success whose content is collected.
        var outcome: (any Sendable)?
    }

    /// Whether anybody takes part in the request.
    private let interceptsRequests: Bool
    /// Whether anybody takes part in content.
    let interceptsContent: Bool
    private let chain: InterceptorChain<Request, Response>
    private let kept: Lock<Kept>

    #if compiler(>=6.3)
        @specialized(where Request == HTTP.Request, Response == HTTP.Response)
    #endif
    init(_ chain: InterceptorChain<Request, Response>) {
        self.chain = chain
        interceptsRequests = chain.interceptsRequests
        interceptsContent = chain.interceptsContent
        kept = Lock(Kept())
    }

    /// Another attempt begins.
    func begin(_ attempt: Attempt) {
        guard attempt.number > 1 else { return kept.withLock { $0.number = attempt.number } }
        let last = kept.withLock { kept in
            let last = (kept.made, kept.success, kept.outcome)
            // What is over stays over.
            let isOver = kept.isOver
            kept = Kept()
            (kept.number, kept.isOver) = (attempt.number, isOver)
            return last
        }
        withExtendedLifetime(last) {}  // What it held is let go of after the lock.
    }

    /// Makes the request of an attempt that has just begun, unless somebody takes part in that, and keeps it.
    #if compiler(>=6.3)
        @specialized(where Request == HTTP.Request, Response == HTTP.Response)
    #endif
    func makeAtOnce(
        _ resource: HTTPResource<Request, Response>,
        for attempt: Attempt
    ) -> Result<HTTP.Request, any Error>? {
        guard !interceptsRequests, let make = resource.content.baseRequestMaking.makeAtOnce else { return nil }
        begin(attempt)
        do {
            let request = try chain.plain(make())
            keep(Made(request), of: attempt.number)
            return .success(try request.httpRequest())
        } catch {
            return .failure(error)
        }
    }

    /// Keeps the request of the attempt with this number.
    private func keep(_ made: Made, of number: Int) {
        var last: AnyObject?  // Its own type would be looked up at run time.
        kept.withLock { kept in
            guard kept.number == number else { return }
            last = kept.made
            kept.made = made
        }
        withExtendedLifetime(last) {}
    }

    /// Threads the base request of an attempt through the interceptors, and keeps what comes of it.
    ///
    /// - Parameters:
    ///   - made: The base request, or why there is none.
    ///   - attempt: Whose it is.
    ///   - handler: Takes what came of it, in neutral terms. Called once at most.
    /// - Returns: Cancels what is under way.
    #if compiler(>=6.3)
        @specialized(where Request == HTTP.Request, Response == HTTP.Response)
    #endif
    func thread(
        _ made: Result<Request, any Error>,
        of attempt: Attempt,
        _ handler: @escaping MadeRequestHandler
    ) -> any Cancelable {
        let number = attempt.number
        let isFirst = kept.withLock { kept in
            guard kept.number == number, !kept.wasMade, !kept.isOver else { return false }
            kept.wasMade = true
            return true
        }
        guard isFirst else { return EmptyCancelable() }
        guard interceptsRequests else {
            return takeOn(made.flatMap { request in Result { try chain.plain(request) } }, number, handler)
        }
        return chain.threadRequest(made) { [self] threaded in takeOn(threaded, number, handler) }
    }

    /// Keeps the request of the attempt with this number, and hands it on.
    #if compiler(>=6.3)
        @specialized(where Request == HTTP.Request, Response == HTTP.Response)
    #endif
    private func takeOn(
        _ threaded: Result<Request, any Error>,
        _ number: Int,
        _ handler: MadeRequestHandler
    ) -> any Cancelable {
        if case .success(let request) = threaded { keep(Made(request), of: number) }
        return handler(threaded.neutral)
    }

    /// Tells that the attempt is about to start.
    #if compiler(>=6.3)
        @specialized(where Request == HTTP.Request, Response == HTTP.Response)
    #endif
    func schedule(_ attempt: Attempt) {
        let made = kept.withLock { kept in
            kept.wasScheduled = kept.made != nil
            return kept.made
        }
        guard let made else { return }
        chain.schedule(attempt, made.request)
    }

    /// Keeps the success that the attempt has come to.
    ///
    /// - Parameters:
    ///   - response: Its response.
    ///   - data: Its content; `nil` if that is streamed.
    ///   - outcome: The stack's result, unless the content is collected.
    #if compiler(>=6.3)
        @specialized(where Request == HTTP.Request, Response == HTTP.Response)
    #endif
    func keep(_ response: Response, _ data: Data?, outcome: (any Sendable)? = nil) {
        let success = Success(response, data)
        kept.withLock { ($0.success, $0.outcome) = (success, outcome) }
    }

    /// Keeps the failure that the attempt has come to, and the content that came with it.
    func keep(failure outcome: any Sendable, _ data: Data?) {
        kept.withLock { ($0.success, $0.failedData, $0.outcome) = (nil, data, outcome) }
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
        let (number, made, success) = kept.withLock { ($0.number, $0.made, $0.success) }
        guard let made, let success, let data = success.data else {
            handler(CancellationError())
            return EmptyCancelable()
        }
        return chain.threadContent(data, response: success.response, request: made.request) { [self] threaded in
            let (transformed, error): (Success?, (any Error)?) =
                switch threaded {
                case .success(let data): (Success(success.response, data), nil)
                case .failure(let error): (success, error)
                }
            // Only what is transformed in this attempt counts.
            let counts = kept.withLock { kept in
                guard kept.number == number, kept.success != nil else { return false }
                kept.success = transformed
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
        let (made, success) = kept.withLock { ($0.made, $0.success) }
        guard let made, let success else { return }
        chain.succeed(attempt, made.request, success.data ?? Data(), success.response)
    }

    /// What came with the failure that is kept: its content, or all of what was a success before somebody would not take it.
    var remainsOfFailure: (data: Data?, Success?) { kept.withLock { ($0.failedData, $0.success) } }

    /// Tells of a failure, and has it voted on. What fails before it is scheduled, fails without a request.
    func vote(_ attempt: Attempt, data: Data?, response: Response?, on error: any Error) -> Retry.Action {
        let number = attempt.number
        let made = kept.withLock { $0.number == number && $0.wasScheduled ? $0.made : nil }
        return chain.vote(attempt, request: made?.request, data: data, response: response, error: error)
    }

    /// The fetch has ended before its attempt has.
    func end() { kept.withLock { $0.isOver = true } }

    /// Lets go of everything. Answers what is kept of a success, and the stack's result if there is one.
    func take() -> (Success?, outcome: (any Sendable)?) {
        var made: AnyObject?
        defer { withExtendedLifetime(made) {} }  // The request is let go of after the lock.
        return kept.withLock { kept in
            made = kept.made
            // One by one: a whole `Kept` has a type that is looked up at run time.
            defer { (kept.number, kept.made, kept.success, kept.failedData, kept.outcome) = (0, nil, nil, nil, nil) }
            return (kept.success, kept.outcome)
        }
    }
}
