import FoundationEssentials
import NetworkStack
import NetworkStackTesting

/// What interceptors heard, in order.
final class EventLog: Sendable {
    private let entries = Lock<[String]>([])

    var all: [String] { entries.withLock { $0 } }

    func add(_ entry: String) { entries.withLock { $0.append(entry) } }
}

/// An interceptor made of closures; it writes down every event it hears, with its name.
struct Spy: HTTPResourceInterceptor {
    typealias Request = HTTP.Request
    typealias Response = HTTP.Response
    typealias Made = Result<HTTP.Request, any Error>

    /// What is told of a task.
    struct Told: Sendable {
        var identifier: Int
        var request: HTTP.Request?
        var data: Data?
        var response: HTTP.Response?
        var error: (any Error)?
        var state: Retry.State
    }

    let name: String
    let log: EventLog
    var make: @Sendable (Made, @escaping RequestHandler) -> any Cancelable = { $1($0) }
    var content: @Sendable (Data, @escaping ContentHandler) -> any Cancelable = { $1(.success($0)) }
    var scheduled: @Sendable (Told) -> Void = { _ in }
    var succeeded: @Sendable (Told) -> Void = { _ in }
    var vote: @Sendable (Told) -> Retry.Action = { _ in .none }

    init(_ name: String, _ log: EventLog = EventLog()) { (self.name, self.log) = (name, log) }

    func interceptMakeRequestResult(_ result: Made, handler: @escaping RequestHandler) -> any Cancelable {
        log.add("\(name) makes \((try? result.get()) == nil ? "nothing" : "a request")")
        return make(result, handler)
    }

    func interceptScheduledTask(withIdentifier identifier: Int, request: HTTP.Request, retryState: Retry.State) {
        log.add("\(name) schedules attempt \(retryState.attemptCount)")
        scheduled(Told(identifier: identifier, request: request, state: retryState))
    }

    func interceptContent(
        _ data: Data,
        response: HTTP.Response,
        request: HTTP.Request,
        handler: @escaping ContentHandler
    ) -> any Cancelable {
        log.add("\(name) takes \(String(decoding: data, as: UTF8.self))")
        return content(data, handler)
    }

    func interceptSuccessfulTask(
        withIdentifier identifier: Int,
        request: HTTP.Request,
        data: Data,
        response: HTTP.Response,
        retryState: Retry.State
    ) {
        log.add("\(name) succeeds with \(String(decoding: data, as: UTF8.self))")
        succeeded(Told(identifier: identifier, request: request, data: data, response: response, state: retryState))
    }

    func interceptFailedTask(
        withIdentifier identifier: Int,
        request: HTTP.Request?,
        data: Data?,
        response: HTTP.Response?,
        error: any Error,
        retryState: Retry.State
    ) -> Retry.Action {
        log.add("\(name) fails attempt \(retryState.attemptCount)" + (request == nil ? " without a request" : ""))
        return vote(
            Told(
                identifier: identifier,
                request: request,
                data: data,
                response: response,
                error: error,
                state: retryState
            )
        )
    }

    /// The same with something changed.
    func with(_ change: (inout Spy) -> Void) -> Spy {
        var changed = self
        change(&changed)
        return changed
    }
}

extension HTTPResource<HTTP.Request, HTTP.Response> {
    /// A request with interceptors.
    static func intercepted(
        _ url: String,
        method: HTTP.Method = .GET,
        body: HTTP.Body = .none,
        by interceptors: Interceptors,
        priority: @escaping Retry.Action.CompareClosure = Retry.Action.mostPrioritary
    ) throws -> Self {
        Self(
            baseRequestMaking: .request(try HTTP.Request(method: method, url: url, body: body)),
            interceptors: interceptors,
            retryActionPriority: priority
        )
    }
}

extension Result
where Success == Network.Value<Data, HTTP.Response>, Failure == HTTPFetchError<HTTP.Response, any Error> {
    /// Expects the fetch to have been given up after retries, and answers why, and after what.
    func retryError(file: StaticString = #fileID, line: UInt = #line) throws -> (Retry.Error, Retry.State) {
        guard case .failure(.retry(let reason, let state)) = self else {
            throw ConformanceFailure("Expected retry, saw \(summary)", file: file, line: line)
        }
        return (reason, state)
    }
}
