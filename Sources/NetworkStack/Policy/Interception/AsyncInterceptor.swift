public import FoundationEssentials

/// An interceptor of asynchronous closures: one that takes part in the making of requests, and one that transforms the
/// content of successes. Each runs in a task that a cancel of the fetch cancels.
public struct AsyncInterceptor<Request: HTTPRequestConvertible, Response: HTTPResponseConvertible>:
    HTTPResourceInterceptor
{
    /// Makes a request of another, or throws; the fetch then ends with `noRequest` unless a later interceptor helps.
    public typealias Make = @Sendable (Request) async throws -> Request
    /// Makes content of other content and the response it came with, or throws; the fetch then takes the failed path.
    public typealias Transform = @Sendable (Data, Response) async throws -> Data

    private let make: Make?
    private let transform: Transform?

    /// Makes an interceptor.
    ///
    /// - Parameters:
    ///   - make: Makes a request of each request that was made; failures pass by. `nil` lets requests pass, too.
    ///   - transform: Makes content of each success's content. `nil` lets it pass.
    public init(make: Make? = nil, transform: Transform? = nil) {
        self.make = make
        self.transform = transform
    }

    /// Whether there is a first closure.
    public var interceptsRequests: Bool { make != nil }

    /// Runs the first closure, if there is one and a request was made.
    @discardableResult
    public func interceptMakeRequestResult(
        _ result: Result<Request, any Error>,
        handler: @escaping RequestHandler
    ) -> any Cancelable {
        guard let make, case .success(let request) = result else { return handler(result) }
        return TaskCancelable.run({ try await make(request) }, then: handler)
    }

    /// Whether there is a second closure.
    public var interceptsContent: Bool { transform != nil }

    /// Runs the second closure, if there is one.
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
