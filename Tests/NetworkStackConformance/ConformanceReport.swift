import NetworkStack

/// A promise that a stack cannot keep yet, because of a defect outside this library.
public struct KnownIssue: Sendable {
    /// The check's name.
    public let check: String
    /// Why the stack cannot keep the promise, in a sentence.
    public let reason: String
    /// The upstream issue.
    public let reference: String
    /// Whether the promise is sometimes kept, depending on how bytes arrive. Then one run cannot show that the defect is gone.
    public let isIntermittent: Bool

    /// Makes an issue.
    ///
    /// - Parameters:
    ///   - check: The check's name.
    ///   - reason: Why the stack cannot keep the promise, in a sentence.
    ///   - reference: The upstream issue.
    ///   - isIntermittent: Whether the promise is sometimes kept. Only such an issue does not fail when it is kept.
    public init(_ check: String, reason: String, reference: String, isIntermittent: Bool = false) {
        self.check = check
        self.reason = reason
        self.reference = reference
        self.isIntermittent = isIntermittent
    }
}

/// Counts the results of a stack, and prints them after the last check.
public final class ConformanceReport: Sendable {
    /// The result of a check.
    public enum Outcome: Sendable {
        /// The promise is kept.
        case passed
        /// The promise is not kept, with the failure.
        case failed(String)
        /// The promise is not kept, because of a known issue.
        case knownIssue(KnownIssue)
        /// The stack does not claim the promise, for this reason.
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

    /// Notes the result of a check.
    ///
    /// - Parameters:
    ///   - check: The check.
    ///   - outcome: The result.
    public func note(_ check: ConformanceCheck, _ outcome: Outcome) {
        outcomes.withLock { $0[check.name] = outcome }
        if let summary { print(summary) }
    }

    /// The printed text, or `nil` before all checks were noted.
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
            case .failed(let failure):
                failed += 1
                lines.append("  broken: \(check): \(failure)")
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
    /// Runs a check and notes its result. A promise that the stack does not claim is noted with the reason.
    ///
    /// - Parameters:
    ///   - check: The check.
    ///   - report: The report.
    ///   - issue: The known issue of the check, if there is one.
    /// - Throws: The failure of the check, or a failure if a known issue is gone.
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
                let failure = (error as? ConformanceFailure).map(peers.addRecords) ?? error
                report.note(check, .failed("\(failure)"))
                throw failure
            }
            return report.note(check, .knownIssue(issue))
        }
        guard let issue, !issue.isIntermittent else { return report.note(check, .passed) }
        let failure = ConformanceFailure("The known issue no longer occurs. Remove it from the list: \(issue.reason)")
        report.note(check, .failed(failure.description))
        throw failure
    }

    private func reasonAgainst(_ check: ConformanceCheck) -> String? {
        let missing = missing(for: check)
        if missing.isEmpty { return nil }
        return missing.compactMap { capabilities.reason(against: $0) }.sorted().first
            ?? "The test program does not have \(missing.map(\.description).sorted().joined(separator: ", "))."
    }
}
