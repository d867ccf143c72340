import Dispatch
import NetworkStackTesting

@testable import NetworkStack

/// A recorder of events, and a way to wait for all of them.
final class EventBarrier: Sendable {
    /// Listens after the recorder to what the barrier itself reports.
    private final class Listener: EventListener {
        let passed = DispatchSemaphore(value: 0)

        func certificatesReloaded(error: (any Error)?) { passed.signal() }
    }

    private let recorder = EventRecorder()
    private let listener = Listener()

    var listeners: [any EventListener] { [recorder, listener] }

    /// The recorder, once it has what a reporter with the listeners was given before.
    func recorder(after reporter: EventReporter?) -> EventRecorder {
        guard let reporter else { return recorder }
        reporter.reloadedCertificates(nil)
        listener.passed.wait()
        return recorder
    }
}
