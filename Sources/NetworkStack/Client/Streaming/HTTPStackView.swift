/// The same stack, which delivers bodies in another form, such as streams or files. It shares everything with the original stack,
/// and retains it.
public struct HTTPStackView<Base: HTTPNetworkStack, Remote: Sendable>: HTTPNetworkStack {
    /// The stack's request.
    public typealias Request = Base.Request
    /// The stack's response.
    public typealias Response = Base.Response
    /// The error of the stack's transfers.
    public typealias TransportError = Base.TransportError

    /// What the stack can do here, with a reason for everything that it cannot.
    public var capabilities: HTTP.Capabilities { base.capabilities }

    /// The options of fetches.
    public var options: HTTP.Options { base.options }

    /// What the stack is doing now.
    public var gauges: Network.Gauges { get async { await base.gauges } }

    let base: Base
    /// Makes the delivered value from a stream and its response.
    let remote: @Sendable (ByteStream<FetchError>, HTTP.Response) -> Remote

    /// Fetches a resource.
    ///
    /// - Parameters:
    ///   - resource: What to fetch.
    ///   - completion: Called exactly once, after this function has returned, on a queue of the stack: for a success when the
    ///     response's head has arrived.
    /// - Returns: Cancels the fetch, and the delivered value after it.
    @discardableResult
    public func fetch(resource: Resource, completion: @escaping Completion<Remote>) -> any Cancelable {
        base.stream(resource: resource) { [self] result in completion(result.flatMap(view)) }
    }

    /// Fetches a resource. Cancelling the task cancels the fetch, as long as this waits.
    ///
    /// - Parameter resource: What to fetch.
    /// - Returns: The delivered value and the response, when its head has arrived.
    /// - Throws: Why there is no response. A failure after the head is thrown by the stream.
    public func fetch(resource: Resource) async throws(FetchError) -> Network.Value<Remote, Response> {
        try view(try await base.stream(resource: resource)).get()
    }

    /// Fetches a resource and delivers its body while it arrives, as the stack does.
    public func stream(
        resource: Resource,
        completion: @escaping Completion<ByteStream<FetchError>>
    ) -> any Cancelable { base.stream(resource: resource, completion: completion) }

    /// Shuts the stack down.
    public func shutdown() async { await base.shutdown() }

    /// Shuts the stack down when its fetches have finished, or after this time.
    public func shutdown(after grace: Duration) async { await base.shutdown(after: grace) }

    private func view(
        _ opened: Network.Value<ByteStream<FetchError>, Response>
    ) -> Result<Network.Value<Remote, Response>, FetchError> {
        base.neutral(opened.response).map { .init(value: remote(opened.value, $0), response: opened.response) }
    }
}

extension HTTPNetworkStack {
    /// The stack, which delivers bodies while they arrive. A success is reported at the response's head; a later failure is thrown
    /// by the stream. The body may be empty.
    public var streaming: HTTPStackView<Self, ByteStream<FetchError>> {
        HTTPStackView(base: self) { stream, _ in stream }
    }

    /// The stack, which writes bodies into files while they arrive. A success is reported at the response's head; a later failure
    /// is thrown by the download.
    ///
    /// - Parameter place: Returns the path of the file of a response; an existing file is replaced at the end.
    /// - Returns: The view.
    public func downloads(
        to place: @escaping @Sendable (HTTP.Response) -> String
    ) -> HTTPStackView<Self, Download<FetchError>> {
        HTTPStackView(base: self) { stream, response in
            Download(
                stream,
                to: place(response),
                expectedLength: response.contentLength,
                localFile: { .localFile($0) }
            )
        }
    }

    /// The stack, which writes bodies into one file while they arrive.
    ///
    /// - Parameter path: The path of the file. An existing file is replaced when the download is complete.
    /// - Returns: The view.
    public func downloads(to path: String) -> HTTPStackView<Self, Download<FetchError>> { downloads { _ in path } }
}
