public import FoundationEssentials

/// What becomes of the body of a success.
@usableFromInline
enum Reception<Remote: Sendable>: Sendable {
    /// It is collected, and delivered as a value made of it.
    case collected(@Sendable (Data) -> Remote)
    /// It goes to a receiver; a value made of that, or of the body that an interceptor provides, is delivered.
    case streamed(StreamReceiver, @Sendable (HTTP.Reply.Body?) -> Remote)
}

/// One fetch in the types of its stack: makes its requests, starts its hops, and maps how it ended to the stack's result.
@usableFromInline
final class Fetch<Transport: HTTPTransport, Remote: Sendable>: FetchDelegate {
    @usableFromInline typealias FetchError = HTTPFetchError<Transport.Response, Transport.Failure>
    @usableFromInline typealias Outcome = Result<Network.Value<Remote, Transport.Response>, FetchError>
    @usableFromInline typealias Intercepted = InterceptedAttempt<Transport.Request, Transport.Response>

    @usableFromInline let engine: HTTPEngine<Transport>
    @usableFromInline let resource: HTTPResource<Transport.Request, Transport.Response>
    @usableFromInline let options: Shared<HTTP.Options>
    @usableFromInline let reception: Reception<Remote>
    @usableFromInline let completion: FetchCompletion<Outcome>
    /// `nil` without interceptors.
    @usableFromInline let intercepted: Intercepted?
    /// `nil` without listeners.
    @usableFromInline let trace: FetchTrace?
    // Compiled where the fetch begins, for the stack's types. Generic code looks its types up at run time: 8 % of a fetch.
    @usableFromInline let making: @Sendable (Fetch) -> Result<HTTP.Request, any Error>?
    @usableFromInline let starting: @Sendable (Fetch, HTTPHop, FetchLoop, Int) -> any HTTPTransfer
    @usableFromInline let succeeding: @Sendable (Fetch, HTTP.Response, Data) -> Void
    @usableFromInline let succeedingIntercepted: @Sendable (Fetch, Intercepted.Success, Data) -> Void
    @usableFromInline let resumesTask: Bool

    @inlinable
    init(
        engine: HTTPEngine<Transport>,
        resource: HTTPResource<Transport.Request, Transport.Response>,
        reception: Reception<Remote>,
        completion: FetchCompletion<Outcome>
    ) {
        self.engine = engine
        self.resource = resource
        self.reception = reception
        self.completion = completion
        options = resource.options(over: engine.context.options)
        intercepted = engine.isIntercepted(resource) ? engine.interceptedAttempt(of: resource, options) : nil
        trace = engine.context.makeTrace()
        making = { $0.resource.content.makeAtOnce() }
        starting = { fetch, hop, loop, number in
            fetch.engine.transport.start(hop, sink: HopSink<Transport.Failure>(loop, hop: number))
        }
        succeeding = { $0.succeed($0.engine.transport.response($1), $2) }
        succeedingIntercepted = { $0.succeed($1.response, $2) }
        resumesTask = completion.resumesTask
    }

    /// Begins the fetch.
    ///
    /// - Returns: Cancels it.
    @usableFromInline
    func begin() -> any Cancelable { context.begin(self) }

    var context: EngineContext { engine.context }

    var isIntercepted: Bool { intercepted != nil }

    var receiver: StreamReceiver? {
        if case .streamed(let receiver, _) = reception { receiver } else { nil }
    }

    // MARK: Making and carrying

    func makeAtOnce(_ attempt: Attempt) -> Result<HTTP.Request, any Error>? {
        if let intercepted { intercepted.makeAtOnce(resource, for: attempt) } else { making(self) }
    }

    func make(_ attempt: Attempt, _ handler: @escaping MadeRequestHandler) -> any Cancelable {
        guard let intercepted else { return resource.make { made in handler(made.neutral) } }
        intercepted.begin(attempt)
        return resource.make { made in
            intercepted.runRequestInterceptors(made, of: attempt, handler)
        }
    }

    func reportScheduled(_ attempt: Attempt) { intercepted?.reportScheduled(attempt) }

    func start(_ hop: HTTPHop, for loop: FetchLoop, number: Int) -> any HTTPTransfer {
        starting(self, hop, loop, number)
    }

