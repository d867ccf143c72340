internal import FoundationEssentials

/// Where a response leads, by RFC 9110 section 15.4 and what browsers do.
enum Redirect {
    /// The request to make next, or `nil` if the response does not lead on.
    ///
    /// It may lead to an earlier URL, as servers do while they prepare something. A redirect loop ends at the limit. User info in a
    /// `Location` is dropped: a server gives no credentials for another. `secured` is the https URL that HSTS requires instead of
    /// the one in the `Location`, if any.
    ///
    /// - Throws: ``HTTPFetchError`` for a redirect that is not to be followed.
    static func next(
        after response: HTTP.Response,
        to request: HTTP.Request,
        from origin: HTTP.Origin,
        fragment: String?,
        following followed: [HTTP.Response.Redirect],
        policy: HTTP.Options.Redirects,
        sensitive: Set<HTTP.HeaderName>,
        secured: Result<URL?, HTTP.InvalidValue>
    ) throws(HopFailure) -> HTTP.Request? {
        guard let (location, named) = try location(of: response, to: request, policy: policy) else { return nil }
        let resolved: URL
        do { resolved = try secured.get() ?? named } catch { throw .invalidRequest(error.reason) }
        let target: HTTP.Target
        do { target = try HTTP.Target(resolved) } catch { throw .invalidRedirect(resolved.redactedDescription) }
        guard let url = target.stripped.map({ URL(string: $0) }) ?? resolved else {
            throw .invalidRedirect(URLText.Fault.notURL.target)
        }
        if origin.scheme == .https, target.origin.scheme == .http, !policy.allowsInsecure {
            throw .insecureRedirect(url)
        }

        var next = request
        let ownFragment = location.utf8.firstIndex(of: UInt8(ascii: "#")).map {
            String(location[location.utf8.index(after: $0)...])
        }
        next.url = url.with(fragment: ownFragment ?? fragment)
        let getsLikeBrowsers =
            response.status == .seeOther && request.method != .HEAD
            || (response.status == .movedPermanently || response.status == .found) && request.method == .POST
        if getsLikeBrowsers {
            next.method = .GET
            next.body = .none
            for name in contentHeaders { next.headers[name] = nil }
        }
        if target.origin != origin {
            for name in HTTP.HeaderName.boundToOrigin.union(sensitive) { next.headers[name] = nil }
        }
        guard followed.count < policy.limit else { throw .tooManyRedirects(limit: policy.limit) }
        if !next.body.isReplayable { throw .bodyNotReplayable() }
        return next
    }

    /// The `Location` of a response, and the URL it names, before HSTS; `nil` if the response does not lead on.
    static func location(
        of response: HTTP.Response,
        to request: HTTP.Request,
        policy: HTTP.Options.Redirects
    ) throws(HopFailure) -> (text: String, url: URL)? {
        let locations = locations(in: response.headers, status: response.status, policy: policy)
        guard let location = locations.first, !location.isEmpty else { return nil }
        guard locations.allSatisfy({ $0 == location }) else { throw .invalidRedirect("several places at once") }
        return (location, try resolve(location, against: request.url))
    }

    /// Where a response leads, if it is to be followed.
    fileprivate static func locations(
        in headers: HTTP.Headers,
        status: HTTP.StatusCode,
        policy: HTTP.Options.Redirects
    ) -> [String] {
        policy.limit > 0 && isFollowed(status) ? headers.locations : []
    }

    private static func isFollowed(_ status: HTTP.StatusCode) -> Bool {
        switch status {
        case .movedPermanently, .found, .seeOther, .temporaryRedirect, .permanentRedirect: true
        default: false
        }
    }

    /// The target of a `Location`, without a fragment.
    private static func resolve(_ location: String, against base: URL) throws(HopFailure) -> URL {
        do {
            try URLText.check(location)
            let reference = String(Substring(location.utf8.prefix { $0 != UInt8(ascii: "#") }))
            return reference.isEmpty ? base : try URLText.url(reference, relativeTo: base)
        } catch {
            throw .invalidRedirect(error.target)
        }
    }

    private static let contentHeaders: [HTTP.HeaderName] = [
        .contentType, .contentLength, .contentEncoding, .contentLanguage, .contentLocation, .contentRange,
        .contentDisposition, .expect, "Digest", "Content-Digest", "Repr-Digest", "Content-MD5", "Last-Modified",
        "Trailer",
    ]
}

extension HTTPHop {
    /// Whether a response is a redirect that the engine follows. Its body is dropped, and does not count towards
    /// ``HTTP/Options/Limits/body``; after 64 KiB, the engine cancels the hop.
    package func isFollowedRedirect(_ status: HTTP.StatusCode?, _ headers: HTTP.Headers) -> Bool {
        guard let status, status.statusClass == .redirection else { return false }
        return Redirect.locations(in: headers, status: status, policy: options.redirects).first?.isEmpty == false
    }
}

extension URL {
    /// The URL, which has no fragment, with this one.
    func with(fragment: String?) -> URL {
        guard let fragment else { return self }
        return URL(string: absoluteString + URLText.escaped("#\(fragment)")) ?? self
    }
}
