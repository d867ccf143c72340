public import NetworkStack

/// A listener that records every event, for tests of what a stack reports (``/NetworkStack/EventListener``).
public final class EventRecorder: EventListener {
    /// A recorded event.
    public struct Entry: Sendable, CustomStringConvertible {
        /// The fetch; `nil` for the opening and the end of a connection.
        public let event: FetchEvent?
        /// The name of the event: `headReceived`.
        public let name: String
        /// The value of the event: a status, a number of bytes, a connection's identifier.
        public let detail: String

        /// The name and the value.
        public var description: String { detail.isEmpty ? name : "\(name) \(detail)" }
    }

    private let recorded = Lock<[Entry]>([])

    /// Makes a recorder without entries.
    public init() {}

    /// All events so far, in order.
    public var entries: [Entry] { recorded.withLock { $0 } }

    /// The events of each fetch, in the order in which the fetches began.
    public var fetches: [[Entry]] {
        let entries = entries.filter { $0.event != nil }
        var identifiers: [Int] = []
        for case let fetch? in entries.map(\.event?.fetch) where !identifiers.contains(fetch) {
            identifiers.append(fetch)
        }
        return identifiers.map { fetch in entries.filter { $0.event?.fetch == fetch } }
    }

    private func record(_ event: FetchEvent?, _ name: String, _ detail: String = "") {
        recorded.withLock { $0.append(Entry(event: event, name: name, detail: detail)) }
    }

    // MARK: Events

    /// Records the event.
    public func fetchStarted(_ event: FetchEvent) { record(event, "fetchStarted") }
    /// Records the event.
    public func attemptStarted(_ event: FetchEvent) { record(event, "attemptStarted", "\(event.attempt)") }
    /// Records the event.
    public func queued(_ event: FetchEvent) { record(event, "queued") }
    /// Records the event.
    public func nameLookupStarted(_ event: FetchEvent) { record(event, "nameLookupStarted") }
    /// Records the event.
    public func nameLookupEnded(_ event: FetchEvent) { record(event, "nameLookupEnded") }
    /// Records the event.
    public func connectStarted(_ event: FetchEvent) { record(event, "connectStarted") }
    /// Records the event.
    public func connectEnded(_ event: FetchEvent) { record(event, "connectEnded") }
    /// Records the event.
    public func tlsStarted(_ event: FetchEvent) { record(event, "tlsStarted") }
    /// Records the event.
    public func tlsEnded(_ event: FetchEvent) { record(event, "tlsEnded") }
    /// Records the event.
    public func connectionAcquired(_ event: FetchEvent, connection: HTTP.Connection, isReused: Bool) {
        record(event, "connectionAcquired", isReused ? "reused" : "new")
    }
    /// Records the event.
    public func requestSent(_ event: FetchEvent, byteCount: Int64) { record(event, "requestSent", "\(byteCount)") }
    /// Records the event.
    public func firstByteReceived(_ event: FetchEvent) { record(event, "firstByteReceived") }
    /// Records the event.
    public func informationalReceived(_ event: FetchEvent, response: HTTP.Response) {
        record(event, "informationalReceived", "\(response.status.rawValue)")
    }
    /// Records the event.
    public func headReceived(_ event: FetchEvent, response: HTTP.Response) {
        record(event, "headReceived", "\(response.status.rawValue)")
    }
    /// Records the event.
    public func bodyReceived(_ event: FetchEvent, byteCount: Int64) { record(event, "bodyReceived", "\(byteCount)") }
    /// Records the event.
    public func connectionReleased(_ event: FetchEvent, connection: HTTP.Connection) {
        record(event, "connectionReleased")
    }
    /// Records the event.
    public func redirected(_ event: FetchEvent, response: HTTP.Response) {
        record(event, "redirected", "\(response.status.rawValue)")
    }
    /// Records the event.
    public func retryScheduled(_ event: FetchEvent, after delay: Duration?, error: any Error) {
        record(event, "retryScheduled", delay.map { "\($0)" } ?? "")
    }
    /// Records the event.
    public func fetchSucceeded(_ event: FetchEvent, response: HTTP.Response) {
        record(event, "fetchSucceeded", "\(response.status.rawValue) \(response.metrics.bytesReceived)")
    }
    /// Records the event.
    public func fetchFailed(_ event: FetchEvent, error: any HTTPError, metrics: HTTP.Metrics) {
        record(event, "fetchFailed", error.summary)
    }
    /// Records the event.
    public func fetchCancelled(_ event: FetchEvent, metrics: HTTP.Metrics) { record(event, "fetchCancelled") }
    /// Records the event.
    public func connectionOpened(_ connection: HTTP.Connection, at time: ContinuousClock.Instant) {
        record(nil, "connectionOpened", "\(connection.id)")
    }
    /// Records the event.
    public func connectionClosed(
        _ connection: HTTP.Connection,
        reason: HTTP.Connection.CloseReason,
        at time: ContinuousClock.Instant
    ) { record(nil, "connectionClosed", "\(connection.id) \(reason.rawValue)") }
    /// Records the event.
    public func eventsDropped(_ count: Int) { record(nil, "eventsDropped", "\(count)") }
}

