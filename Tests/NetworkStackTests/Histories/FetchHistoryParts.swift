import Foundation

@testable import NetworkStack

final class FetchHistoryTransfer: HTTPTransfer {
    private struct State {
        var head: HTTP.Response?
        var sent = Data()
        var (isOver, isCancelled) = (false, false)
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

/// What the reader of a stream got.
struct FetchHistoryStream {
    enum Verdict {
        /// With the whole body.
        case finished(Data)
        case failed
    }

    var received = Data()
    var verdict: Verdict?
    var isDelivered = false

    mutating func take(_ chunk: Data) { if verdict == nil { received += chunk } }

    mutating func end(with last: Verdict) { verdict = verdict ?? last }
}

/// Counts what the fetch calls.
final class FetchHistoryDelegate: FetchDelegate {
    private struct Record {
        var endings: [Ending] = []
        var reports: [Int] = []
        var (begun, handedOver): ([Int], [Int]) = ([], [])
        var faults: [String] = []
        var hasReturned = false
    }

    private static let sharedContext = EngineContext(
        configuration: .init(),
        obstacleToPinning: nil,
        queue: .global(),
        retryQueue: .global()
    )

    let (isIntercepted, resumesTask, interceptsBody): (Bool, Bool, Bool)
    let receiver: StreamReceiver?
    private let record = Lock(Record())

    init(streams: Bool, isIntercepted: Bool, resumesTask: Bool) {
        (self.isIntercepted, self.resumesTask, interceptsBody) = (isIntercepted, resumesTask, false)
        receiver = streams ? StreamReceiver() : nil
    }

    var context: EngineContext { Self.sharedContext }
    var trace: FetchTrace? { nil }
    var options: Shared<HTTP.Options> { context.options }
    var streams: Bool { receiver != nil }

    var endings: [Ending] { record.withLock { $0.endings } }
    /// The attempts whose ends were reported.
    var reports: [Int] { record.withLock { $0.reports } }
    var begun: [Int] {
        get { record.withLock { $0.begun } }
        set { record.withLock { $0.begun = newValue } }
    }
    var handedOver: [Int] {
        get { record.withLock { $0.handedOver } }
        set { record.withLock { $0.handedOver = newValue } }
    }
    var faults: [String] {
        get { record.withLock { $0.faults } }
        set { record.withLock { $0.faults = newValue } }
    }
    var hasReturned: Bool {
        get { record.withLock { $0.hasReturned } }
        set { record.withLock { $0.hasReturned = newValue } }
    }

    func report(_ attempt: Attempt) {
        if !endings.isEmpty { faults.append("Nothing is called after the end.") }
        record.withLock { $0.reports.append(attempt.number) }
    }

    func complete(_ ending: Ending, reporting attempt: Attempt?) {
        if let attempt { report(attempt) }
        if !hasReturned { faults.append("A completion is called after fetch has returned.") }
        record.withLock { $0.endings.append(ending) }
    }

    func nextIdentifier() -> Int { 0 }
    func makeAtOnce(_ attempt: Attempt) -> Result<HTTP.Request, any Error>? { nil }
    func make(_ attempt: Attempt, _ handler: @escaping MadeRequestHandler) -> any Cancelable { EmptyCancelable() }
    func schedule(_ attempt: Attempt) {}
    func start(_ hop: HTTPHop, for loop: FetchLoop, number: Int) -> any HTTPTransfer {
        FetchHistoryTransfer(hop: number)
    }
    func judge(_ ending: Ending) -> Bool { false }
    func transform(_ handler: @escaping @Sendable (Bool) -> Void) -> any Cancelable { EmptyCancelable() }
    func succeed(_ attempt: Attempt) {}
    func vote(_ attempt: Attempt) -> (Retry.Action, any Error) { (.none, CancellationError()) }
    func giveUp(_ error: Retry.Error, _ state: Retry.State) {}
    func streamError(of ending: Ending) -> any Error { CancellationError() }
}
