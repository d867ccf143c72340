// Names that users of other clients try first. The compiler answers with the name that this library has.

public import FoundationEssentials

extension Network {
    /// Every stack has its own `FetchError`.
    @available(*, unavailable, message: "Write Network.CurlNetworkStack.FetchError, or any HTTPError for every stack.")
    public typealias FetchError = Never
}

extension HTTP.Options {
    /// Retries are made by interceptors.
    @available(*, unavailable, message: "Use an interceptor: stack.with(interceptors: [HTTPRetryPolicy.standard])")
    public var retry: HTTPRetryPolicy? {
        get { nil }
        set {}
    }
}

extension HTTP.Response {
    /// The status.
    @available(*, unavailable, renamed: "status")
    public var statusCode: HTTP.StatusCode { status }
}

extension HTTP.FailureKind {
    /// A connection that could not be opened.
    @available(*, unavailable, renamed: "connect")
    public static var connectionRefused: Self { connect }

    /// A connection that could not be opened.
    @available(*, unavailable, renamed: "connect")
    public static var refused: Self { connect }

    /// A name that could not be resolved.
    @available(*, unavailable, renamed: "dns")
    public static var nameNotFound: Self { dns }

    /// A server without a pinned key.
    @available(*, unavailable, message: "Use the case HTTPFetchError.untrusted, or isUntrusted of any HTTPError.")
    public static var pinMismatch: Self { tls }
}

extension HTTPFetchError {
    /// A name that could not be resolved.
    @available(*, unavailable, message: "Use transportFailure == .dns.")
    public static var nameNotFound: Self { .cancelled }

    /// A connection that could not be opened.
    @available(*, unavailable, message: "Use transportFailure == .connect.")
    public static var connectionRefused: Self { .cancelled }

    /// With it, the compiler shows the messages of the names above where they are used as patterns.
    @available(*, unavailable, message: "Match a case; its associated values can be left out.")
    public static func ~= (pattern: Self, error: Self) -> Bool { false }
}

extension ServerTrustConfiguration {
    /// Authorities belong to the TLS settings.
    @available(*, unavailable, message: "Set configuration.tls.trustRoots, and leave authorities out.")
    public static func pin(
        host: String,
        to pins: Set<String>,
        authorities: Network.TLSConfiguration.TrustRoots
    ) throws -> Self { try pin(host: host, to: pins) }
}

extension HTTPNetworkStack where Remote == Data {
    /// A timeout is one of the call's options.
    @available(*, unavailable, message: "Write stack.get(url) { $0.timeouts.total = .seconds(5) }.")
    public func get<Value: Decodable>(
        _ url: some HTTPURLConvertible,
        as type: Value.Type = Value.self,
        timeout: Duration
    ) async throws(FetchError) -> Value { throw .cancelled }

    /// Header fields belong to a request.
    @available(*, unavailable, message: "Write stack.send(.get(url).header(name, value), as: Answer.self).")
    public func get<Value: Decodable>(
        _ url: some HTTPURLConvertible,
        as type: Value.Type = Value.self,
        headers: [String: String]
    ) async throws(FetchError) -> Value { throw .cancelled }

    /// A request with a body is sent.
    @available(*, unavailable, message: "Write stack.send(.post(url, json: value), as: Answer.self).")
    public func post<Value: Decodable>(
        _ url: some HTTPURLConvertible,
        json: some Encodable,
        as type: Value.Type = Value.self
    ) async throws(FetchError) -> Value { throw .cancelled }

    /// A request with a body is sent.
    @available(*, unavailable, message: "Write stack.send(.post(url, body: .bytes(data)), as: Answer.self).")
    public func post<Value: Decodable>(
        _ url: some HTTPURLConvertible,
        body: Data,
        as type: Value.Type = Value.self
    ) async throws(FetchError) -> Value { throw .cancelled }
}