extension EventRecorder {
    /// What is wrong with the order of the events of a fetch that has ended, in a sentence, or `nil`.
    ///
    /// - Parameter entries: All events of the fetch (``fetches``).
    /// - Returns: The first fault.
    public static func fault(in entries: [Entry]) -> String? {
        var order = EventOrder()
        for entry in entries {
            if let fault = order.fault(of: entry) { return "\(fault): \(entries)" }
        }
        return order.isOver ? nil : "the fetch has no end: \(entries)"
    }
}

/// The documented order of the events of one fetch.
private struct EventOrder {
    private var last: FetchEvent?
    private var hop = 0
    private var step: String?
    private var hasConnection = false
    private var hasBegunResponse = false
    private var hasHead = false
    private(set) var isOver = false

    mutating func fault(of entry: EventRecorder.Entry) -> String? {
        guard let event = entry.event else { return "an event without a fetch" }
        defer { last = event }
        if isOver { return "\(entry) after the end" }
        if (last == nil) != (entry.name == "fetchStarted") { return "\(entry) at the wrong place" }
        if let last, event.time < last.time || event.hop < last.hop || event.attempt < last.attempt {
            return "\(entry) is out of order"
        }
        if let step, entry.name != "\(step)Ended" { return "\(entry) before the end of \(step)" }
        switch entry.name {
        case "queued":
            if event.hop == hop { return "\(entry) again" }
            (hop, hasBegunResponse, hasHead) = (event.hop, false, false)
        case "nameLookupStarted", "connectStarted", "tlsStarted": step = String(entry.name.dropLast(7))
        case "nameLookupEnded", "connectEnded", "tlsEnded":
            if step == nil { return "\(entry) without a start" }
            step = nil
        case "connectionAcquired", "connectionReleased":
            let acquires = entry.name == "connectionAcquired"
            if hasConnection == acquires { return "\(entry) at the wrong time" }
            hasConnection = acquires
        case "firstByteReceived":
            if hasBegunResponse { return "\(entry) again" }
            hasBegunResponse = true
        case "headReceived", "informationalReceived":
            if !hasBegunResponse || hasHead { return "\(entry) at the wrong time" }
            hasHead = entry.name == "headReceived"
        case "bodyReceived": if !hasHead { return "\(entry) without a head" }
        case "redirected", "retryScheduled": if hasConnection { return "\(entry) before the release" }
        case "fetchSucceeded", "fetchFailed", "fetchCancelled":
            if hasConnection { return "\(entry) before the release" }
            isOver = true
        default: break
        }
        return nil
    }
}
