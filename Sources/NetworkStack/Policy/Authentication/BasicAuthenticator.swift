public import FoundationEssentials

/// Sends requests with a user's name and password (RFC 7617), without waiting to be asked.
///
/// They go to the given origins and nowhere else: a request to another origin passes without them, and a redirect to another
/// origin does not carry them on. TRACE, which has a request sent back, goes without them. They are as good as in the clear on
/// `http:`.
public struct BasicAuthenticator: RequestAuthenticator {
    /// The neutral request.
    public typealias Request = HTTP.Request
    /// The neutral response.
    public typealias Response = HTTP.Response

    private let credentials: OriginCredentials

    /// Makes an authenticator.
    ///
    /// - Parameters:
    ///   - user: The name; without a colon or control characters.
    ///   - password: The password; without control characters.
    ///   - origins: Where they may be sent.
    /// - Throws: ``HTTP/InvalidValue`` if the name or the password has a character that it may not have.
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

    /// Content is none of its business.
    public var interceptsContent: Bool { false }

    /// Adds the credentials; a request to another origin passes as it is.
    @discardableResult
    public func authenticateRequest(
        _ request: HTTP.Request,
        handler: @escaping AuthenticationHandler
    ) -> any Cancelable { handler(.success(credentials.added(to: request))) }

    /// Votes for nothing: there are no other credentials to try.
    public func evaluateFailedRequest(
        _ request: HTTP.Request,
        data: Data?,
        response: HTTP.Response?,
        error: any Error,
        retryState: Retry.State
    ) -> Retry.Action { .none }
}
