import Dispatch
import NetworkStackTesting

@testable import NetworkStack

/// A recorder of events, and a way to wait for all of them.
final class EventBarrier: Sendable {
    /// Receives the barrier's own event after the recorder.
    private final class Listener: EventListener {
        let passed = DispatchSemaphore(value: 0)

        func certificatesReloaded(error: (any Error)?) { passed.signal() }
    }

    private let recorder = EventRecorder()
    private let listener = Listener()

    var listeners: [any EventListener] { [recorder, listener] }

    /// The recorder, after it has received all earlier events of a reporter.
    func recorder(after reporter: EventReporter?) -> EventRecorder {
        guard let reporter else { return recorder }
        reporter.reloadedCertificates(nil)
        listener.passed.wait()
        return recorder
    }
}
