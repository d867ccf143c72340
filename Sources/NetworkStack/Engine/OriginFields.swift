internal import FoundationEssentials

extension HTTP.HeaderName {
    /// The fields that are not sent to another origin than the one they were meant for.
    static let boundToOrigin: Set<HTTP.HeaderName> = [.authorization, .cookie, .proxyAuthorization, .host]
}

extension HTTP.Request {
    /// Returns the request that an interceptor has made of another one, without the credentials that it has from that, if it goes to
    /// another origin. Fields with other values stay: the interceptor has set them.
    func withoutCredentials(of original: HTTP.Request, sensitive: Set<HTTP.HeaderName>) -> HTTP.Request {
        guard url != original.url, let origin = try? HTTP.Origin(of: url),
            let originalOrigin = try? HTTP.Origin(of: original.url), origin != originalOrigin
        else { return self }
        var request = self
        for name in HTTP.HeaderName.boundToOrigin.union(sensitive)
        where headers.values(for: name) == original.headers.values(for: name) {
            request.headers[name] = nil
        }
        return request
    }
}
