public import FoundationEssentials

/// Sends a user's name and password with requests (RFC 7617), without waiting for a challenge.
///
/// They are sent to the given origins only. Requests and redirects to other origins go without them, and so does TRACE, whose
/// request the server returns. A request interceptor that changes the URL has to come before this one, which decides by the URL that
/// it gets. Over `http:` everyone on the way can read them.
public struct BasicAuthenticator: RequestAuthenticator {
    /// The neutral request.
    public typealias Request = HTTP.Request
    /// The neutral response.
    public typealias Response = HTTP.Response

    private let credentials: OriginCredentials

    /// Makes an authenticator.
    ///
    /// - Parameters:
    ///   - user: The name, without colons and control characters.
    ///   - password: The password, without control characters.
    ///   - origins: The origins that may get them.
    /// - Throws: ``HTTP/InvalidValue`` if the name or the password has an illegal character.
    public init(user: String, password: String, origins: Set<HTTP.Origin>) throws(HTTP.InvalidValue) {
        credentials = OriginCredentials(try HTTP.Credentials(user: user, password: password).basic(), for: origins)
    }

    /// `false`: it does not intercept bodies.
    public var interceptsBody: Bool { false }

    /// Adds the credentials. A request to another origin is not changed.
    @discardableResult
    public func authenticateRequest(
        _ request: HTTP.Request,
        handler: @escaping AuthenticationHandler
    ) -> any Cancelable { handler(.success(credentials.added(to: request))) }

    /// Returns `.none`: there are no other credentials.
    public func evaluateFailedRequest(
        _ request: HTTP.Request,
        data: Data?,
        response: HTTP.Response?,
        error: any Error,
        retryState: Retry.State
    ) -> Retry.Action { .none }
}
