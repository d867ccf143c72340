import FoundationEssentials
import Testing

@testable import NetworkStack

@Suite("A repeated fetch")
struct AskedAgainTests {
    private let request: HTTP.Request
    private let origin: HTTP.Origin
    private let pinned: ServerTrust

    init() throws {
        request = try HTTP.Request(url: "https://a.test/")
        origin = try HTTP.Origin(of: request.url)
        let policy = try PinningPolicy(
            domainName: "a.test",
            pinnedHashes: [PinningPolicyTests.first, PinningPolicyTests.second]
        )
        pinned = try ServerTrustJudge(ServerTrustConfiguration(pinningPolicies: [policy])).trust(for: origin)
    }

    private func hop(_ trust: ServerTrust) -> HTTPHop {
        HTTPHop(
            request: request,
            origin: origin,
            urlText: request.url.absoluteString,
            options: Shared(HTTP.Options()),
            trust: trust,
            source: nil,
            allowsWithholding: true
        )
    }

    @Test("checks its server again: a policy may have expired or started")
    func changes() {
        #expect(hop(pinned).trusting(.ordinary).trust.enforced == nil)
        #expect(hop(.ordinary).trusting(pinned).trust.enforced?.host == "a.test")
    }

    @Test("reuses its hop if nothing has changed")
    func same() {
        for hop in [hop(pinned), hop(.ordinary)] { #expect(hop.trusting(hop.trust) === hop) }
    }

    @Test("reports the requested fragment every time")
    func fragments() async throws {
        let stack = try InMemoryStack { _ in
            { request in (HTTP.Response(status: 200, url: request.url), Data("x".utf8)) }
        }
        let request = try HTTP.Request(url: "https://a.test/#part")
        for _ in 1...3 {
            let response = try await stack.fetch(resource: .init(baseRequestMaking: .request(request))).response
            #expect(response.url.fragment() == "part")
        }
    }
}
