import CurlStack
import NetworkStack
import NetworkStackConformance
import Testing

/// Every promise of the suite, kept by the curl stack. It has no known issue.
@Suite("CurlStack", .serialized)
struct CurlConformance {
    static let report = ConformanceReport(name: "CurlStack")
    static let subject = ConformanceSubject(name: "CurlStack", capabilities: .init()) {
        try Network.CurlNetworkStack(configuration: $0)
    }

    @Test("keeps a promise", .timeLimit(.minutes(1)), arguments: ConformanceCheck.chosen)
    func keeps(_ check: ConformanceCheck) async throws {
        try await Self.subject.prove(check, noting: Self.report)
    }

    @Test("can do everything there is a capability for")
    func capabilities() throws {
        #expect(try Network.CurlNetworkStack().capabilities.unsupported.isEmpty)
    }
}
