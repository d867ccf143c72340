/// The latest hop of an engine that can serve again, as one without content can: whoever asks the same again, as most that ask often do, is
/// served with it, and nothing has to be checked and worked out anew.
final class RecentHop: Sendable {
    private let hop = Lock<HTTPHop?>(nil)

    /// The hop, if it is this very request's, carried out in this way.
    func hop(for request: HTTP.Request, options: Shared<HTTP.Options>, allowsWithholding: Bool) -> HTTPHop? {
        guard let hop = hop.withLock({ $0 }), hop.request.isIdentical(to: request), hop.shared === options,
            hop.allowsWithholding == allowsWithholding
        else { return nil }
        return hop
    }

    /// Keeps a hop that says of its request all there is to say.
    func keep(_ latest: HTTPHop) {
        guard latest.servesAgain else { return }
        let last = hop.withLock { hop in
            defer { hop = latest }
            return hop
        }
        withExtendedLifetime(last) {}  // What it held is let go of after the lock.
    }
}
