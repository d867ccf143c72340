public import FoundationEssentials

/// Short calls, on every stack. Each uses the resource form.
///
/// They throw only the stack's `FetchError`. After retries they throw the last failure itself (``HTTPError/context`` has the
/// attempt's number), and a body that does not decode is ``HTTPFetchError/undecodable(_:_:)``. A cancelled task makes each of them
/// throw ``HTTPFetchError/cancelled``.
extension HTTPNetworkStack where Remote == Data {
    /// Fetches a URL and decodes the JSON of the response.
    ///
    /// - Parameters:
    ///   - url: The URL, as text or as `URL`.
    ///   - type: The value's type. An optional one is `nil` for a 204 or a 205.
    ///   - decoder: Decodes it.
    ///   - options: Changes the stack's options for this call: `{ $0.timeouts.total = .seconds(5) }`.
    /// - Returns: The value.
    /// - Throws: The stack's `FetchError`: ``HTTPFetchError/http(_:_:_:)`` for a status that is not 2xx,
    ///   ``HTTPFetchError/noData(_:_:)`` for a success without a body other than 204 and 205,
    ///   ``HTTPFetchError/undecodable(_:_:)`` for a body that does not decode, and every failure of a fetch.
    public func get<Value: Decodable & SendableMetatype>(
        _ url: some HTTPURLConvertible,
        as type: Value.Type = Value.self,
        decoder: JSONDecoder = JSONDecoder(),
        options: HTTP.Options.Change? = nil
    ) async throws(FetchError) -> Value {
        try await send(.get(url), as: type, decoder: decoder, options: options)
    }

    /// Sends a request and decodes the JSON that its response has.
    ///
    /// - Parameters:
    ///   - request: The request: `.post(url, json: order).bearer(token)`.
    ///   - type: The value's type. An optional one is `nil` for a 204 or a 205.
    ///   - decoder: Decodes it.
    ///   - options: Changes the stack's options for this call.
    /// - Returns: The value.
    /// - Throws: The stack's `FetchError`: ``HTTPFetchError/http(_:_:_:)`` for a status that is not 2xx,
    ///   ``HTTPFetchError/noData(_:_:)`` for a success without a body other than 204 and 205,
    ///   ``HTTPFetchError/undecodable(_:_:)`` for a body that does not decode, and every failure of a fetch.
    public func send<Value: Decodable & SendableMetatype>(
        _ request: HTTP.RequestBuilder,
        as type: Value.Type = Value.self,
        decoder: JSONDecoder = JSONDecoder(),
        options: HTTP.Options.Change? = nil
    ) async throws(FetchError) -> Value {
        let fetched = try await collect(request, options)
        let decoding = ModelDecoding<Value, Data, Response>.json(decoder: { decoder })
        do { return try decoding.decode(fetched.value, fetched.response) } catch {
            throw .undecodable(error, fetched.response)
        }
    }

    /// Sends a request and decodes the JSON that its response has.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - type: The value's type. An optional one is `nil` for a 204 or a 205.
    ///   - decoder: Decodes it.
    ///   - options: Changes the stack's options for this call.
    /// - Returns: The value.
    /// - Throws: The stack's `FetchError`: ``HTTPFetchError/http(_:_:_:)`` for a status that is not 2xx,
    ///   ``HTTPFetchError/noData(_:_:)`` for a success without a body other than 204 and 205,
    ///   ``HTTPFetchError/undecodable(_:_:)`` for a body that does not decode, and every failure of a fetch.
    public func send<Value: Decodable & SendableMetatype>(
        _ request: HTTP.Request,
        as type: Value.Type = Value.self,
        decoder: JSONDecoder = JSONDecoder(),
        options: HTTP.Options.Change? = nil
    ) async throws(FetchError) -> Value {
        try await send(HTTP.RequestBuilder(request), as: type, decoder: decoder, options: options)
    }

    /// Sends a request whose response needs no body. A body is collected and dropped.
    ///
    /// - Parameters:
    ///   - request: The request: `.delete(url)`.
    ///   - options: Changes the stack's options for this call.
    /// - Returns: The response.
    /// - Throws: The stack's `FetchError`; ``HTTPFetchError/http(_:_:_:)`` for a status that is not 2xx.
    @discardableResult
    public func send(
        _ request: HTTP.RequestBuilder,
        options: HTTP.Options.Change? = nil
    ) async throws(FetchError) -> HTTP.Response {
        let fetched = try await collect(request, options) { $0.allowsEmptyBody = true }
        return try neutral(fetched.response).get()
    }

