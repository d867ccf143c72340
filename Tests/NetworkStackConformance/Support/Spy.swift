import FoundationEssentials
import NetworkStack
import NetworkStackTesting

/// The events of interceptors, in order.
final class EventLog: Sendable {
    private let entries = Lock<[String]>([])

    var all: [String] { entries.withLock { $0 } }

    func add(_ entry: String) { entries.withLock { $0.append(entry) } }
}

/// An interceptor of closures that logs every event with its name.
struct Spy: HTTPResourceInterceptor {
    typealias Request = HTTP.Request
    typealias Response = HTTP.Response
    typealias Made = Result<HTTP.Request, any Error>

    /// The parameters of a task's event.
    struct Event: Sendable {
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
    var content: @Sendable (Data, @escaping BodyHandler) -> any Cancelable = { $1(.success($0)) }
    var scheduled: @Sendable (Event) -> Void = { _ in }
    var succeeded: @Sendable (Event) -> Void = { _ in }
    var vote: @Sendable (Event) -> Retry.Action = { _ in .none }

    init(_ name: String, _ log: EventLog = EventLog()) { (self.name, self.log) = (name, log) }

    func interceptMakeRequestResult(_ result: Made, handler: @escaping RequestHandler) -> any Cancelable {
        log.add("\(name) makes \((try? result.get()) == nil ? "nothing" : "a request")")
        return make(result, handler)
    }

    func interceptScheduledTask(withIdentifier identifier: Int, request: HTTP.Request, retryState: Retry.State) {
        log.add("\(name) schedules attempt \(retryState.attemptCount)")
        scheduled(Event(identifier: identifier, request: request, state: retryState))
    }

    func interceptBody(
        _ data: Data,
        response: HTTP.Response,
        request: HTTP.Request,
        handler: @escaping BodyHandler
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
        succeeded(Event(identifier: identifier, request: request, data: data, response: response, state: retryState))
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
            Event(
                identifier: identifier,
                request: request,
                data: data,
                response: response,
                error: error,
                state: retryState
            )
        )
    }

    /// Returns the spy with a change.
    func with(_ change: (inout Spy) -> Void) -> Spy {
        var changed = self
        change(&changed)
        return changed
    }
}

extension HTTPResource<HTTP.Request, HTTP.Response> {
    /// A resource with interceptors.
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
    /// Expects that the fetch ended after retries, and returns the reason and the state.
    func retryError(file: StaticString = #fileID, line: UInt = #line) throws -> (Retry.Error, Retry.State) {
        guard case .failure(.retry(let reason, let state)) = self else {
            throw ConformanceFailure("Expected retry, saw \(summary)", file: file, line: line)
        }
        return (reason, state)
    }
}
