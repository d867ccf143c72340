import AsyncHTTPClientStack
import NetworkStack
import NetworkStackConformance
import Testing

/// Every promise of the suite that AsyncHTTPClient can keep, kept by the stack on it.
@Suite("AsyncHTTPClientStack", .serialized)
struct AsyncHTTPClientConformance {
    static let report = ConformanceReport(name: "AsyncHTTPClientStack")
    static let subject: ConformanceSubject? = {
        guard let stack = try? Network.AsyncHTTPClientNetworkStack(configuration: .init()) else { return nil }
        return ConformanceSubject(name: "AsyncHTTPClientStack", capabilities: stack.capabilities) {
            try Network.AsyncHTTPClientNetworkStack(configuration: $0)
        }
    }()

    // A known issue may be a fetch that ends only when the test's server gives up, after half a minute.
    @Test("keeps a promise", .timeLimit(.minutes(2)), arguments: ConformanceCheck.chosen)
    func keeps(_ check: ConformanceCheck) async throws {
        let subject = try #require(Self.subject)
        let issue = KnownIssue.all.first { $0.check == check.name }
        try await subject.prove(check, noting: Self.report, despite: issue)
        if let issue, subject.claims(check) {
            withKnownIssue("\(issue.reason) (\(issue.reference))") { Issue.record("\(check.name)") }
        }
    }

    @Test("has known issues of promises that there are")
    func knownIssuesAreChecks() {
        let names = Set(ConformanceCheck.all.map(\.name))
        #expect(KnownIssue.all.count <= 10)
        #expect(KnownIssue.all.map(\.check).filter { !names.contains($0) } == [])
    }
}
