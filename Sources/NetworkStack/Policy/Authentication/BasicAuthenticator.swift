public import FoundationEssentials

/// Sends a user's name and password with requests (RFC 7617), without waiting for a challenge.
///
/// They are sent to the given origins only. Requests and redirects to other origins go without them, and so does TRACE, whose
/// request the server returns. Over `http:` everyone on the way can read them.
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
        guard !user.utf8.contains(UInt8(ascii: ":")) else {
            throw HTTP.InvalidValue("A user's name has no colon with Basic authentication (RFC 7617 section 2).")
        }
        guard HTTP.Credentials(user: user, password: password).isLegal else {
            throw HTTP.InvalidValue("A user's name and password have no control characters (RFC 7617 section 2).")
        }
        let encoded = Data("\(user):\(password)".utf8).base64EncodedString()
        credentials = OriginCredentials(HTTP.AuthScheme.basic.credentials(encoded), for: origins)
    }

    /// `false`: it does not intercept bodies.
    public var interceptsContent: Bool { false }

    /// Adds the credentials. A request to another origin stays as it is.
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
