import CurlStack
import NetworkStack
import NetworkStackConformance
import Testing

/// Every promise of the suite, kept by the curl stack. It has no known issue.
@Suite("CurlStack", .serialized)
struct CurlConformance {
    static let subject: ConformanceSubject? = {
        guard let stack = try? Network.CurlNetworkStack() else { return nil }
        return ConformanceSubject(name: "CurlStack", capabilities: stack.capabilities) {
            AnyHTTPNetworkStack(try Network.CurlNetworkStack(configuration: $0))
        }
    }()

    @Test("keeps a promise", .timeLimit(.minutes(1)), arguments: ConformanceCheck.all)
    func keeps(_ check: ConformanceCheck) async throws {
        let subject = try #require(Self.subject)
        try #require(subject.claims(check), "the curl stack claims everything")
        try await check.run(subject)
    }
}
