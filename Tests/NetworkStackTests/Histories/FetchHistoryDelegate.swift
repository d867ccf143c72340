import Dispatch
import NetworkStackTesting

@testable import NetworkStack

/// Counts the calls of the fetch.
final class FetchHistoryDelegate: FetchDelegate {
    typealias Failure = HTTPFetchError<HTTP.Response, any Error>

    private struct Record {
        var endings: [Ending] = []
        var reports: [Int] = []
        var (begun, handedOver): ([Int], [Int]) = ([], [])
        var faults: [String] = []
        var hasReturned = false
        /// The failure of the attempt; `nil` for a success.
        var failure: Failure?
        /// The event of the completion; `nil` for a stream that continues.
        var lastEvent: String?
    }

    private static let sharedContext = EngineContext(
        configuration: .init(),
        obstacleToPinning: nil,
        queue: .global(),
        retryQueue: .global()
    )

    let (isIntercepted, resumesTask, interceptsBody, interceptsAttempts): (Bool, Bool, Bool, Bool)
    let receiver: StreamReceiver?
    let trace: FetchTrace?
    private let events = EventBarrier()
    private let reporter: EventReporter?
    private let record = Lock(Record())

    init(streams: Bool, isIntercepted: Bool, resumesTask: Bool, interceptsAttempts: Bool) {
        (self.isIntercepted, self.resumesTask, interceptsBody) = (isIntercepted, resumesTask, false)
        self.interceptsAttempts = isIntercepted && interceptsAttempts
        receiver = streams ? StreamReceiver() : nil
        reporter = EventReporter(events.listeners)
        trace = reporter.map { FetchTrace($0) }
    }

    var context: EngineContext { Self.sharedContext }
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
        reportEnd(ending)
    }

    /// Reports the result of the completion, as ``Fetch`` does.
    private func reportEnd(_ ending: Ending) {
        switch ending {
        case .whole(let head, _, _, fails: false): trace?.succeeded(head)
        case .opened: return
        case .resultStored where failure == nil:
            if streams { return }
            trace?.succeeded(FetchHistory.success)
        default:
            let failure = self.failure(of: ending)
            trace?.failed(failure)
            return record.withLock { $0.lastEvent = failure.isCancelled ? "fetchCancelled" : "fetchFailed" }
        }
        record.withLock { $0.lastEvent = "fetchSucceeded" }
    }

    private func failure(of ending: Ending) -> Failure {
        switch ending {
        case .whole(let head, _, _, _): .http(head.status, nil, head)
        case .failed(let failure, let context): failure.typed({ $0 }, in: context ?? .init())
        case .noRequest(let error): .noRequest(error)
        case .thrown(let error, _), .rejected(let error, _): .interceptor(error)
        case .resultStored: failure ?? .cancelled
        case .opened, .cancelled: .cancelled
        }
    }

    /// The failure of the attempt; `nil` for a success.
    var failure: Failure? {
        get { record.withLock { $0.failure } }
        set { record.withLock { $0.failure = newValue } }
    }
    /// The event of the completion; `nil` for a stream that continues.
    var lastEvent: String? { record.withLock { $0.lastEvent } }

    /// The events so far.
    func recordedEvents() -> [EventRecorder.Entry] { events.recorder(after: reporter).entries }

    func makeAtOnce(_ attempt: Attempt) -> Result<HTTP.Request, any Error>? { nil }
    func make(_ attempt: Attempt, _ handler: @escaping MadeRequestHandler) -> any Cancelable { EmptyCancelable() }
    func reportScheduled(_ attempt: Attempt) {}
    func start(_ hop: HTTPHop, for loop: FetchLoop, number: Int) -> any HTTPTransfer {
        FetchHistoryTransfer(hop: number)
    }
    func storeResult(of ending: Ending) -> Bool {
        failure = ending.needsNoUserCode ? nil : failure(of: ending)
        return ending.needsNoUserCode
    }
    func transform(_ handler: @escaping @Sendable (Bool) -> Void) -> any Cancelable { EmptyCancelable() }
    func reportSuccess(_ attempt: Attempt) {}
    func vote(_ attempt: Attempt) -> (Retry.Action, any Error) { (.none, CancellationError()) }
    func abridged(_ error: any Error) -> any Error { error }
    func giveUp(_ error: Retry.Error, _ state: Retry.State) {}
    func streamError(of ending: Ending) -> any Error { failure(of: ending) }
}
