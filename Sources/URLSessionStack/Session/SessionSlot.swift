internal import Foundation
internal import NetworkStack

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// The session of a stack, which is set once: by the program, or by the stack before its first transfer.
final class SessionSlot: Sendable {
    private let state: Lock<URLSession?>

    init(_ session: URLSession? = nil) { state = Lock(session) }

    /// The session, if it is set.
    var session: URLSession? { state.withLock { $0 } }

    /// Sets the session, unless it is set.
    ///
    /// - Returns: Whether this set it.
    func fill(with session: URLSession) -> Bool {
        state.withLock { current in
            guard current == nil else { return false }
            current = session
            return true
        }
    }

    /// The session; if none is set, one that is made and set now.
    ///
    /// - Returns: The session, and whether this set it.
    func session(orMade make: () -> URLSession) -> (URLSession, isNew: Bool) {
        state.withLock { current in
            if let current { return (current, false) }
            let made = make()
            current = made
            return (made, true)
        }
    }
}
