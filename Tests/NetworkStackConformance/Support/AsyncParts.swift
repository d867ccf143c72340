import FoundationEssentials
import NetworkStack

/// An interceptor that works in a task, for requests and for the bodies of successes.
struct AsyncParts: HTTPResourceInterceptor {
    typealias Request = HTTP.Request
    typealias Response = HTTP.Response

    var make: (@Sendable (HTTP.Request) async throws -> HTTP.Request)?
    var transform: (@Sendable (Data, HTTP.Response) async throws -> Data)?

    var interceptsRequests: Bool { make != nil }

    func interceptMakeRequestResult(
        _ result: Result<HTTP.Request, any Error>,
        handler: @escaping RequestHandler
    ) -> any Cancelable {
        guard let make, case .success(let request) = result else { return handler(result) }
        return later(handler) { try await make(request) }
    }

    var interceptsBody: Bool { transform != nil }

    func interceptBody(
        _ data: Data,
        response: HTTP.Response,
        request: HTTP.Request,
        handler: @escaping BodyHandler
    ) -> any Cancelable {
        guard let transform else { return handler(.success(data)) }
        return later(handler) { try await transform(data, response) }
    }

    private func later<Value: Sendable>(
        _ handler: @escaping @Sendable (Result<Value, any Error>) -> any Cancelable,
        _ work: @escaping @Sendable () async throws -> Value
    ) -> any Cancelable {
        let bag = CancelableBag()
        bag += RunningTask(
            task: Task {
                let result: Result<Value, any Error>
                do { result = .success(try await work()) } catch { result = .failure(error) }
                bag += handler(result)
            }
        )
        return bag
    }
}

/// A task as a cancelable.
private final class RunningTask: Cancelable {
    private let task: Task<Void, Never>

    init(task: Task<Void, Never>) { self.task = task }

    func cancel() { task.cancel() }
}