    /// Sends a request whose response needs no body. A body is collected and dropped.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - options: Changes the stack's options for this call.
    /// - Returns: The response.
    /// - Throws: The stack's `FetchError`; ``HTTPFetchError/http(_:_:_:)`` for a status that is not 2xx.
    @discardableResult
    public func send(
        _ request: HTTP.Request,
        options: HTTP.Options.Change? = nil
    ) async throws(FetchError) -> HTTP.Response {
        try await send(HTTP.RequestBuilder(request), options: options)
    }

    /// Sends a request and returns the response with its body, whatever its status.
    ///
    /// - Parameters:
    ///   - request: The request: `.get(url).header("Accept", "text/csv")`.
    ///   - options: Changes the stack's options for this call. ``HTTP/Options/failsForStatus`` makes a status a failure.
    /// - Returns: The body, which may be empty, and the response.
    /// - Throws: The stack's `FetchError`.
    public func data(
        for request: HTTP.RequestBuilder,
        options: HTTP.Options.Change? = nil
    ) async throws(FetchError) -> (Data, HTTP.Response) {
        let fetched = try await collect(request, options) { $0.acceptAnyResponse() }
        return (fetched.value, try neutral(fetched.response).get())
    }

    /// Sends a request and returns the response with its body, whatever its status.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - options: Changes the stack's options for this call. ``HTTP/Options/failsForStatus`` makes a status a failure.
    /// - Returns: The body, which may be empty, and the response.
    /// - Throws: The stack's `FetchError`.
    public func data(
        for request: HTTP.Request,
        options: HTTP.Options.Change? = nil
    ) async throws(FetchError) -> (Data, HTTP.Response) {
        try await data(for: HTTP.RequestBuilder(request), options: options)
    }

    /// Sends a request and returns the response when its head has arrived, whatever its status.
    ///
    /// - Parameters:
    ///   - request: The request: `.get(url)`.
    ///   - options: Changes the stack's options for this call. ``HTTP/Options/failsForStatus`` makes a status a failure.
    /// - Returns: The body, which arrives while it is read, and the response.
    /// - Throws: The stack's `FetchError`; the stream throws it, too.
    public func stream(
        for request: HTTP.RequestBuilder,
        options: HTTP.Options.Change? = nil
    ) async throws(FetchError) -> (ByteStream<FetchError>, HTTP.Response) {
        let opened = try await open(request, options) { $0.acceptAnyResponse() }
        return (opened.value, try neutral(opened.response).get())
    }

    /// Sends a request and returns the response when its head has arrived, whatever its status.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - options: Changes the stack's options for this call. ``HTTP/Options/failsForStatus`` makes a status a failure.
    /// - Returns: The body, which arrives while it is read, and the response.
    /// - Throws: The stack's `FetchError`; the stream throws it, too.
    public func stream(
        for request: HTTP.Request,
        options: HTTP.Options.Change? = nil
    ) async throws(FetchError) -> (ByteStream<FetchError>, HTTP.Response) {
        try await stream(for: HTTP.RequestBuilder(request), options: options)
    }
}

extension HTTP.Options {
    /// Delivers every status, with or without a body.
    mutating func acceptAnyResponse() {
        failsForStatus = { _ in false }
        allowsEmptyBody = true
    }
}

extension HTTPNetworkStack {
    /// Collects a response. The call's own change of the options is made before the caller's.
    func collect(
        _ request: HTTP.RequestBuilder,
        _ options: HTTP.Options.Change?,
        _ own: HTTP.Options.Change? = nil
    ) async throws(FetchError) -> Network.Value<Remote, Response> {
        let resource = try resource(request, options, own).get()
        do { return try await fetch(resource: resource) } catch { throw error.lastFailure }
    }

    /// Opens a response, in the same way.
    func open(
        _ request: HTTP.RequestBuilder,
        _ options: HTTP.Options.Change?,
        _ own: HTTP.Options.Change? = nil
    ) async throws(FetchError) -> Network.Value<ByteStream<FetchError>, Response> {
        let resource = try resource(request, options, own).get()
        do { return try await stream(resource: resource) } catch { throw error.lastFailure }
    }

    /// The resource of a request. A result, for the reason of ``neutral(_:)``.
    private func resource(
        _ request: HTTP.RequestBuilder,
        _ options: HTTP.Options.Change?,
        _ own: HTTP.Options.Change?
    ) -> Result<Resource, FetchError> {
        do {
            let making = Network.BaseRequestMaking<Request>.request(try request.request())
            return .success(Resource(baseRequestMaking: making, options: options).changing(own))
        } catch {
            return .failure((error as? HTTP.InvalidValue).map { .invalidRequest($0.reason) } ?? .noRequest(error))
        }
    }
}
