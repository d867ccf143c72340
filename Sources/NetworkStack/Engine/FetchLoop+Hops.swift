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
            allowsWithholding: receiver == nil,
            servesAgain: options === context.options && checked.body.isNone
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
            throw .invalidRequest(error.reason)
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
        do { source = try request.body.open { [weak self] in self?.sourceIsReady() } } catch {
            switch error {
            case .unreadable(let error): throw .requestBody(error)
            case .notReplayable: throw .bodyNotReplayable()
            }
        }
        if let source {
            do { try request.checkLength(of: source) } catch { throw .invalidRequest(error.reason) }
        }
        return source
    }
}

/// The latest hop of an engine that can be used again, as one without a body can. If the same request is fetched again, it is not
/// checked again. A small fetch would take 10 % more instructions without it.
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

/// The events of the reader and the source of bodies.
extension FetchLoop {
    /// The reader of the stream has room again.
    func readerResumed() { state.withLock { $0.readerResumed(now: .now) }?.resumeReceiving() }

    func sourceIsReady() {
        state.withLock { $0.sourceIsReady() }?.resumeSending()
    }
}

/// The deadline of the fetch: when its clocks are read.
extension FetchLoop: DeadlineEntry {
    func deadlineReached(_ now: MonotonicTime) -> MonotonicTime? {
        let (reading, attempt) = state.withLock { ($0.isEnded ? nil : $0.clocks.read(now), $0.attemptNumber) }
        switch reading {
        case nil: return nil
        case .running(until: let deadline): return deadline
        case .expired(let timeout, let phase):
            run(.settle(.failed(.timedOut(timeout, during: phase)), of: attempt))
            return state.withLock { state in
                guard !state.isEnded else { return nil }
                if case .running(until: let deadline) = state.clocks.read(now) { return deadline }
                // The end waits for the interceptors: look again in a tick of the timer.
                return now + .milliseconds(8)
            }
        }
    }
}
