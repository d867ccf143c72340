internal import FoundationEssentials

/// The attempt of a fetch with interceptors: what it has come to so far, which is reported to them.
///
/// Its functions are compiled for the neutral types besides: generic code looks its types up at run time. Without that, a fetch with
/// three interceptors that change nothing takes 1.44 times the instructions of one without, and not 1.14.
@usableFromInline
final class InterceptedAttempt<Request: HTTPRequestConvertible, Response: HTTPResponseConvertible>: Sendable {
    /// The request of an attempt: an object, like the success, so that passing it on is the same for every type.
    private final class Made: Sendable {
        let request: Request

        init(_ request: Request) { self.request = request }
    }

    /// What an attempt has come to, if it has not failed.
    @usableFromInline
    final class Success: Sendable {
        @usableFromInline let response: Response
        /// Its body; `nil` if that is streamed.
        let data: Data?

        init(_ response: Response, _ data: Data?) { (self.response, self.data) = (response, data) }
    }

    private struct State {
        /// Which attempt it is: results of an earlier one are ignored.
        var number = 0
        /// Whether the base request was handed over, or the attempt has failed before: another one is ignored.
        var wasMade = false
        /// Whether the fetch ended before its attempt: a request that is made later is dropped.
        var isOver = false
        var made: Made?
        /// Whether the request was reported: until then, a failure is reported without it.
        var wasScheduled = false
        var success: Success?
        /// The body that came with a failure.
        var failedData: Data?
        /// The stack's result, unless it is a success whose body is collected.
        var outcome: (any Sendable)?
    }

    /// Whether an interceptor may change the request.
    private let interceptsRequests: Bool
    /// Whether an interceptor may change the body.
    let interceptsBody: Bool
    /// Whether HTTPInterceptors run around attempts.
    let interceptsAttempts: Bool
    let chain: InterceptorChain<Request, Response>
    private let state: Lock<State>

    #if compiler(>=6.3)
        @specialized(where Request == HTTP.Request, Response == HTTP.Response)
    #endif
    init(_ chain: InterceptorChain<Request, Response>) {
        self.chain = chain
        interceptsRequests = chain.interceptsRequests
        interceptsBody = chain.interceptsBody
        interceptsAttempts = chain.interceptsAttempts
        state = Lock(State())
    }

    /// Another attempt begins.
    func begin(_ attempt: Attempt) {
        guard attempt.number > 1 else { return state.withLock { $0.number = attempt.number } }
        let last = state.withLock { state in
            let last = (state.made, state.success, state.outcome)
            // A fetch that is over stays over.
            let isOver = state.isOver
            state = State()
            (state.number, state.isOver) = (attempt.number, isOver)
            return last
        }
        withExtendedLifetime(last) {}  // Released after the lock.
    }

    /// Makes the request of an attempt that has just begun, unless an interceptor may change it, and keeps it.
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

    /// Keeps the request that an HTTPInterceptor sends in the attempt with this number.
    func keep(_ sent: HTTP.Request, of number: Int) {
        if let request = try? Request(sent) { keep(Made(request), of: number) }
    }

    /// Keeps the request of the attempt with this number.
    private func keep(_ made: Made, of number: Int) {
        var last: AnyObject?  // Its own type would be looked up at run time.
        state.withLock { state in
            guard state.number == number else { return }
            last = state.made
            state.made = made
        }
        withExtendedLifetime(last) {}
    }

    /// Passes the base request of an attempt through the interceptors, and keeps the result.
    ///
    /// - Parameters:
    ///   - made: The base request, or why there is none.
    ///   - attempt: Whose it is.
    ///   - handler: Takes the result, in neutral terms. Called once at most.
    /// - Returns: Cancels what is under way.
    #if compiler(>=6.3)
        @specialized(where Request == HTTP.Request, Response == HTTP.Response)
    #endif
    func runRequestInterceptors(
        _ made: Result<Request, any Error>,
        of attempt: Attempt,
        _ handler: @escaping MadeRequestHandler
    ) -> any Cancelable {
        let number = attempt.number
        let isFirst = state.withLock { state in
            guard state.number == number, !state.wasMade, !state.isOver else { return false }
            state.wasMade = true
            return true
        }
        guard isFirst else { return EmptyCancelable() }
        guard interceptsRequests else {
            return takeOn(made.flatMap { request in Result { try chain.plain(request) } }, number, handler)
        }
        return chain.runRequestInterceptors(made) { [self] passed in takeOn(passed, number, handler) }
    }

