internal import Synchronization

/// What a phase of a run came to, kept by every fetch of it.
final class Tally: Sendable {
    struct Figures {
        var fetches = 0
        var errors = 0
        var firstError: String?
        var latencies = LatencyHistogram()
    }

    private let figures = Mutex(Figures())
    private let left: Atomic<Int>
    private let deadline: UInt64
    private let expected: Int?

    /// Makes an empty tally of a phase that ends after so many fetches or, with 0, so many milliseconds.
    init(fetches: Int, milliseconds: Int, expected: Int?) {
        left = Atomic(fetches > 0 ? fetches : .max)
        deadline = fetches > 0 ? .max : ProcessUsage.clock + UInt64(milliseconds) * 1_000_000
        self.expected = expected
    }

    /// Whether another fetch is to be made.
    func takesAnother(at now: UInt64) -> Bool {
        now < deadline && left.wrappingSubtract(1, ordering: .relaxed).newValue >= 0
    }

    /// A fetch has ended.
    ///
    /// - Returns: The time.
    @discardableResult
    func ended(_ result: Result<Int, any Error>, startedAt: UInt64) -> UInt64 {
        let now = ProcessUsage.clock
        figures.withLock { figures in
            switch result {
            case .success(let value) where expected == nil || value == expected:
                figures.fetches += 1
                figures.latencies.record(now - startedAt)
            case .success(let value):
                figures.errors += 1
                figures.firstError = figures.firstError ?? "A fetch returned \(value) and not \(expected ?? 0)."
            case .failure(let error):
                figures.errors += 1
                figures.firstError = figures.firstError ?? "\(error)"
            }
        }
        return now
    }

    /// What it came to.
    var sum: Figures { figures.withLock { $0 } }
}
