internal import FoundationEssentials

/// What becomes of the content of a success.
enum Reception<Remote: Sendable>: Sendable {
    /// It is collected, and something is made of it.
    case collected(@Sendable (Data) -> Remote)
    /// It goes to a receiver, and something is made of the head.
    case streamed(StreamReceiver, @Sendable (HTTP.Response) -> Remote)
}

/// One fetch in the types of its stack: what its exchange asks for is answered here.
final class Fetching<Transport: HTTPTransport, Remote: Sendable>: ExchangeSteps {
    typealias Request = Transport.Request
    typealias Response = Transport.Response
    typealias FetchError = HTTPFetchError<Response, Transport.Failure>
    typealias Outcome = Result<Network.Value<Remote, Response>, FetchError>

    /// What is known of an attempt. Nobody asks unless somebody intercepts.
    private struct Kept {
        var request: Request?
        var data: Data?
        var outcome: Outcome?

        mutating func takeOutcome() -> Outcome? {
            defer { self = Kept() }
            return outcome
        }
    }

    let isIntercepted: Bool
    private let engine: HTTPEngine<Transport>
    private let resource: HTTPResource<Request, Response>
    private let options: HTTP.Options
    private let chain: InterceptorChain<Request, Response>
    private let reception: Reception<Remote>
    private let completion: @Sendable (Outcome) -> Void
    private let kept: Lock<Kept>?

    init(
        engine: HTTPEngine<Transport>,
        resource: HTTPResource<Request, Response>,
        reception: Reception<Remote>,
        completion: @escaping @Sendable (Outcome) -> Void
    ) {
        self.engine = engine
        self.resource = resource
        self.reception = reception
        self.completion = completion
        options = resource.options ?? engine.options
        chain = engine.chain(for: resource)
        isIntercepted = !chain.isEmpty
        kept = isIntercepted ? Lock(Kept()) : nil
    }

    var receiver: StreamReceiver? {
        if case .streamed(let receiver, _) = reception { receiver } else { nil }
    }

    func nextIdentifier() -> Int { engine.nextIdentifier() }

    func make(_ attempt: Attempt, _ handler: @escaping Exchange.Handler) -> any Cancelable {
        guard let kept else {
            return resource.baseRequestMaking.make { [sessionHeaders] made in
                handler(Self.neutral(made, sessionHeaders))
            }
        }
        kept.withLock { $0 = Kept() }
        // A base request that is handed over twice counts once; what happens to the chain's requests is up to the chain.
        let wasMade = Lock(false)
        return resource.baseRequestMaking.make { [chain, sessionHeaders] made in
            let isFirst = wasMade.withLock { wasMade in
                defer { wasMade = true }
                return !wasMade
            }
            guard isFirst else { return EmptyCancelable() }
            return chain.threadRequest(made) { threaded in
                let neutral = Self.neutral(threaded, sessionHeaders)
                if case .success(let request) = threaded { kept.withLock { $0.request = request } }
                return handler(neutral)
            }
        }
    }

    /// The stack's header fields, unless the resource does without. Whoever makes a request may keep what it is handed for
    /// long after the fetch has ended, so that is all of the stack that a maker's handler holds.
    private var sessionHeaders: HTTP.Headers? { options.usesSessionHeaders ? engine.sessionHeaders : nil }

    /// A made request in neutral terms, with the stack's header fields.
    private static func neutral(
        _ made: Result<Request, any Error>,
        _ sessionHeaders: HTTP.Headers?
    ) -> Result<HTTP.Request, any Error> {
        made.flatMap { request in
            Result {
                let request = try request.httpRequest()
                guard let sessionHeaders else { return request }
                return request.with(sessionHeaders: sessionHeaders)
            }
        }
    }

    func schedule(_ attempt: Attempt) {
        guard let request = kept?.withLock({ $0.request }) else { return }
        chain.schedule(attempt, request)
    }

    var memory: StateManagement { engine.memory }

    func trust(for origin: HTTP.Origin) throws(HTTP.Refusal) -> ServerTrust {
        try engine.trust(for: origin)
    }

    func start(_ hop: HTTPHop, for exchange: Exchange, number: Int) -> any HTTPTransfer {
        engine.transport.start(
            hop,
            sink: HopSink<Transport.Failure>(exchange, hop: number, reporter: engine.reporter)
        )
    }

