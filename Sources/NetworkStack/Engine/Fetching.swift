internal import FoundationEssentials

/// What becomes of the content of a success.
enum Reception<Remote: Sendable>: Sendable {
    /// It is collected, and something is made of it.
    case collected(@Sendable (Data) -> Remote)
    /// It goes to a receiver, and something is made of the head.
    case streamed(StreamReceiver, @Sendable (HTTP.Response) -> Remote)
}

/// One fetch in the types of its stack, that somebody intercepts or whose content is streamed: what its exchange asks for is
/// answered here.
final class Fetching<Transport: HTTPTransport, Remote: Sendable>: ExchangeSteps {
    typealias Request = Transport.Request
    typealias Response = Transport.Response
    typealias FetchError = HTTPFetchError<Response, Transport.Failure>
    typealias Outcome = Result<Network.Value<Remote, Response>, FetchError>

    private let engine: HTTPEngine<Transport>
    private let resource: HTTPResource<Request, Response>
    let options: Shared<HTTP.Options>
    private let starting: (@Sendable (HTTPHop, Exchange, Int) -> any HTTPTransfer)?
    private let succeeding: (@Sendable (InterceptedAttempt<Request, Response>.Success, Data) -> Void)?
    private let reception: Reception<Remote>
    private let completion: @Sendable (Outcome) -> Void
    /// Nothing unless somebody intercepts.
    private let intercepted: InterceptedAttempt<Request, Response>?

    /// Serves one fetch. What starts its hops, and completes with content that
    /// was collected, may be given, compiled for the stack's types, which are not looked up then.
    init(
        engine: HTTPEngine<Transport>,
        resource: HTTPResource<Request, Response>,
        starting: (@Sendable (HTTPHop, Exchange, Int) -> any HTTPTransfer)? = nil,
        succeeding: (@Sendable (InterceptedAttempt<Request, Response>.Success, Data) -> Void)? = nil,
        reception: Reception<Remote>,
        completion: @escaping @Sendable (Outcome) -> Void
    ) {
        self.engine = engine
        self.resource = resource
        self.starting = starting
        self.succeeding = succeeding
        self.reception = reception
        self.completion = completion
        options = resource.sharedOptions ?? engine.context.options
        intercepted = engine.isIntercepted(resource) ? InterceptedAttempt(engine.chain(for: resource)) : nil
    }

    var context: ExchangeContext { engine.context }

    var isIntercepted: Bool { intercepted != nil }

    var receiver: StreamReceiver? {
        if case .streamed(let receiver, _) = reception { receiver } else { nil }
    }

    func nextIdentifier() -> Int { engine.nextIdentifier() }

    func makeAtOnce(_ attempt: Attempt) -> Result<HTTP.Request, any Error>? {
        if let intercepted { intercepted.makeAtOnce(resource, for: attempt) } else { resource.content.makeAtOnce() }
    }

    func make(_ attempt: Attempt, _ handler: @escaping MadeRequestHandler) -> any Cancelable {
        guard let intercepted else { return resource.make { made in handler(made.neutral) } }
        intercepted.begin(attempt)
        return resource.make { made in
            intercepted.thread(made, of: attempt, handler)
        }
    }

    func schedule(_ attempt: Attempt) { intercepted?.schedule(attempt) }

    func start(_ hop: HTTPHop, for exchange: Exchange, number: Int) -> any HTTPTransfer {
        if let starting { return starting(hop, exchange, number) }
        return engine.transport.start(hop, sink: HopSink<Transport.Failure>(exchange, hop: number))
    }

    func judge(_ ending: Ending) -> Bool {
        guard let intercepted else { return false }
        // Nothing is made of content that is collected before it has been transformed.
        if case .whole(let head, let data, let method) = ending, case .collected = reception,
            head.status.statusClass == .success, !lacksContent(data, head.status, method)
        {
            intercepted.keep(engine.transport.response(head), data)
            return true
        }
        return judgeOutcome(of: ending, intercepted)
    }

    /// Apart from ``judge(_:)``, whose types are looked up at run time as soon as it is entered.
    @inline(never)
    private func judgeOutcome(of ending: Ending, _ intercepted: InterceptedAttempt<Request, Response>) -> Bool {
        let (outcome, data) = outcome(of: ending)
        switch outcome {
        case .success(let value): intercepted.keep(value.response, data, outcome: outcome)
        case .failure: intercepted.keep(failure: outcome, data)
        }
        return (try? outcome.get()) != nil
    }