    // MARK: HTTPInterceptors

    var interceptsAttempts: Bool { intercepted?.interceptsAttempts ?? false }

    func intercept(_ request: HTTP.Request, _ last: HTTP.Next) async throws -> HTTP.Reply {
        guard let intercepted else { return try await last(request) }
        return try await intercepted.chain.intercept(request, last)
    }

    func keep(_ sent: HTTP.Request, of attempt: Int) { intercepted?.keep(sent, of: attempt) }

    func reply(to ending: Ending) -> Result<HTTP.Reply, any Error> {
        switch ending {
        case .whole(let head, let data, _, _): .success(HTTP.Reply(head, body: data))
        case .opened(let head, _):
            if let receiver {
                .success(HTTP.Reply(head, body: ByteStream(ByteStream<FetchError>(receiver), mapError: \.erased)))
            } else {
                .failure(streamError(of: ending))
            }
        default: .failure(streamError(of: ending))
        }
    }

    // MARK: Settling

    func storeResult(of ending: Ending) -> Bool {
        guard let intercepted else { return false }
        // No value is made of a collected body before it has been transformed.
        if case .whole(let head, let data, let method, false) = ending, isCollected(head, data, method) {
            intercepted.keep(engine.transport.response(head), data)
            return true
        }
        return judgeOutcome(of: ending, intercepted)
    }

    /// Separate from ``judge(_:)``, because its types are looked up at run time as soon as it is entered.
    @inline(never)
    private func judgeOutcome(of ending: Ending, _ intercepted: Intercepted) -> Bool {
        let (outcome, data) = outcome(of: ending)
        switch outcome {
        case .success(let value): intercepted.keep(value.response, data, outcome: outcome)
        case .failure: intercepted.keep(failure: outcome, data)
        }
        return (try? outcome.get()) != nil
    }

    var interceptsBody: Bool { intercepted?.interceptsBody ?? false }

    func transform(_ handler: @escaping @Sendable (Bool) -> Void) -> any Cancelable {
        guard let intercepted else {
            handler(false)
            return EmptyCancelable()
        }
        return intercepted.transform { error in
            if let error {
                let head = intercepted.remainsOfFailure.success?.response.httpResponse
                let context = head.map { HTTP.FetchContext($0) } ?? .init()
                intercepted.keep(outcome: Outcome.failure(.interceptor(error, context)))
            }
            handler(error == nil)
        }
    }

    func reportSuccess(_ attempt: Attempt) { intercepted?.reportSuccess(attempt) }

    func vote(_ attempt: Attempt) -> (Retry.Action, any Error) {
        guard let intercepted, case .failure(let error) = intercepted.outcome as? Outcome else {
            return (.none, FetchError.cancelled)
        }
        let (data, success) = intercepted.remainsOfFailure
        let (content, response) = (data ?? success?.data, error.response ?? success?.response)
        return (intercepted.vote(attempt, data: content, response: response, on: error), error)
    }

    func abridged(_ error: any Error) -> any Error {
        (error as? FetchError)?.abridged(engine.transport.response) ?? error
    }

    func giveUp(_ error: Retry.Error, _ state: Retry.State) {
        intercepted?.keep(outcome: Outcome.failure(.retry(error, state)))
    }

    // MARK: Completing

    func streamError(of ending: Ending) -> any Error {
        if case .failure(let error) = outcome(of: ending).0 { error } else { FetchError.cancelled }
    }

    func complete(_ ending: Ending, reporting attempt: Attempt?) {
        if let attempt { report(attempt, cutShortBy: ending) }
        switch ending {
        case .resultStored:
            guard let intercepted else { break }
            // Nothing is kept after this: a stream must not be held by the fetch that feeds it.
            let (success, outcome) = intercepted.take()
            if outcome == nil, let success, let data = success.data {
                if let trace, let response = success.response.httpResponse { trace.succeeded(response) }
                return succeedingIntercepted(self, success, data)
            }
            return completeStored(outcome)
        case .whole(let head, let data, let method, false) where isCollected(head, data, method):
            if let trace { trace.succeeded(head) }
            return succeeding(self, head, data)
        default: break
        }
        completeOutcome(of: ending)
    }