    /// Keeps the request of the attempt with this number, and hands it on.
    #if compiler(>=6.3)
        @specialized(where Request == HTTP.Request, Response == HTTP.Response)
    #endif
    private func takeOn(
        _ passed: Result<Request, any Error>,
        _ number: Int,
        _ handler: MadeRequestHandler
    ) -> any Cancelable {
        if case .success(let request) = passed { keep(Made(request), of: number) }
        return handler(passed.neutral)
    }

    /// Reports that the attempt is about to start, once.
    #if compiler(>=6.3)
        @specialized(where Request == HTTP.Request, Response == HTTP.Response)
    #endif
    func reportScheduled(_ attempt: Attempt) {
        let made = state.withLock { state -> Made? in
            if state.wasScheduled { return nil }
            state.wasScheduled = state.made != nil
            return state.made
        }
        guard let made else { return }
        chain.reportScheduled(attempt, made.request)
    }

    /// Keeps the success that the attempt has come to.
    ///
    /// - Parameters:
    ///   - response: Its response.
    ///   - data: Its body; `nil` if that is streamed.
    ///   - outcome: The stack's result, unless the body is collected.
    #if compiler(>=6.3)
        @specialized(where Request == HTTP.Request, Response == HTTP.Response)
    #endif
    func keep(_ response: Response, _ data: Data?, outcome: (any Sendable)? = nil) {
        let success = Success(response, data)
        state.withLock { ($0.success, $0.outcome) = (success, outcome) }
    }

    /// Keeps the failure that the attempt has come to, and the body that came with it. A request that is made later is dropped.
    func keep(failure outcome: any Sendable, _ data: Data?) {
        state.withLock { ($0.success, $0.failedData, $0.outcome, $0.wasMade) = (nil, data, outcome, true) }
    }

    /// The result that is kept.
    var outcome: (any Sendable)? { state.withLock { $0.outcome } }

    /// Replaces the result that is kept.
    func keep(outcome: any Sendable) { state.withLock { $0.outcome = outcome } }

    /// Has the interceptors transform the body of the success that is kept, and keeps the result.
    ///
    /// - Parameter handler: Takes what an interceptor failed with, if one did. Called once.
    /// - Returns: Cancels the transformation.
    #if compiler(>=6.3)
        @specialized(where Request == HTTP.Request, Response == HTTP.Response)
    #endif
    func transform(_ handler: @escaping @Sendable ((any Error)?) -> Void) -> any Cancelable {
        let (number, made, success) = state.withLock { ($0.number, $0.made, $0.success) }
        guard let made, let success, let data = success.data else {
            handler(CancellationError())
            return EmptyCancelable()
        }
        return chain.runBodyInterceptors(data, response: success.response, request: made.request) { [self] passed in
            let (transformed, error): (Success?, (any Error)?) =
                switch passed {
                case .success(let data): (Success(success.response, data), nil)
                case .failure(let error): (success, error)
                }
            // Only what is transformed in this attempt counts.
            let counts = state.withLock { state in
                guard state.number == number, state.success != nil else { return false }
                state.success = transformed
                return true
            }
            if counts { handler(error) }
            return EmptyCancelable()
        }
    }

    /// Reports the success that is kept.
    #if compiler(>=6.3)
        @specialized(where Request == HTTP.Request, Response == HTTP.Response)
    #endif
    func reportSuccess(_ attempt: Attempt) {
        let (made, success) = state.withLock { ($0.made, $0.success) }
        guard let made, let success else { return }
        chain.reportSuccess(attempt, made.request, success.data ?? Data(), success.response)
    }

    /// What came with the failure that is kept: its body, or all of a success that an interceptor rejected.
    var remainsOfFailure: (data: Data?, success: Success?) { state.withLock { ($0.failedData, $0.success) } }

    /// Reports a failure. Returns what the interceptors' votes come to. A failure before the scheduling has no request.
    func vote(_ attempt: Attempt, data: Data?, response: Response?, on error: any Error) -> Retry.Action {
        let number = attempt.number
        let made = state.withLock { $0.number == number && $0.wasScheduled ? $0.made : nil }
        return chain.vote(attempt, request: made?.request, data: data, response: response, error: error)
    }

    /// The fetch has ended before its attempt has.
    func end() { state.withLock { $0.isOver = true } }

    /// Releases everything. Returns what is kept of a success, and the stack's result if there is one.
    func take() -> (Success?, outcome: (any Sendable)?) {
        var made: AnyObject?
        defer { withExtendedLifetime(made) {} }  // Released after the lock.
        return state.withLock { state in
            made = state.made
            // One by one: a whole `State` has a type that is looked up at run time.
            defer {
                (state.number, state.made, state.success, state.failedData, state.outcome) = (0, nil, nil, nil, nil)
            }
            return (state.success, state.outcome)
        }
    }
}
