import Foundation

@testable import NetworkStack

extension FetchHistory {
    /// What holds of every fetch that is over.
    ///
    /// - Throws: ``Fault`` with the sentence that does not hold.
    func check() throws {
        func must(_ sentence: String, _ holds: Bool) throws(Fault) {
            guard holds else { throw Fault(seed: seed, what: sentence) }
        }
        if let fault = delegate.faults.first { throw Fault(seed: seed, what: fault) }
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
        try must("Every ticket is given back.", tickets.isEmpty)
        try must("Every source is closed once.", sources.allSatisfy { $0.closeCount == 1 })
        try must("A stream that is delivered has a verdict.", !stream.isDelivered || stream.verdict != nil)
        if case .finished(let body) = stream.verdict {
            try must("A body is delivered in order.", stream.received == body)
        }
        let keepsNothing = state.stage.hop == nil && state.stage.pending == nil && state.delegate == nil
        try must("Nothing is kept after the end.", keepsNothing && state.attempt == nil && state.redirects.isEmpty)
        try must("Nothing is kept after the end.", state.ticket == nil)
    }
}

extension FetchHistory {
    /// Runs fetches, each from a seed, until they took so many events.
    ///
    /// - Parameters:
    ///   - first: The first seed; the others follow.
    ///   - steps: How many events.
    ///   - willRun: Called with each seed before its fetch, so that a crash has one.
    /// - Returns: The number of fetches.
    /// - Throws: ``Fault`` for the first sentence that does not hold.
    static func run(first: UInt64, steps: Int, willRun: (UInt64) -> Void = { _ in }) throws -> Int {
        var (taken, count) = (0, 0)
        while taken < steps {
            let seed = first &+ UInt64(count)
            willRun(seed)
            taken += try FetchHistory(seed: seed).run()
            count += 1
        }
        return count
    }
}