    /// Reports the end of an attempt that was cut short. The stored result stays: an attempt that settles may be changing it.
    @inline(never)
    private func report(_ attempt: Attempt, cutShortBy ending: Ending) {
        intercepted?.end()
        guard let intercepted, case (.failure(let error), let data) = outcome(of: ending) else { return }
        _ = intercepted.vote(attempt, data: data, response: error.response, on: error)
    }

    /// Separate, like ``judgeOutcome(of:_:)``.
    @inline(never)
    private func completeStored(_ outcome: (any Sendable)?) {
        let outcome = outcome as? Outcome ?? .failure(.cancelled)
        reportToListeners(outcome)
        completion.complete(outcome, in: context.batch)
    }

    /// Separate, like ``judgeOutcome(of:_:)``.
    @inline(never)
    private func completeOutcome(of ending: Ending) {
        let outcome = outcome(of: ending).0
        reportToListeners(outcome)
        completion.complete(outcome, in: context.batch)
    }

    /// Reports the outcome to listeners. A stream goes on after its success.
    private func reportToListeners(_ outcome: Outcome) {
        guard let trace else { return }
        switch outcome {
        case .success(let value):
            if receiver == nil, let response = value.response.httpResponse { trace.succeeded(response) }
        case .failure(let error): trace.failed(error)
        }
    }

    @inlinable
    func succeed(_ response: Transport.Response, _ data: Data) {
        guard case .collected(let remote) = reception else { return }
        completion.complete(.success(.init(value: remote(data), response: response)), in: engine.context.batch)
    }

    /// Whether a response whose status is no failure is a success whose body is collected.
    private func isCollected(_ head: HTTP.Response, _ data: Data, _ method: HTTP.Method) -> Bool {
        guard case .collected = reception else { return false }
        return !lacksContent(data, head.status, method)
    }

    /// Whether a success must have a body, and has none.
    private func lacksContent(_ data: Data, _ status: HTTP.StatusCode, _ method: HTTP.Method) -> Bool {
        data.isEmpty && !options.value.allowsEmptyBody(status: status, method: method)
    }

    /// The stack's result of an ending (``HTTPFetchError``), and the body that came with it.
    private func outcome(of ending: Ending) -> (Outcome, Data?) {
        switch ending {
        case .whole(var neutral, let data, let method, let fails):
            let payload = data.isEmpty ? nil : data
            if fails { neutral.errorBody = payload }
            let response = engine.transport.response(neutral)
            if fails {
                let apiError = resource.errorDecoding.decode(payload, response)
                return (.failure(.http(neutral.status, apiError, response)), payload)
            }
            if lacksContent(data, neutral.status, method) {
                return (.failure(.noData(neutral.status, response)), nil)
            }
            guard case .collected(let remote) = reception else { return (.failure(.badResponse(response)), nil) }
            return (.success(.init(value: remote(data), response: response)), data)
        case .opened(let neutral, let body):
            let response = engine.transport.response(neutral)
            guard case .streamed(_, let remote) = reception else { return (.failure(.badResponse(response)), nil) }
            return (.success(.init(value: remote(body), response: response)), nil)
        case .noRequest(let error): return (.failure(.noRequest(error)), nil)
        case .thrown(let error, let context):
            let neutral = error as? HTTPFetchError<HTTP.Response, any Error>
            let failure =
                error as? FetchError ?? neutral?.typed(engine.transport.response)
                ?? .interceptor(error, context ?? .init())
            return (.failure(failure), failure.body)
        case .rejected(let error, let context): return (.failure(.interceptor(error, context ?? .init())), nil)
        case .failed(let failure, let context):
            return (.failure(failure.typed(engine.transport.response, in: context ?? .init())), nil)
        case .cancelled, .resultStored: return (.failure(.cancelled), nil)
        }
    }
}

extension Result where Success: HTTPRequestConvertible, Failure == any Error {
    /// A made request in neutral terms.
    @inlinable var neutral: Result<HTTP.Request, any Error> {
        flatMap { request in Result<HTTP.Request, any Error> { try request.httpRequest() } }
    }
}
