public import FoundationEssentials

/// Sends requests with a token that stays the same (RFC 6750). For one that expires there is ``TokenAuthenticator``.
///
/// It goes to the given origins and nowhere else: a request to another origin passes without it, and a redirect to another
/// origin does not carry it on. TRACE, which has a request sent back, goes without it.
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
    ///   - origins: Where it may be sent.
    /// - Throws: ``HTTP/InvalidValue`` if the token has another character, or none.
    public init(token: String, origins: Set<HTTP.Origin>) throws(HTTP.InvalidValue) {
        let body = token.utf8.reversed().drop { $0 == UInt8(ascii: "=") }
        guard !body.isEmpty, body.allSatisfy({ $0.isAlphanumeric || "-._~+/".utf8.contains($0) }) else {
            throw HTTP.InvalidValue(
                "A bearer token has letters, digits and -._~+/ only, and = at its end (RFC 6750 section 2.1)."
            )
        }
        credentials = OriginCredentials(HTTP.AuthScheme.bearer.credentials(token), for: origins)
    }

    /// Content is none of its business.
    public var interceptsContent: Bool { false }

    /// Adds the token; a request to another origin passes as it is.
    @discardableResult
    public func authenticateRequest(
        _ request: HTTP.Request,
        handler: @escaping AuthenticationHandler
    ) -> any Cancelable { handler(.success(credentials.added(to: request))) }

    /// Votes for nothing: there is no other token to try.
    public func evaluateFailedRequest(
        _ request: HTTP.Request,
        data: Data?,
        response: HTTP.Response?,
        error: any Error,
        retryState: Retry.State
    ) -> Retry.Action { .none }
}
