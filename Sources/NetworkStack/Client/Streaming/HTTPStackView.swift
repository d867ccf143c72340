/// The same stack, delivering content in another form. It shares everything with the stack it was made of, and holds it.
public struct HTTPStackView<Transport: HTTPTransport, Remote: Sendable>: HTTPNetworkStack {
    /// The stack's request.
    public typealias Request = Transport.Request
    /// The stack's response.
    public typealias Response = Transport.Response
    /// What the stack's transfers fail with.
    public typealias TransportError = Transport.Failure

    /// What the stack can do here, and why not what it cannot.
    public var capabilities: HTTP.Capabilities { stack.engine.transport.capabilities }

    /// How fetches are carried out whose resource has no options of its own.
    public var options: HTTP.Options { stack.engine.options }

    /// Asked for its engine at every fetch: a stack may have another one later, such as one that refuses everything.
    let stack: any HTTPTransportStack<Transport>
    let remote: @Sendable (ByteStream, HTTP.Response) -> Remote
    /// Whether making what is delivered runs no user code.
    var needsNoUserCode = false

    /// Fetches a resource.
    ///
    /// - Parameters:
    ///   - resource: What to fetch.
    ///   - completion: Called exactly once, after this function has returned, on a queue of the stack: for a success when the
    ///     response's head has come.
    /// - Returns: Cancels the fetch, and after it what it delivered.
    @discardableResult
    public func fetch(
        resource: HTTPResource<Request, Response>,
        completion: @escaping Completion<Remote>
    ) -> any Cancelable {
        stack.engine.stream(resource, as: remote, completion: completion)
    }

    /// Fetches a resource. Cancelling the task cancels the fetch, as long as this waits.
    ///
    /// - Parameter resource: What to fetch.
    /// - Returns: What is delivered of the content, and the response, when its head has come.
    /// - Throws: Why there is no response, as ``HTTPFetchError`` has it; what happens to the content later is the stream's.
    public func fetch(
        resource: HTTPResource<Request, Response>
    ) async throws(HTTPFetchError<Response, TransportError>) -> Network.Value<Remote, Response> {
        if Task.isCancelled { throw .cancelled }
        return try await OneShot.result { waiting in
            stack.engine.stream(resource, as: remote, needsNoUserCode ? .resume(waiting) : .call { waiting.fill($0) })
        }
        .get()
    }
}

extension HTTPTransportStack {
    /// The stack, delivering content while it arrives. A success is decided, and told, at the response's head; a later
    /// failure is the stream's own. Content may be empty.
    public var streaming: HTTPStackView<Transport, ByteStream> {
        HTTPStackView(stack: self, remote: { stream, _ in stream }, needsNoUserCode: true)
    }

    /// The stack, writing content into files while it arrives. A success is decided, and told, at the response's head; a
    /// later failure is the download's own.
    ///
    /// - Parameter place: Says where the file of a response is to be; there may be one already, which is replaced at the end.
    /// - Returns: The view.
    public func downloads(
        to place: @escaping @Sendable (HTTP.Response) -> String
    ) -> HTTPStackView<Transport, Download> {
        HTTPStackView(stack: self) { stream, response in
            Download(stream, to: place(response), expectedLength: response.contentLength)
        }
    }

    /// The stack, writing content into one file while it arrives.
    ///
    /// - Parameter path: Where the file is to be; there may be one already, which is replaced at the end.
    /// - Returns: The view.
    public func downloads(to path: String) -> HTTPStackView<Transport, Download> { downloads { _ in path } }
}
