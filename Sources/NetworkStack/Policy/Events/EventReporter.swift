internal import Dispatch

/// Keeps the events of a stack in order, and passes them to its listeners on a separate queue.
///
/// Adding an event is cheap and calls no listener, so it may be done under a lock and on a loop's thread.
@usableFromInline
package final class EventReporter: Sendable {
    /// Calls a listener for one event.
    private enum Report: Sendable {
        case ofFetch(FetchEvent, @Sendable (any EventListener, FetchEvent) -> Void)
        case ofStack(@Sendable (any EventListener) -> Void)

        func callAsFunction(_ listener: any EventListener) {
            switch self {
            case .ofFetch(let event, let report): report(listener, event)
            case .ofStack(let report): report(listener)
            }
        }
    }

    private struct State {
        var waiting: [Report] = []
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
        if !advisories.isEmpty { add(.ofStack { $0.advisoriesFound(advisories) }) }
    }

    /// Adds the opening of a connection.
    package func opened(_ connection: HTTP.Connection) {
        guard observesSteps else { return }
        add(.ofStack { [moment = MonotonicTime.now] in $0.connectionOpened(connection, at: moment.instant) })
    }

    /// Adds the end of a connection.
    package func closed(_ connection: HTTP.Connection, _ reason: HTTP.Connection.CloseReason) {
        guard observesSteps else { return }
        add(
            .ofStack { [moment = MonotonicTime.now] in
                $0.connectionClosed(connection, reason: reason, at: moment.instant)
            }
        )
    }

    /// Adds that certificates were read again, or why not.
    package func reloadedCertificates(_ error: (any Error)?) {
        add(.ofStack { $0.certificatesReloaded(error: error) })
    }

    /// Adds an event of a fetch, which happens now.
    ///
    /// - Parameters:
    ///   - place: Where the fetch is.
    ///   - report: Calls the listener's method for it.
    func add(at place: Shared<FetchEvent.Place>, _ report: @escaping @Sendable (any EventListener, FetchEvent) -> Void)
    {
        add(.ofFetch(FetchEvent(at: place, .now), report))
    }

    private func add(_ report: Report) {
        let begins = state.withLock { state in
            guard state.waiting.count < Self.limit else {
                state.dropped += 1
                return false
            }
            state.waiting.append(report)
            return !exchange(&state.isReporting, with: true)
        }
        if begins { queue.async { self.report() } }
    }

    private func report() {
        while true {
            let (reports, dropped) = state.withLock { state in
                state.isReporting = !state.waiting.isEmpty || state.dropped > 0
                return (exchange(&state.waiting, with: []), exchange(&state.dropped, with: 0))
            }
            if reports.isEmpty, dropped == 0 { return }
            for report in reports {
                for listener in listeners { report(listener) }
            }
            if dropped > 0 { for listener in listeners { listener.eventsDropped(dropped) } }
        }
    }
}
