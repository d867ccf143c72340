internal import FoundationEssentials

/// The state that hops and fetches share: cookies, and hosts that require https.
struct CookiesAndHSTS: Sendable {
    var cookies: HTTP.CookieJar?
    var strictTransport: HTTP.StrictTransportHosts?
    /// Whether TLS verifies servers. Otherwise their Strict-Transport-Security is ignored (RFC 6797 section 8.1).
    var provesServers = true

    /// Whether anything is kept at all.
    var isOn: Bool { cookies != nil || strictTransport != nil }

    /// A request as it is sent: over https, if its host requires that (RFC 6797 section 8.3).
    ///
    /// - Throws: ``HTTP/InvalidValue`` if it cannot be.
    func secured(_ request: HTTP.Request) throws(HTTP.InvalidValue) -> HTTP.Request {
        guard let url = try secured(request.url) else { return request }
        var request = request
        request.url = url
        return request
    }

    /// The https URL to use instead, if there is one.
    ///
    /// - Throws: ``HTTP/InvalidValue`` if one is needed, and cannot be made: nothing is sent in the clear.
    func secured(_ url: URL) throws(HTTP.InvalidValue) -> URL? {
        guard let strictTransport, let origin = try? HTTP.Origin(of: url), origin.scheme == .http,
            strictTransport.requiresHTTPS(origin.host)
        else { return nil }
        let text = url.absoluteString
        if let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")),
            var parts = URLComponents(string: "https" + text[colon...])
        {
            if parts.port == 80 { parts.port = 443 }
            if let url = parts.url { return url }
        }
        throw HTTP.InvalidValue("\(origin.host) requires https (HSTS), and the URL cannot be changed to https.")
    }

    /// A request with its cookies, for one hop. A response to TRACE would contain them (RFC 9110 section 9.3.8).
    func withCookies(_ request: HTTP.Request, origin: HTTP.Origin, urlText: String) -> HTTP.Request {
        guard let cookies, request.method != .TRACE else { return request }
        var request = request
        request.headers = cookies.adding(to: request.headers, for: CookieScope(origin: origin, urlText: urlText))
        return request
    }

    /// A hop's head has come: stores its cookies and its Strict-Transport-Security.
    func received(_ head: HTTP.Response) {
        if let strictTransport, provesServers, let origin = try? HTTP.Origin(of: head.url) {
            strictTransport.apply(head.headers.values(for: "Strict-Transport-Security"), from: origin)
        }
        cookies?.take(head.headers.values(for: .setCookie), from: head.url)
    }
}
