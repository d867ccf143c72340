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
        let last = hop.withLock { hop in
            defer { hop = latest }
            return hop
        }
        withExtendedLifetime(last) {}  // Released after the lock.
    }
}
