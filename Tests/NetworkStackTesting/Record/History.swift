import FoundationEssentials

/// Random steps from a seed, with sentences that hold after them.
package protocol History {
    /// The name of the code under test.
    static var subject: String { get }

    /// Makes the history of a seed.
    init(seed: UInt64) throws

    /// Takes the steps.
    ///
    /// - Returns: How many there were.
    /// - Throws: ``HistoryFault`` for the first sentence that does not hold.
    func run() throws -> Int
}

/// A sentence that does not hold, and the seed that shows it.
package struct HistoryFault: Error, CustomStringConvertible {
    let seed: UInt64
    let subject: String
    let sentence: String

    package init(seed: UInt64, subject: String, _ sentence: String) {
        (self.seed, self.subject, self.sentence) = (seed, subject, sentence)
    }

    package var description: String { "HISTORY_SEED=\(seed): \(subject): \(sentence)" }
}

extension History {
    /// Runs one history after the other until they took so many steps.
    ///
    /// - Parameters:
    ///   - first: The first seed; the others follow.
    ///   - steps: How many steps.
    ///   - willRun: Called with each seed before its history, so that a crash has one.
    /// - Returns: The number of histories.
    /// - Throws: ``HistoryFault`` for the first sentence that does not hold.
    package static func run(first: UInt64, steps: Int, willRun: (UInt64) -> Void = { _ in }) throws -> Int {
        var (taken, count) = (0, 0)
        while taken < steps {
            let seed = first &+ UInt64(count)
            willRun(seed)
            taken += try Self(seed: seed).run()
            count += 1
        }
        return count
    }

    /// Runs a share of the histories, for a test; the environment's HISTORY_SEED runs that one alone.
    ///
    /// - Parameter steps: How many steps.
    /// - Returns: The number of histories.
    /// - Throws: ``HistoryFault`` for the first sentence that does not hold.
    package static func runShare(steps: Int) throws -> Int {
        let seed = ProcessInfo.processInfo.environment["HISTORY_SEED"].flatMap { UInt64($0) }
        return try run(first: seed ?? 1, steps: seed == nil ? steps : 1)
    }
}
