public import FoundationEssentials

/// Sends a fixed token with requests (RFC 6750). For tokens that expire, use ``TokenAuthenticator``.
///
/// It is sent to the given origins only. Requests and redirects to other origins go without it, and so does TRACE, whose request
/// the server returns. A request interceptor that changes the URL has to come before this one, which decides by the URL that it gets.
public struct BearerAuthenticator: RequestAuthenticator {
    /// The neutral request.
    public typealias Request = HTTP.Request
    /// The neutral response.
    public typealias Response = HTTP.Response

    private let credentials: OriginCredentials

    /// Makes an authenticator.
    ///
    /// - Parameters:
    ///   - token: The token: letters, digits and `-._~+/`, and `=` at the end.
    ///   - origins: The origins that may get it.
    /// - Throws: ``HTTP/InvalidValue`` if the token is empty or has an illegal character.
    public init(token: String, origins: Set<HTTP.Origin>) throws(HTTP.InvalidValue) {
        let body = token.utf8.reversed().drop { $0 == UInt8(ascii: "=") }
        guard !body.isEmpty, body.allSatisfy({ $0.isAlphanumeric || "-._~+/".utf8.contains($0) }) else {
            throw HTTP.InvalidValue(
                "A bearer token has letters, digits and -._~+/ only, and = at its end (RFC 6750 section 2.1)."
            )
        }
        credentials = OriginCredentials(HTTP.AuthScheme.bearer.credentials(token), for: origins)
    }

    /// `false`: it does not intercept bodies.
    public var interceptsBody: Bool { false }

    /// Adds the token. A request to another origin is not changed.
    @discardableResult
    public func authenticateRequest(
        _ request: HTTP.Request,
        handler: @escaping AuthenticationHandler
    ) -> any Cancelable { handler(.success(credentials.added(to: request))) }

    /// Returns `.none`: there is no other token.
    public func evaluateFailedRequest(
        _ request: HTTP.Request,
        data: Data?,
        response: HTTP.Response?,
        error: any Error,
        retryState: Retry.State
    ) -> Retry.Action { .none }
}