    var interceptsContent: Bool { intercepted?.interceptsContent ?? false }

    func transform(_ handler: @escaping @Sendable (Bool) -> Void) -> any Cancelable {
        guard let intercepted else {
            handler(false)
            return EmptyCancelable()
        }
        return intercepted.transform { error in
            if let error { intercepted.keep(outcome: Outcome.failure(.interceptor(error))) }
            handler(error == nil)
        }
    }

    func succeed(_ attempt: Attempt) { intercepted?.succeed(attempt) }

    func vote(_ attempt: Attempt) -> (Retry.Action, any Error) {
        guard let intercepted, case .failure(let error) = intercepted.outcome as? Outcome else {
            return (.none, FetchError.cancelled)
        }
        let (data, success) = intercepted.remainsOfFailure
        let (content, response) = (data ?? success?.data, error.response ?? success?.response)
        return (intercepted.vote(attempt, data: content, response: response, on: error), error)
    }

    func giveUp(_ error: Retry.Error, _ state: Retry.State) {
        intercepted?.keep(outcome: Outcome.failure(.retry(error, state)))
    }

    func streamError(of ending: Ending) -> any Error {
        if case .failure(let error) = outcome(of: ending).0 { error } else { FetchError.cancelled }
    }

    func complete(_ ending: Ending, telling attempt: Attempt?) {
        if let attempt { tell(attempt, cutShortBy: ending) }
        // Nothing is kept after this: a stream must not be held by the exchange that feeds it.
        if case .judged = ending, let intercepted {
            let (success, outcome) = intercepted.take()
            if outcome == nil, let succeeding, let success, let data = success.data { return succeeding(success, data) }
            return completeKept(success, outcome)
        }
        completeOutcome(of: ending)
    }

    /// Tells the end of an attempt that has not come to its own. What is kept is not touched: an attempt that settles meanwhile
    /// may be changing it.
    @inline(never)
    private func tell(_ attempt: Attempt, cutShortBy ending: Ending) {
        intercepted?.end()
        guard let intercepted, case (.failure(let error), let data) = outcome(of: ending) else { return }
        _ = intercepted.vote(attempt, data: data, response: error.response, on: error)
    }

    /// Apart from ``complete(_:telling:)``, like ``judgeOutcome(of:_:)``.
    @inline(never)
    private func completeKept(
        _ success: InterceptedAttempt<Request, Response>.Success?,
        _ outcome: (any Sendable)?
    ) {
        if outcome == nil, let success, let data = success.data, case .collected(let remote) = reception {
            return completion(.success(.init(value: remote(data), response: success.response)))
        }
        completion(outcome as? Outcome ?? .failure(.cancelled))
    }

    /// Apart likewise.
    @inline(never)
    private func completeOutcome(of ending: Ending) { completion(outcome(of: ending).0) }

    /// Whether a success must have content, and has none.
    private func lacksContent(_ data: Data, _ status: HTTP.StatusCode, _ method: HTTP.Method) -> Bool {
        data.isEmpty && !options.value.allowsEmptyBody(status: status, method: method)
    }

    /// The stack's result of a neutral ending (the table in the contract's step 6), and the content that came with it.
    private func outcome(of ending: Ending) -> (Outcome, Data?) {
        switch ending {
        case .whole(var neutral, let data, let method):
            let payload = data.isEmpty ? nil : data
            let isSuccess = neutral.status.statusClass == .success
            if !isSuccess { neutral.errorBody = payload }
            let response = engine.transport.response(neutral)
            guard isSuccess else {
                let apiError = resource.errorDecoding.decode(payload, response)
                return (.failure(.http(neutral.status, apiError, response)), payload)
            }
            if lacksContent(data, neutral.status, method) {
                return (.failure(.noData(neutral.status, response)), nil)
            }
            guard case .collected(let remote) = reception else { return (.failure(.badResponse(response)), nil) }
            return (.success(.init(value: remote(data), response: response)), data)
        case .opened(let neutral):
            let response = engine.transport.response(neutral)
            guard case .streamed(_, let remote) = reception else { return (.failure(.badResponse(response)), nil) }
            return (.success(.init(value: remote(neutral), response: response)), nil)
        case .noRequest(let error): return (.failure(.noRequest(error)), nil)
        case .failed(let failure, let context):
            return (.failure(FetchError(failure, context ?? .init(), engine.transport.response)), nil)
        case .cancelled, .judged: return (.failure(.cancelled), nil)
        }
    }
}
