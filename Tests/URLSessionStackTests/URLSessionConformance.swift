import CurlStack
import NetworkStack
import NetworkStackConformance
import Testing
import URLSessionStack

/// Every promise of the suite that URLSession can keep, kept by the URLSession stack.
@Suite("URLSessionStack", .serialized)
struct URLSessionConformance {
    static let report = ConformanceReport(name: "URLSessionStack")
    static let subject: ConformanceSubject? = {
        guard let stack = try? Network.URLSessionNetworkStack(configuration: .init()) else { return nil }
        return ConformanceSubject(name: "URLSessionStack", capabilities: stack.capabilities) {
            try Network.URLSessionNetworkStack(configuration: $0)
        }
    }()

    @Test("keeps a promise", .timeLimit(.minutes(1)), arguments: ConformanceCheck.chosen)
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
        #expect(KnownIssue.all.map(\.check).filter { !names.contains($0) } == [])
    }
}

extension KnownIssue {
    /// The promises that URLSession on Linux breaks where no stack above it can help. Each turns red when it is kept.
    static let all: [KnownIssue] = [
        before(
            0x081400,
            KnownIssue(
                "One hanging name lookup delays no other transfer",
                reason: "A cancel during a name lookup blocks the one queue of all sessions until the lookup ends.",
                reference: "FoundationNetworking, MultiHandle.swift: libcurl's CURLOPT_QUICK_EXIT is not set"
            )
        ),
        before(
            0x080000,
            KnownIssue(
                "Bytes that a server sends unasked are nobody's answer",
                reason: "libcurl 7.88 takes bytes that wait on an idle connection for the next answer.",
                reference: "libcurl before 8.0"
            )
        ),
        KnownIssue(
            "A redirect with huge content is followed without waiting for it",
            reason: "URLSession tells of a redirect only when its content is complete.",
            reference: "FoundationNetworking, HTTPURLProtocol.swift: a redirect is told when its transfer has completed"
        ),
        KnownIssue(
            "A redirect whose content stops coming is followed",
            reason: "URLSession tells of a redirect only when its content is complete.",
            reference: "FoundationNetworking, HTTPURLProtocol.swift: a redirect is told when its transfer has completed"
        ),
        before(
            0x081400,
            from: 0x080800,
            KnownIssue(
                "A redirect from /b/c/d;p?q to ? leads to /b/c/d;p?",
                reason: "libcurl 8.8 to 8.19 leave an empty query out.",
                reference: "lib/urlapi.c, query_present"
            )
        ),
        before(
            .max,
            from: 0x081400,
            KnownIssue(
                "A redirect from /b/c/d;p?q to /a%2Fb%2f%2e%2E/c leads to /a%2Fb%2f%2e%2E/c",
                reason: "libcurl 8.20 and newer write escapes in capital letters.",
                reference: "lib/urlapi.c, urlencode_str"
            )
        ),
    ].compactMap(\.self)

    /// An issue that is known of some versions of the libcurl that URLSession stands on.
    private static func before(_ version: UInt32, from first: UInt32 = 0, _ issue: KnownIssue) -> KnownIssue? {
        first <= CurlLibrary.shared.versionNumber && CurlLibrary.shared.versionNumber < version ? issue : nil
    }
}
