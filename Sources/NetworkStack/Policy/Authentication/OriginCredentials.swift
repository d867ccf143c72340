/// Credentials, with the origins that may get them.
struct OriginCredentials: Sendable, CustomReflectable {
    private let value: String
    private let origins: Set<HTTP.Origin>

    init(_ value: String, for origins: Set<HTTP.Origin>) { (self.value, self.origins) = (value, origins) }

    /// Returns the request with the credentials, if its origin may get them and it is not TRACE (RFC 9110 section 9.3.8).
    func added(to request: HTTP.Request) -> HTTP.Request {
        if request.method == .TRACE { return request }
        guard let origin = try? HTTP.Origin(of: request.url), origins.contains(origin) else { return request }
        var authenticated = request
        authenticated.headers[.authorization] = value
        return authenticated
    }

    /// The origins only, so that a dump shows no secret.
    var customMirror: Mirror { Mirror(self, children: ["origins": origins]) }
}
