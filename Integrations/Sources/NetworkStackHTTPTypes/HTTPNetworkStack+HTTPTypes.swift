public import FoundationEssentials
public import HTTPTypes
public import NetworkStack

extension HTTPNetworkStack where Remote == Data {
    /// Sends a request of swift-http-types and returns the response when its head has arrived, whatever its status.
    ///
    ///     let request = HTTPRequest(method: .put, scheme: "https", authority: "example.com", path: "/report")
    ///     let (response, body) = try await stack.send(request, body: .chunks(lines))
    ///     for try await chunk in body { … }
    ///     let trailers = try body.trailers.map { try HTTPFields($0) }
    ///
    /// The stack does what it does for every fetch: it follows redirects, retries, decodes the body, and observes timeouts and limits,
    /// as its options define. A request's body is read no faster than the server takes it, and a slow reader of the response slows
    /// the server down (``NetworkStack/ByteStream``). Cancelling the task cancels the fetch as long as this waits; later, releasing
    /// the stream or cancelling its reader's task does.
    ///
    /// A field whose `indexingStrategy` is `.disallow` is secret: a redirect to another origin does not take it along, and records
    /// of the fetch omit its value. Whether HPACK indexes a field depends on the stack.
    ///
    /// - Parameters:
    ///   - request: The request, with `:scheme`, `:authority` and `:path`.
    ///   - body: The body: `.none`, `.bytes(data)`, `.chunks(sequence)`, or another one.
    ///   - options: Changes the stack's options for this call. `failsForStatus` makes a status a failure.
    /// - Returns: The response, and its body, which arrives while it is read.
    /// - Throws: The stack's `FetchError`: `noRequest` with an ``HTTPTypesConversionError`` if the request cannot be converted,
    ///   before anything is sent; and every failure of a fetch. The stream throws it, too.
    public func send(
        _ request: HTTPRequest,
        body: HTTP.Body = .none,
        options: HTTP.Options.Change? = nil
    ) async throws(FetchError) -> (HTTPResponse, ByteStream<FetchError>) {
        let secrets = request.headerFields.neverIndexed
        let (stream, response) = try await stream(for: converted(request, body).get()) { changed in
            for name in secrets { changed.addSensitiveHeaders(name) }
            options?(&changed)
        }
        return (try converted(response).get(), stream)
    }

    // Results, because a generic function that throws such a typed error crashes Swift 6.3.1 with -O.

    private func converted(_ request: HTTPRequest, _ body: HTTP.Body) -> Result<HTTP.Request, FetchError> {
        do { return .success(try HTTP.Request(request, body: body)) } catch { return .failure(.noRequest(error)) }
    }

    private func converted(_ response: HTTP.Response) -> Result<HTTPResponse, FetchError> {
        do { return .success(try HTTPResponse(response)) } catch { return .failure(.badResponse(nil)) }
    }
}
