import Foundation
import Testing

@testable import NetworkStack

@Suite("A server trust configuration")
struct ServerTrustTests {
    static let now = Date(timeIntervalSince1970: 1_000_000)

    static func policy(
        _ domainName: String,
        subdomains: Bool = false,
        expires: Date = .distantFuture,
        pins: Set<String> = [PinningPolicyTests.first],
        scope: PinningPolicy.Scope = .chain
    ) throws -> PinningPolicy {
        try PinningPolicy(
            domainName: domainName,
            includeSubdomains: subdomains,
            expirationDate: expires,
            pinnedHashes: pins,
            enforceBackupPin: false,
            scope: scope
        )
    }

    /// The verdict of a judge as text: `ordinary`, the domain of the policy that applies, or the error; and its report.
    private func verdict(
        _ url: String,
        _ policies: [PinningPolicy],
        notPinned: Bool = false,
        expired: Bool = false,
        mode: ServerTrustConfiguration.Mode = .enforced,
        obstacle: String? = nil
    ) throws -> (String, reports: [ServerTrustReport]) {
        let configuration = try ServerTrustConfiguration(
            pinningPolicies: policies,
            allowNotPinnedDomains: notPinned,
            allowExpiredDomainPolicies: expired,
            mode: mode
        )
        let reports = Lock<[ServerTrustReport]>([])
        let judge = ServerTrustJudge(
            configuration,
            obstacle: obstacle,
            now: { Self.now },
            report: { report in reports.withLock { $0.append(report) } }
        )
        let text: String
        do {
            switch try judge.trust(for: HTTP.Origin(of: #require(URL(string: url)))) {
            case .ordinary: text = "ordinary"
            case .pinned(let server):
                #expect(server.isEnforced == (mode == .enforced))
                text = server.policy.domainName
            }
        } catch let error as ServerTrustError {
            switch error {
            case .domainNotPinned: text = "not pinned"
            case .domainPolicyExpired: text = "expired"
            case .insecureScheme: text = "insecure"
            case .pinningUnsupported: text = "unsupported"
            default: throw error
            }
        }
        return (text, reports.withLock { $0 })
    }

    @Test(
        "a policy applies to its domain, and to subdomains only if it includes them",
        arguments: [
            ("https://a.test/", false, "a.test"), ("https://A.TEST./x", false, "a.test"),
            ("https://a.test:8443/", false, "a.test"), ("https://b.a.test/", false, "not pinned"),
            ("https://b.a.test/", true, "a.test"), ("https://c.b.a.test/", true, "a.test"),
            ("https://a.test/", true, "a.test"), ("https://test/", true, "not pinned"),
            ("https://ba.test/", true, "not pinned"), ("https://a.test.b/", true, "not pinned"),
            ("https://a.tes/", true, "not pinned"), ("https://user:x@a.test/", false, "a.test"),
        ]
    )
    func domains(_ url: String, subdomains: Bool, expected: String) throws {
        #expect(try verdict(url, [Self.policy("a.test", subdomains: subdomains)]).0 == expected)
    }

    @Test(
        "an address matches in every spelling, and has no subdomains",
        arguments: [
            "https://127.0.0.1/", "https://127.1/", "https://0x7f.1/", "https://0177.0.0.1/", "https://2130706433/",
            "https://[::ffff:127.0.0.1]/", "https://127.0.0.1./",
        ]
    )
    func addresses(_ url: String) throws {
        #expect(try verdict(url, [Self.policy("127.0.0.1", subdomains: true)]).0 == "127.0.0.1")
        #expect(try verdict(url, [Self.policy("0.0.1.test", subdomains: true)]).0 == "not pinned")
    }

    @Test("a name that ends in an address is not below it")
    func namesLikeAddresses() throws {
        let policies = try [Self.policy("2.3.4.5", subdomains: true)]
        #expect(try verdict("https://1.2.3.4.5/", policies).0 == "not pinned")
        #expect(try verdict("https://a.2.3.4.5/", policies).0 == "not pinned")
        #expect(try verdict("https://2.3.4.5/", policies).0 == "2.3.4.5")
        #expect(try verdict("https://[0:0:0:0:0:0:0:1]/", [Self.policy("::1")]).0 == "::1")
        #expect(try verdict("https://[::1%25lo]/", [Self.policy("::1")]).0 == "::1")
    }

    @Test("only the most specific policy counts, in any order", arguments: [false, true])
    func mostSpecific(reversed: Bool) throws {
        var policies = try [
            Self.policy("test", subdomains: true), Self.policy("a.test", subdomains: true), Self.policy("b.a.test"),
            Self.policy("expired.a.test", subdomains: true, expires: Self.now - 1),
        ]
        if reversed { policies.reverse() }
        #expect(try verdict("https://x.test/", policies).0 == "test")
        #expect(try verdict("https://x.a.test/", policies).0 == "a.test")
        #expect(try verdict("https://b.a.test/", policies).0 == "b.a.test")
        #expect(try verdict("https://x.b.a.test/", policies).0 == "a.test")
        #expect(try verdict("https://x.expired.a.test/", policies).0 == "expired")
    }

    @Test("a policy expires after its date, not at it")
    func expiry() throws {
        #expect(try verdict("https://a.test/", [Self.policy("a.test", expires: Self.now)]).0 == "a.test")
        let late = try [Self.policy("a.test", expires: Self.now - 0.001)]
        #expect(try verdict("https://a.test/", late).0 == "expired")
        let allowed = try verdict("https://a.test/", late, expired: true)
        #expect(allowed.0 == "ordinary")
        #expect(allowed.reports.map(\.error.description).first?.contains("expired") == true)
        #expect(try verdict("https://b.test/", late, notPinned: true).0 == "ordinary")
    }

    @Test("an unpinned host is trusted only if allowed, and http to a pinned host never")
    func others() throws {
        let policies = try [Self.policy("a.test")]
        #expect(try verdict("https://b.test/", policies).0 == "not pinned")
        #expect(try verdict("http://b.test/", policies).0 == "not pinned")
        #expect(try verdict("https://b.test/", policies, notPinned: true).0 == "ordinary")
        #expect(try verdict("http://b.test/", policies, notPinned: true).0 == "ordinary")
        #expect(try verdict("http://a.test/", policies, notPinned: true).0 == "insecure")
        #expect(try verdict("http://a.test/", policies).0 == "insecure")
    }

    @Test("a transport without pinning gets no request to a pinned host, in any mode")
    func obstacles() throws {
        let policies = try [Self.policy("a.test")]
        for mode in ServerTrustConfiguration.Mode.allCases {
            #expect(try verdict("https://a.test/", policies, mode: mode, obstacle: "no").0 == "unsupported")
        }
        #expect(try verdict("https://b.test/", policies, notPinned: true, obstacle: "no").0 == "ordinary")
    }

    @Test("report-only mode refuses nothing, and reports what would be refused")
    func reportOnly() throws {
        let policies = try [Self.policy("a.test"), Self.policy("late.test", expires: Self.now - 1)]
        for (url, expected) in [
            ("https://b.test/", ServerTrustError.domainNotPinned(host: "b.test")),
            ("http://a.test/", .insecureScheme(host: "a.test")),
            (
                "https://late.test/",
                .domainPolicyExpired(host: "late.test", domainName: "late.test", expirationDate: Self.now - 1)
            ),
        ] {
            let (outcome, reports) = try verdict(url, policies, mode: .reportOnly)
            #expect(outcome == "ordinary")
            #expect(reports.map(\.error) == [expected])
            #expect(try reports.first?.origin == HTTP.Origin(of: #require(URL(string: url))))
        }
        #expect(try verdict("https://a.test/", policies, mode: .reportOnly).0 == "a.test")
    }

    @Test("a pin matches within its scope, and the order determines the reported match")
    func matching() throws {
        let chain = try [PinningPolicyTests.first, PinningPolicyTests.second, PinningPolicyTests.slashed].map {
            try #require(PublicKeyPin($0))
        }
        func match(
            _ pins: Set<String>,
            _ scope: PinningPolicy.Scope,
            _ order: ServerTrustConfiguration.CertificateCheckingOrder
        ) throws -> Int? {
            let policy = try Self.policy("a.test", pins: pins, scope: scope)
            let configuration = try ServerTrustConfiguration(pinningPolicies: [policy], certificateCheckingOrder: order)
            let server = PinnedServer(policy.host, policy: policy, configuration: configuration)
            #expect(server.match(in: []) == nil)
            return server.match(in: chain).flatMap { chain.firstIndex(of: $0) }
        }
        let (leaf, middle, root) = (
            PinningPolicyTests.first, PinningPolicyTests.second, PinningPolicyTests.slashed
        )
        for order in ServerTrustConfiguration.CertificateCheckingOrder.allCases {
            #expect(try match([leaf], .chain, order) == 0)
            #expect(try match([middle], .chain, order) == 1)
            #expect(try match([root], .chain, order) == 2)
            #expect(try match([PinningPolicyTests.firstAgain], .leaf, order) == 0)
            #expect(try match([middle, root], .leaf, order) == nil)
        }
        #expect(try match([leaf, root], .chain, .leafToRoot) == 0)
        #expect(try match([leaf, root], .chain, .rootToLeaf) == 2)
    }

    @Test("no policies or two different ones for a domain are refused; equal ones are merged")
    func configurations() throws {
        #expect(throws: ServerTrustConfiguration.ValidationError.emptyPolicies) {
            try ServerTrustConfiguration(pinningPolicies: [])
        }
        #expect(throws: ServerTrustConfiguration.ValidationError.conflictingPolicies(domainName: "127.0.0.1")) {
            try ServerTrustConfiguration(pinningPolicies: [
                Self.policy("127.0.0.1"), Self.policy("127.1", subdomains: true),
            ])
        }
        let twice = try ServerTrustConfiguration(pinningPolicies: [Self.policy("a.test"), Self.policy("A.test.")])
        #expect(twice.pinningPolicies.count == 1)
    }

    @Test("a client identity's description and dump show neither key nor passphrase")
    func identityIsRedacted() {
        let identity = Network.ClientIdentity(
            .pem(certificateChain: Data("CERT".utf8), privateKey: Data("SECRET".utf8)),
            passphrase: "SECRET"
        )
        var dumped = ""
        dump(identity, to: &dumped)
        for text in ["\(identity)", String(reflecting: identity), dumped] {
            #expect(!text.contains("SECRET") && !text.contains("83"))
        }
        var configuration = Network.Configuration()
        configuration.tls.clientIdentity = identity
        #expect(!"\(configuration)".contains("SECRET"))
    }
}
