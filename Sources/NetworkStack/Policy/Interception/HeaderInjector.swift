/// Adds header fields to every request.
///
/// The fields are also sent after redirects to other origins, except `Authorization`, `Cookie`, `Proxy-Authorization` and
/// ``Network/Configuration/sensitiveHeaders``. For credentials, use an authenticator, which checks the origin.
public struct HeaderInjector: HTTPResourceInterceptor {
    /// The neutral request.
    public typealias Request = HTTP.Request
    /// The neutral response.
    public typealias Response = HTTP.Response

    private let overrides: Bool
    private let make: @Sendable (HTTP.Request) throws -> HTTP.Headers

    /// Makes an interceptor that adds the same fields to every request.
    ///
    /// - Parameters:
    ///   - headers: The fields.
    ///   - overrides: Whether they replace the request's fields of the same name.
    public init(_ headers: HTTP.Headers, overrides: Bool = false) {
        self.init(overrides: overrides) { _ in headers }
    }

    /// Makes an interceptor that makes fields for each request, such as an identifier.
    ///
    /// - Parameters:
    ///   - overrides: Whether they replace the request's fields of the same name.
    ///   - make: Makes the fields. Its error ends the fetch with `noRequest`.
    public init(overrides: Bool = false, make: @escaping @Sendable (HTTP.Request) throws -> HTTP.Headers) {
        self.overrides = overrides
        self.make = make
    }

    /// `false`: it does not intercept bodies.
    public var interceptsBody: Bool { false }

    /// Adds the fields, if a request was made; a failure is passed on.
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
        // For each name, all lines are those of the request, or all are those given here.
        if overrides { for field in headers { injected.headers[field.name] = nil } }
        for field in headers where overrides || !request.headers.contains(field.name) {
            injected.headers.append(field.value, for: field.name)
        }
        return injected
    }
}
