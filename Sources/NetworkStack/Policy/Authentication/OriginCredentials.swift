/// Credentials, and where they may be sent.
struct OriginCredentials: Sendable, CustomReflectable {
    private let value: String
    private let origins: Set<HTTP.Origin>

    init(_ value: String, for origins: Set<HTTP.Origin>) { (self.value, self.origins) = (value, origins) }

    /// The request with the credentials, if it goes to where they may be sent, and is not to be sent back (RFC 9110
    /// section 9.3.8).
    func added(to request: HTTP.Request) -> HTTP.Request {
        if request.method == .TRACE { return request }
        guard let origin = try? HTTP.Origin(of: request.url), origins.contains(origin) else { return request }
        var authenticated = request
        authenticated.headers[.authorization] = value
        return authenticated
    }

    /// The origins: a dump shows no secret.
    var customMirror: Mirror { Mirror(self, children: ["origins": origins]) }
}
