public import NetworkStack

/// Carries hops to a ``MockNetworkStack``'s answers.
public struct MockTransport: HTTPTransport {
    /// The neutral request.
    public typealias Request = HTTP.Request
    /// The neutral response.
    public typealias Response = HTTP.Response
    /// The error of a reply.
    public typealias Failure = any Error

    let book: MockBook
    let clock: any Clock<Duration>
    let userAgent: String?
    /// Called if there is no answer.
    var fallback: @Sendable (HTTP.Request) throws -> MockReply? = { _ in nil }

    /// Everything: settings of the network have no effect.
    public var capabilities: HTTP.Capabilities { HTTP.Capabilities() }

    /// Starts a hop. Returns at once.
    public func start(_ hop: HTTPHop, sink: any HTTPTransferSink<any Error>) -> any HTTPTransfer {
        MockTransfer(hop, sink, answering: self)
    }

    /// Returns the response unchanged.
    public func response(_ response: HTTP.Response) -> HTTP.Response { response }

    /// Records a request and returns its reply.
    func reply(to request: HTTP.Request) throws -> MockReply {
        if let reply = try book.reply(to: request) ?? fallback(request) { return reply }
        throw MockError.endpointNotMocked(method: request.method, path: MockBook.path(of: request))
    }
}
