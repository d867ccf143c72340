internal import FoundationEssentials

extension HTTP.HeaderName {
    /// The fields that are not sent to another origin than the one they were meant for.
    static let boundToOrigin: Set<HTTP.HeaderName> = [.authorization, .cookie, .proxyAuthorization, .host]
}

extension HTTP.Request {
    /// Whether this request and another one go to different origins.
    func hasOtherOrigin(than other: HTTP.Request) -> Bool {
        guard url != other.url, let origin = try? HTTP.Origin(of: url),
            let otherOrigin = try? HTTP.Origin(of: other.url)
        else { return false }
        return origin != otherOrigin
    }

    /// Returns the request that an interceptor has made of another one, without the credentials that it has from that, in its fields or in
    /// its URL, if it goes to another origin. Other values stay: the interceptor has set them.
    func withoutCredentials(of original: HTTP.Request, sensitive: Set<HTTP.HeaderName>) -> HTTP.Request {
        guard hasOtherOrigin(than: original) else { return self }
        var request = self
        if let user = url.user(percentEncoded: true), user == original.url.user(percentEncoded: true),
            url.password(percentEncoded: true) == original.url.password(percentEncoded: true),
            var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        {
            (components.percentEncodedUser, components.percentEncodedPassword) = (nil, nil)
            request.url = components.url ?? url
        }
        for name in HTTP.HeaderName.boundToOrigin.union(sensitive) {
            let former = original.headers.values(for: name)
            request.headers[name] = nil
            for value in headers.values(for: name) where !former.contains(value) {
                request.headers.append(value, for: name)
            }
        }
        return request
    }
}
