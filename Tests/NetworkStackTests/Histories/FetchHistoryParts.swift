import Foundation

@testable import NetworkStack

final class FetchHistoryTransfer: HTTPTransfer {
    private struct State {
        var head: HTTP.Response?
        var sent = Data()
        var (isOver, isCancelled, hasBegun) = (false, false, false)
    }

    let hop: Int
    private let state = Lock(State())

    init(hop: Int) { self.hop = hop }

    var head: HTTP.Response? {
        get { state.withLock { $0.head } }
        set { state.withLock { $0.head = newValue } }
    }
    /// The body so far.
    var sent: Data {
        get { state.withLock { $0.sent } }
        set { state.withLock { $0.sent = newValue } }
    }
    var isOver: Bool {
        get { state.withLock { $0.isOver } }
        set { state.withLock { $0.isOver = newValue } }
    }
    /// Whether its request is being sent.
    var hasBegun: Bool {
        get { state.withLock { $0.hasBegun } }
        set { state.withLock { $0.hasBegun = newValue } }
    }
    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    func cancel() { state.withLock { $0.isCancelled = true } }
    func resumeReceiving() {}
    func resumeSending() {}
}

final class FetchHistorySource: HTTPBodySource {
    private let closed = Lock(0)
    let length: Int64? = 0

    var closeCount: Int { closed.withLock { $0 } }

    func next(upTo count: Int) -> HTTPBodyChunk { .end }
    func rewind() -> Bool { true }
    func close() { closed.withLock { $0 += 1 } }
}

final class FetchHistoryPending: Cancelable {
    func cancel() {}
}

/// The bytes that the reader of a stream got.
struct FetchHistoryStream {
    enum Verdict {
        /// With the whole body.
        case finished(Data)
        case failed
    }

    var received = Data()
    var verdict: Verdict?
    var isDelivered = false
    /// Whether the reader got another one.
    var isReplaced = false

    mutating func take(_ chunk: Data) { if verdict == nil { received += chunk } }

    mutating func finish(with body: Data) { verdict = verdict ?? .finished(body) }

    /// Returns whether it is incomplete.
    mutating func fail() -> Bool {
        if case .finished = verdict { return isReplaced }
        verdict = .failed
        return true
    }
}
