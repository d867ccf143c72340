public import FoundationEssentials

/// An interceptor of asynchronous closures: one changes requests, the other changes the bodies of successes. Each runs in a task
/// that is cancelled with the fetch.
public struct AsyncInterceptor<Request: HTTPRequestConvertible, Response: HTTPResponseConvertible>:
    HTTPResourceInterceptor
{
    /// Changes a request, or throws; the fetch then ends with `noRequest`, unless a later interceptor provides a request.
    public typealias Make = @Sendable (Request) async throws -> Request
    /// Changes a body, or throws; the fetch then fails.
    public typealias Transform = @Sendable (Data, Response) async throws -> Data

    private let make: Make?
    private let transform: Transform?

    /// Makes an interceptor.
    ///
    /// - Parameters:
    ///   - make: Changes each request that could be made; failures are passed on. `nil` leaves requests unchanged.
    ///   - transform: Changes the body of each success. `nil` leaves bodies unchanged.
    public init(make: Make? = nil, transform: Transform? = nil) {
        self.make = make
        self.transform = transform
    }

    /// Whether there is a closure for requests.
    public var interceptsRequests: Bool { make != nil }

    /// Runs the closure for requests, if there is one and a request was made.
    @discardableResult
    public func interceptMakeRequestResult(
        _ result: Result<Request, any Error>,
        handler: @escaping RequestHandler
    ) -> any Cancelable {
        guard let make, case .success(let request) = result else { return handler(result) }
        return TaskCancelable.run({ try await make(request) }, then: handler)
    }

    /// Whether there is a closure for bodies.
    public var interceptsContent: Bool { transform != nil }

    /// Runs the closure for bodies, if there is one.
    @discardableResult
    public func interceptContent(
        _ data: Data,
        response: Response,
        request: Request,
        handler: @escaping ContentHandler
    ) -> any Cancelable {
        guard let transform else { return handler(.success(data)) }
        return TaskCancelable.run({ try await transform(data, response) }, then: handler)
    }
}
