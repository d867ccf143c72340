/// Adds header fields to every request.
///
/// The fields go wherever the request goes, redirects to other origins included (but for `Authorization`, `Cookie` and what
/// ``HTTP/Options/Redirects/sensitiveHeaders`` names); for credentials there are authenticators, which look where they go.
public struct HeaderInjector: HTTPResourceInterceptor {
    /// The neutral request.
    public typealias Request = HTTP.Request
    /// The neutral response.
    public typealias Response = HTTP.Response

    private let overrides: Bool
    private let make: @Sendable (HTTP.Request) throws -> HTTP.Headers

    /// Adds the same fields to every request.
    ///
    /// - Parameters:
    ///   - headers: The fields.
    ///   - overrides: Whether they replace fields of the same name; if not, the request's own stay.
    public init(_ headers: HTTP.Headers, overrides: Bool = false) {
        self.init(overrides: overrides) { _ in headers }
    }

    /// Adds fields that are made for each request, such as an identifier.
    ///
    /// - Parameters:
    ///   - overrides: Whether they replace fields of the same name; if not, the request's own stay.
    ///   - make: Makes the fields; what it throws ends the fetch with `noRequest`.
    public init(overrides: Bool = false, make: @escaping @Sendable (HTTP.Request) throws -> HTTP.Headers) {
        self.overrides = overrides
        self.make = make
    }

    /// Content is none of its business.
    public var interceptsContent: Bool { false }

    /// Adds the fields to a request that was made; a failure passes by.
    @discardableResult
    public func interceptMakeRequestResult(
        _ result: Result<HTTP.Request, any Error>,
        handler: @escaping RequestHandler
    ) -> any Cancelable {
        handler(result.flatMap { request in Result { try injected(into: request) } })
    }

    private func injected(into request: HTTP.Request) throws -> HTTP.Request {
        let headers = try make(request)
        var injected = request
        // All or none of a name's lines: those of the request, or those given here.
        if overrides { for field in headers { injected.headers[field.name] = nil } }
        for field in headers where overrides || !request.headers.contains(field.name) {
            injected.headers.append(field.value, for: field.name)
        }
        return injected
    }
}
