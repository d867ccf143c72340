public import NetworkStack

/// Carries hops to a ``MockNetworkStack``'s answers.
public struct MockTransport: HTTPTransport {
    /// Requests are the neutral ones.
    public typealias Request = HTTP.Request
    /// Responses are the neutral ones.
    public typealias Response = HTTP.Response
    /// Whatever a reply fails with.
    public typealias Failure = any Error

    let book: MockBook
    let clock: any Clock<Duration>
    let userAgent: String?
    /// What answers if the book does not.
    var fallback: @Sendable (HTTP.Request) throws -> MockReply? = { _ in nil }

    /// Everything: what there is no network for makes no difference.
    public var capabilities: HTTP.Capabilities { HTTP.Capabilities() }

    /// Starts a hop. Returns at once.
    public func start(_ hop: HTTPHop, sink: any HTTPTransferSink<any Error>) -> any HTTPTransfer {
        MockTransfer(hop, sink, answering: self)
    }

    /// The response itself.
    public func response(_ response: HTTP.Response) -> HTTP.Response { response }

    /// The reply to a request, which is written down first.
    func reply(to request: HTTP.Request) throws -> MockReply {
        if let reply = try book.reply(to: request) ?? fallback(request) { return reply }
        throw MockError.endpointNotMocked(method: request.method, path: MockBook.path(of: request))
    }
}
