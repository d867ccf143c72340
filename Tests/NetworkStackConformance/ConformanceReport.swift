import NetworkStack

/// A promise that a stack cannot keep yet, through no fault of this library.
public struct KnownIssue: Sendable {
    /// The check's name.
    public let check: String
    /// Why the stack cannot keep the promise, in a sentence.
    public let reason: String
    /// Where that is tracked upstream.
    public let reference: String
    /// Whether the promise is kept now and then, depending on how bytes arrive: then one run cannot show that the issue is gone.
    public let isIntermittent: Bool

    /// Describes an issue.
    ///
    /// - Parameters:
    ///   - check: The check's name.
    ///   - reason: Why the stack cannot keep the promise, in a sentence.
    ///   - reference: Where that is tracked upstream.
    ///   - isIntermittent: Whether the promise is kept now and then. Only such an issue does not go red when it is kept.
    public init(_ check: String, reason: String, reference: String, isIntermittent: Bool = false) {
        self.check = check
        self.reason = reason
        self.reference = reference
        self.isIntermittent = isIntermittent
    }
}

/// Counts how a stack stands, and prints it once every check has been noted.
public final class ConformanceReport: Sendable {
    /// What came of a check.
    public enum Outcome: Sendable {
        /// The promise is kept.
        case passed
        /// The promise is not kept.
        case failed
        /// The promise is not kept, as was known.
        case knownIssue(KnownIssue)
        /// The stack does not claim to keep the promise, for a reason.
        case notClaimed(String)
    }

    private let name: String
    private let expected: Int
    private let outcomes = Lock<[String: Outcome]>([:])

    /// Makes a report.
    ///
    /// - Parameters:
    ///   - name: The stack's name.
    ///   - checks: The checks that will be noted.
    public init(name: String, checks: [ConformanceCheck] = ConformanceCheck.chosen) {
        self.name = name
        expected = checks.count
    }

    /// Notes what came of a check.
    ///
    /// - Parameters:
    ///   - check: The check.
    ///   - outcome: What came of it.
    public func note(_ check: ConformanceCheck, _ outcome: Outcome) {
        outcomes.withLock { $0[check.name] = outcome }
        if let summary { print(summary) }
    }

    /// What is printed: how the stack stands, or `nil` before every check has been noted.
    public var summary: String? {
        let all = outcomes.withLock { $0 }
        return all.count == expected ? summary(of: all) : nil
    }

    private func summary(of outcomes: [String: Outcome]) -> String {
        var (passed, failed, lines) = (0, 0, [String]())
        var (known, unclaimed) = (0, 0)
        for (check, outcome) in outcomes.sorted(by: { $0.key < $1.key }) {
            switch outcome {
            case .passed: passed += 1
            case .failed: failed += 1
            case .knownIssue(let issue):
                known += 1
                lines.append("  known issue: \(check): \(issue.reason) (\(issue.reference))")
            case .notClaimed(let reason):
                unclaimed += 1
                lines.append("  not claimed: \(check): \(reason)")
            }
        }
        let counts = "\(passed) promises kept, \(failed) broken, \(known) known issues, \(unclaimed) not claimed"
        return (["\(name): \(counts)"] + lines).joined(separator: "\n")
    }
}

extension ConformanceSubject {
    /// Proves a promise and notes what came of it. A promise the stack does not claim is noted with the reason.
    ///
    /// - Parameters:
    ///   - check: The promise.
    ///   - report: Where it is noted.
    ///   - issue: Why the promise is known not to be kept, if it is.
    /// - Throws: What speaks against the stack; also if a known issue is none any more.
    public func prove(_ check: ConformanceCheck, noting report: ConformanceReport, despite issue: KnownIssue? = nil)
        async throws
    {
        if let reason = reasonAgainst(check) { return report.note(check, .notClaimed(reason)) }
        let peers = CheckPeers()
        do {
            try await CheckPeers.$current.withValue(peers) { try await check.run(self) }
        } catch let unclaimed as UnclaimedPromise {
            return report.note(check, .notClaimed(unclaimed.description))
        } catch {
            guard let issue else {
                report.note(check, .failed)
                throw (error as? ConformanceFailure).map(peers.told) ?? error
            }
            return report.note(check, .knownIssue(issue))
        }
        guard let issue, !issue.isIntermittent else { return report.note(check, .passed) }
        report.note(check, .failed)
        throw ConformanceFailure("The known issue is none any more; take it off the list: \(issue.reason)")
    }

    private func reasonAgainst(_ check: ConformanceCheck) -> String? {
        let missing = missing(for: check)
        if missing.isEmpty { return nil }
        return missing.compactMap { capabilities.reason(against: $0) }.sorted().first
            ?? "The test program does not have \(missing.map(\.description).sorted().joined(separator: ", "))."
    }
}
