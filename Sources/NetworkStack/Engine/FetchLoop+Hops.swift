internal import FoundationEssentials

/// Requests are checked, and made hops.
extension FetchLoop {
    /// Checks a request and works out how it is carried.
    ///
    /// - Returns: Besides, the request without the jar's cookies, and the fragment that was left out.
    func makeHop(
        _ request: HTTP.Request
    ) throws(HopFailure) -> (HTTPHop, HTTP.Request, fragment: String?) {
        let recentHop = context.recentHop
        if let recent = recentHop?.hop(for: request, options: options, allowsWithholding: receiver == nil) {
            let hop = recent.trusting(try trust(for: recent.origin, after: recent.trust))
            if hop !== recent { recentHop?.keep(hop) }
            return (hop, request, nil)
        }
        let (checked, origin, urlText, fragment) = try check(request)
        let trust = try trust(for: origin)
        let source = try open(checked)
        let hop = HTTPHop(
            request: cookiesAndHSTS.isOn
                ? cookiesAndHSTS.withCookies(checked, origin: origin, urlText: urlText) : checked,
            origin: origin,
            urlText: urlText,
            options: options,
            trust: trust,
            source: source,
            allowsWithholding: receiver == nil
        )
        if fragment == nil { recentHop?.keep(hop) }
        return (hop, checked, fragment)
    }

    private func check(
        _ request: HTTP.Request
    ) throws(HopFailure) -> (HTTP.Request, HTTP.Origin, urlText: String, fragment: String?) {
        do throws(HTTP.InvalidValue) {
            let secured = cookiesAndHSTS.isOn ? try cookiesAndHSTS.secured(request) : request
            return try secured.checked(pathAsIs: options.value.pathAsIs)
        } catch {
            throw HopFailure(error)
        }
    }

    private func trust(for origin: HTTP.Origin, after last: ServerTrust = .ordinary) throws(HopFailure) -> ServerTrust {
        do { return try context.trust(for: origin, after: last) } catch { throw .untrusted(error) }
    }

    /// Opens a request's content, if it is read piece by piece.
    private func open(_ request: HTTP.Request) throws(HopFailure) -> (any HTTPBodySource)? {
        // A weak reference costs every later one; most requests have nothing to read.
        guard request.body.isRead else { return nil }
        let source: (any HTTPBodySource)?
        do { source = try request.body.open { [weak self] in self?.sourceIsReady() } } catch { throw HopFailure(error) }
        if let source {
            do { try request.checkLength(of: source) } catch { throw HopFailure(error) }
        }
        return source
    }
}

/// The latest hop of an engine that can be used again, as one without a body can. If the same request is fetched again, it need not be
/// checked again.
final class RecentHop: Sendable {
    private let hop = Lock<HTTPHop?>(nil)

    /// The hop, if it is this very request's, carried out in this way.
    func hop(for request: HTTP.Request, options: Shared<HTTP.Options>, allowsWithholding: Bool) -> HTTPHop? {
        guard let hop = hop.withLock({ $0 }), hop.request.isIdentical(to: request), hop.shared === options,
            hop.allowsWithholding == allowsWithholding
        else { return nil }
        return hop
    }

    /// Keeps a hop, if it can be used again.
    func keep(_ latest: HTTPHop) {
        guard latest.servesAgain else { return }
        let last = hop.withLock { exchange(&$0, with: latest) }
        withExtendedLifetime(last) {}  // Released after the lock.
    }
}
