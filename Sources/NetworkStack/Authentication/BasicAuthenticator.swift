public import FoundationEssentials

/// Sends requests with a user's name and password (RFC 7617), without waiting to be asked.
///
/// They go to the given origins and nowhere else: a request to another origin passes without them, and a redirect to another
/// origin does not carry them on. They are as good as in the clear on `http:`.
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
    /// - Throws: ``HTTP/Refusal/invalidOptions(_:)`` if the name or the password has a character that it may not have.
    public init(user: String, password: String, origins: Set<HTTP.Origin>) throws(HTTP.Refusal) {
        guard !user.utf8.contains(UInt8(ascii: ":")) else {
            throw .invalidOptions("A user's name has no colon with Basic authentication (RFC 7617 section 2).")
        }
        guard HTTP.Credentials(user: user, password: password).isLegal else {
            throw .invalidOptions("A user's name and password have no control characters (RFC 7617 section 2).")
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

/// Sends requests with a token that stays the same (RFC 6750). For one that expires there is ``TokenAuthenticator``.
///
/// It goes to the given origins and nowhere else: a request to another origin passes without it, and a redirect to another
/// origin does not carry it on.
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
    /// - Throws: ``HTTP/Refusal/invalidOptions(_:)`` if the token has another character, or none.
    public init(token: String, origins: Set<HTTP.Origin>) throws(HTTP.Refusal) {
        let body = token.utf8.reversed().drop { $0 == UInt8(ascii: "=") }
        guard !body.isEmpty, body.allSatisfy({ $0.isAlphanumeric || "-._~+/".utf8.contains($0) }) else {
            throw .invalidOptions("A bearer token has letters, digits and -._~+/ only (RFC 6750 section 2.1).")
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

/// Credentials, and where they may be sent.
private struct OriginCredentials: Sendable, CustomReflectable {
    private let value: String
    private let origins: Set<HTTP.Origin>

    init(_ value: String, for origins: Set<HTTP.Origin>) { (self.value, self.origins) = (value, origins) }

    /// The request with the credentials, if it goes to where they may be sent.
    func added(to request: HTTP.Request) -> HTTP.Request {
        guard let origin = try? HTTP.Origin(of: request.url), origins.contains(origin) else { return request }
        var authenticated = request
        authenticated.headers[.authorization] = value
        return authenticated
    }

    /// The origins: a dump shows no secret.
    var customMirror: Mirror { Mirror(self, children: ["origins": origins]) }
}
