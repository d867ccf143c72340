@testable import NetworkStack

/// Without the parts that most tests do not vary.
extension FetchState {
    init(options: Shared<HTTP.Options>, delegate: (any FetchDelegate)? = nil, now: MonotonicTime) {
        self.init(options: options, delegate: delegate, trace: nil, now: now)
    }

    /// Every status but 2xx is a failure.
    mutating func received(head: HTTP.Response, hop: Int, now: MonotonicTime) -> Step {
        received(head: head, fails: head.status.statusClass != .success, hop: hop, now: now)
    }
}
