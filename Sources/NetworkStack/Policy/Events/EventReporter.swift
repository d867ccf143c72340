internal import Dispatch

/// Keeps the events of a stack in order, and passes them to its listeners on a separate queue.
///
/// Adding an event is cheap and calls no listener, so it may be done under a lock and on a loop's thread.
@usableFromInline
package final class EventReporter: Sendable {
    /// What happened.
    package enum Occurrence: Sendable {
        case fetchStarted, attemptStarted, queued
        case nameLookupStarted, nameLookupEnded, connectStarted, connectEnded, tlsStarted, tlsEnded
        case connectionAcquired(HTTP.Connection, isReused: Bool)
        case requestSent(Int64)
        case firstByteReceived
        case informationalReceived(HTTP.Response)
        case headReceived(HTTP.Response)
        case bodyReceived(Int64)
        case connectionReleased(HTTP.Connection)
        case redirected(HTTP.Response)
        indirect case retryScheduled(after: Duration?, any Error)
        case fetchSucceeded(HTTP.Response)
        case fetchFailed(any HTTPError)
        indirect case fetchCancelled(HTTP.Metrics)
        case connectionOpened(HTTP.Connection)
        case connectionClosed(HTTP.Connection, HTTP.Connection.CloseReason)
        case advisoriesFound([HTTP.Advisory])
        case certificatesReloaded((any Error)?)
    }

    /// An event, in one object that is cheap to pass on.
    private final class Entry: Sendable {
        /// `nil` for what belongs to no fetch.
        let event: FetchEvent?
        let moment: MonotonicTime
        let occurrence: Occurrence

        init(_ place: Shared<FetchEvent.Place>?, _ occurrence: Occurrence) {
            moment = .now
            event = place.map { [moment] place in FetchEvent(at: place, moment) }
            self.occurrence = occurrence
        }
    }

    private struct State {
        var waiting: [Entry] = []
        var dropped = 0
        var isReporting = false
    }

    private let listeners: [any EventListener]
    /// Whether any of them observes more than the ends of fetches.
    package let observesSteps: Bool
    private let queue = DispatchQueue(label: "events")
    private let state = Lock(State())

    /// The most events that wait.
    package static let limit = 16_384

    /// Makes a reporter, or `nil` if there is no listener. Listeners get the vulnerabilities of the library below first.
    package init?(_ listeners: [any EventListener], advisories: [HTTP.Advisory] = []) {
        if listeners.isEmpty { return nil }
        self.listeners = listeners
        observesSteps = listeners.contains { $0.observesSteps }
        if !advisories.isEmpty { add(.advisoriesFound(advisories), at: nil) }
    }

    /// Adds the opening of a connection.
    package func opened(_ connection: HTTP.Connection) {
        if observesSteps { add(.connectionOpened(connection), at: nil) }
    }

    /// Adds the end of a connection.
    package func closed(_ connection: HTTP.Connection, _ reason: HTTP.Connection.CloseReason) {
        if observesSteps { add(.connectionClosed(connection, reason), at: nil) }
    }

    /// Adds that certificates were read again, or why not.
    package func reloadedCertificates(_ error: (any Error)?) { add(.certificatesReloaded(error), at: nil) }

    /// Adds an event that happens now.
    func add(_ occurrence: Occurrence, at place: Shared<FetchEvent.Place>?) {
        let entry = Entry(place, occurrence)
        let begins = state.withLock { state in
            guard state.waiting.count < Self.limit else {
                state.dropped += 1
                return false
            }
            state.waiting.append(entry)
            return !exchange(&state.isReporting, with: true)
        }
        if begins { queue.async { self.report() } }
    }

    private func report() {
        while true {
            let (entries, dropped) = state.withLock { state in
                state.isReporting = !state.waiting.isEmpty || state.dropped > 0
                return (exchange(&state.waiting, with: []), exchange(&state.dropped, with: 0))
            }
            if entries.isEmpty, dropped == 0 { return }
            for entry in entries {
                for listener in listeners { report(entry, to: listener) }
            }
            if dropped > 0 { for listener in listeners { listener.eventsDropped(dropped) } }
        }
    }

    private func report(_ entry: Entry, to listener: any EventListener) {
        if let event = entry.event { return entry.occurrence.report(event, to: listener) }
        switch entry.occurrence {
        case .connectionOpened(let connection): listener.connectionOpened(connection, at: entry.moment.instant)
        case .connectionClosed(let connection, let reason):
            listener.connectionClosed(connection, reason: reason, at: entry.moment.instant)
        case .advisoriesFound(let advisories): listener.advisoriesFound(advisories)
        case .certificatesReloaded(let error): listener.certificatesReloaded(error: error)
        default: break
        }
    }
}

extension EventReporter.Occurrence {
    fileprivate func report(_ event: FetchEvent, to listener: any EventListener) {
        switch self {
        case .fetchStarted: listener.fetchStarted(event)
        case .attemptStarted: listener.attemptStarted(event)
        case .queued: listener.queued(event)
        case .nameLookupStarted: listener.nameLookupStarted(event)
        case .nameLookupEnded: listener.nameLookupEnded(event)
        case .connectStarted: listener.connectStarted(event)
        case .connectEnded: listener.connectEnded(event)
        case .tlsStarted: listener.tlsStarted(event)
        case .tlsEnded: listener.tlsEnded(event)
        case .connectionAcquired(let connection, let isReused):
            listener.connectionAcquired(event, connection: connection, isReused: isReused)
        case .requestSent(let count): listener.requestSent(event, byteCount: count)
        case .firstByteReceived: listener.firstByteReceived(event)
        case .informationalReceived(let response): listener.informationalReceived(event, response: response)
        case .headReceived(let response): listener.headReceived(event, response: response)
        case .bodyReceived(let count): listener.bodyReceived(event, byteCount: count)
        case .connectionReleased(let connection): listener.connectionReleased(event, connection: connection)
        case .redirected(let response): listener.redirected(event, response: response)
        case .retryScheduled(let delay, let error): listener.retryScheduled(event, after: delay, error: error)
        case .fetchSucceeded(let response): listener.fetchSucceeded(event, response: response)
        case .fetchFailed(let error): listener.fetchFailed(event, error: error)
        case .fetchCancelled(let metrics): listener.fetchCancelled(event, metrics: metrics)
        case .connectionOpened, .connectionClosed, .advisoriesFound, .certificatesReloaded: break
        }
    }
}