    func judge(_ ending: Ending) -> Bool {
        guard let kept else { return false }
        let (outcome, data) = outcome(of: ending)
        kept.withLock { ($0.outcome, $0.data) = (outcome, data) }
        if case .success = outcome { return true }
        return false
    }

    func transform(_ handler: @escaping @Sendable (Bool) -> Void) -> any Cancelable {
        guard let kept, case .collected(let remote) = reception, case let found = kept.withLock({ $0 }),
            let request = found.request, let data = found.data, case .success(let value) = found.outcome
        else {
            handler(false)
            return EmptyCancelable()
        }
        return chain.threadContent(data, response: value.response, request: request) { threaded in
            let outcome: Outcome =
                switch threaded {
                case .success(let data): .success(.init(value: remote(data), response: value.response))
                case .failure(let error): .failure(.refused(.interceptor(error)))
                }
            let isFirst = kept.withLock { kept in
                // Only what is transformed in this attempt counts.
                guard kept.data != nil else { return false }
                kept.outcome = outcome
                if case .success(let data) = threaded { kept.data = data }
                return true
            }
            if isFirst { handler((try? threaded.get()) != nil) }
            return EmptyCancelable()
        }
    }

    func succeed(_ attempt: Attempt) {
        guard let kept = kept?.withLock({ $0 }), let request = kept.request, case .success(let value) = kept.outcome
        else { return }
        chain.succeed(attempt, request, kept.data ?? Data(), value.response)
    }

    func vote(_ attempt: Attempt) -> (Retry.Action, any Error) {
        guard let kept = kept?.withLock({ $0 }), case .failure(let error) = kept.outcome else {
            return (.none, FetchError.cancelled)
        }
        let action = chain.vote(
            attempt,
            request: kept.request,
            data: kept.data,
            response: error.response,
            error: error
        )
        return (action, error)
    }

    func giveUp(_ error: Retry.Error, _ state: Retry.State) {
        kept?.withLock { $0.outcome = .failure(.retry(error, state)) }
    }

    func streamError(of ending: Ending) -> any Error {
        if case .failure(let error) = outcome(of: ending).0 { error } else { FetchError.cancelled }
    }

    func complete(_ ending: Ending, telling attempt: Attempt?) {
        if let attempt {
            _ = judge(ending)
            _ = vote(attempt)
        }
        // Nothing is kept after this: a stream must not be held by the exchange that feeds it.
        if let kept, case .judged = ending, case let found = kept.withLock({ $0.takeOutcome() }) {
            return completion(found ?? .failure(.cancelled))
        }
        completion(outcome(of: ending).0)
    }

    /// The stack's result of a neutral ending (the table in the contract's step 6), and the content that came with it.
    private func outcome(of ending: Ending) -> (Outcome, Data?) {
        switch ending {
        case .whole(let neutral, let data, let method):
            let response = engine.transport.response(neutral)
            let payload = data.isEmpty ? nil : data
            guard neutral.status.statusClass == .success else {
                let apiError = resource.errorDecoding.decode(payload, response)
                return (.failure(.http(neutral.status, apiError, response)), payload)
            }
            if data.isEmpty, !options.allowsEmptyBody(status: neutral.status, method: method) {
                return (.failure(.noData(neutral.status, response)), nil)
            }
            guard case .collected(let remote) = reception else { return (.failure(.badResponse(response)), nil) }
            return (.success(.init(value: remote(data), response: response)), data)
        case .opened(let neutral):
            let response = engine.transport.response(neutral)
            guard case .streamed(_, let remote) = reception else { return (.failure(.badResponse(response)), nil) }
            return (.success(.init(value: remote(neutral), response: response)), nil)
        case .noRequest(let error): return (.failure(.noRequest(error)), nil)
        case .refused(let refusal): return (.failure(.refused(refusal)), nil)
        case .badResponse: return (.failure(.badResponse(nil)), nil)
        case .cancelled, .judged: return (.failure(.cancelled), nil)
        case .transport(let error):
            return (.failure((error as? Transport.Failure).map { .transport($0) } ?? .noRequest(error)), nil)
        }
    }
}
