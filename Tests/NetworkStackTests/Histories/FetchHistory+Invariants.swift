import Foundation
import NetworkStackTesting

@testable import NetworkStack

extension FetchHistory {
    /// The invariants of every fetch that has ended.
    ///
    /// - Throws: ``HistoryFault`` with the sentence that does not hold.
    func check() throws {
        func must(_ sentence: String, _ holds: Bool) throws(HistoryFault) {
            guard holds else { throw fault(sentence) }
        }
        if let sentence = delegate.faults.first { throw fault(sentence) }
        let endings = delegate.endings
        try must("A fetch completes once.", endings.count == 1)
        try must("A cancel before the completion wins.", !wasCancelled || endings[0].isCancelled)
        let reports = delegate.reports.sorted()
        try must(
            "Each attempt's end is reported once.",
            reports == (delegate.isIntercepted ? delegate.begun.sorted() : [])
        )
        let handedOver = delegate.handedOver
        try must("A request is handed over once for each attempt.", Set(handedOver).count == handedOver.count)
        try must("Every ticket is returned.", tickets.isEmpty)
        try must("Every source is closed once.", sources.allSatisfy { $0.closeCount == 1 })
        try must("A stream that is delivered has a verdict.", !stream.isDelivered || stream.verdict != nil)
        if case .finished(let body) = stream.verdict {
            try must("A body is delivered in order.", stream.received == body)
        }
        let keepsNothing = state.stage.hop == nil && state.stage.pending == nil && state.delegate == nil
        try must("Nothing is kept after the end.", keepsNothing && state.attempt == nil && state.redirects.isEmpty)
        try must("Nothing is kept after the end.", state.ticket == nil)
        try checkEvents()
    }

    /// The guarantees for listeners (``EventListener``).
    private func checkEvents() throws(HistoryFault) {
        let entries = delegate.recordedEvents()
        if let disorder = EventRecorder.fault(in: entries) {
            throw fault("The events of a fetch come in order, and its end once: \(disorder)")
        }
        // A stream may have ended before the completion, which a cancel changed then.
        var ends = delegate.lastEvent.map { [$0] } ?? []
        switch stream.verdict {
        case .finished: ends.append("fetchSucceeded")
        case .failed: ends += ["fetchFailed", "fetchCancelled"]
        case nil: break
        }
        guard let last = entries.last?.name, ends.contains(last) else {
            throw fault("The last event is how the fetch ended, \(ends): \(entries)")
        }
    }
}
