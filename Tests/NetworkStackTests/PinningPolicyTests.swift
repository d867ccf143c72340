import Foundation
import Testing

@testable import NetworkStack

@Suite("Pins and policies")
struct PinningPolicyTests {
    /// A policy for `a.test`.
    static let json = #"{"domainName": "a.test", "pinnedHashes": ["\#(first)"], "enforceBackupPin": false}"#
    static let first = "WoiWRyIOVNa9ihaBciRSC7XHjliYS9VwUGOIud4PB18="
    /// The same 32 bytes: the last digit of 43 has two bits to spare.
    static let firstAgain = "WoiWRyIOVNa9ihaBciRSC7XHjliYS9VwUGOIud4PB19="
    static let second = "EjHF+to7Mg0Jk8gg0T+lagRZdShlFXyC/dVmC42YldM="
    /// The output of `openssl dgst` for an empty input.
    static let ofNothing = "sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    /// A name of 253 bytes.
    static let longest = String(repeating: "a.", count: 124) + "tests"
    static let slashed = "/" + String(repeating: "A", count: 42) + "="

    @Test("a pin is 44 digits of base64, bare or prefixed", arguments: ["", "sha256/", "sha256//"])
    func pins(prefix: String) {
        for text in [Self.first, Self.second, Self.slashed] {
            #expect(PublicKeyPin(prefix + text)?.base64 == text)
            #expect(PublicKeyPin(prefix + text)?.description == "sha256//" + text)
        }
    }

    @Test(
        "an invalid pin is refused",
        arguments: [
            "", "sha256//", "AAAA", String(first.dropLast()), first + "\n", " " + first, first + "=",
            first.replacingOccurrences(of: "i", with: "_"), "SHA256//" + first, "sha1/" + first, "sha256///" + first,
            "sha256/x" + first,
            "sha256//" + first + ";sha256//" + second, String(repeating: "*", count: 44),
        ]
    )
    func noPins(_ text: String) { #expect(PublicKeyPin(text) == nil) }

    @Test("the short form pins one host to two keys at least, and applies ordinary trust to other hosts")
    func shortForm() throws {
        let pinned = try ServerTrustConfiguration.pin(host: "A.test", to: [Self.first, Self.second])
        let policy = try PinningPolicy(domainName: "a.test", pinnedHashes: [Self.first, Self.second])
        #expect(pinned == (try ServerTrustConfiguration(pinningPolicies: [policy], allowNotPinnedDomains: true)))
        #expect(throws: PinningPolicy.ValidationError.missingBackupPin) {
            try ServerTrustConfiguration.pin(host: "a.test", to: [Self.first, Self.firstAgain])
        }
        #expect(throws: PinningPolicy.ValidationError.invalidDomainName("https://a.test")) {
            try ServerTrustConfiguration.pin(host: "https://a.test", to: [Self.first, Self.second])
        }
    }

    @Test("a policy with an invalid date never expires, and can be described")
    func noDate() throws {
        let dates = [Date(timeIntervalSince1970: .nan), .distantFuture]
        let policies = try dates.map {
            try PinningPolicy(domainName: "a.test", expirationDate: $0, pinnedHashes: [Self.first, Self.second])
        }
        #expect(Set(policies).count == 1 && "\(policies)".contains("a.test"))
        #expect(!policies[0].isExpired(at: .distantFuture))
    }

    @Test("a pin equals another with the same 32 bytes")
    func spellings() throws {
        let pin = try #require(PublicKeyPin(Self.first))
        #expect(PublicKeyPin(Self.firstAgain) == pin)
        #expect(PublicKeyPin(Self.firstAgain)?.base64 == Self.first)
        #expect(PublicKeyPin(sha256: pin.sha256) == pin)
        #expect(PublicKeyPin(sha256: pin.sha256.dropLast()) == nil)
        #expect(PublicKeyPin(Self.second) != pin)
        let written = try JSONEncoder().encode([pin])
        #expect(try JSONDecoder().decode([String].self, from: written) == ["sha256//" + Self.first])
        #expect(try JSONDecoder().decode([PublicKeyPin].self, from: written) == [pin])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([PublicKeyPin].self, from: Data("[\"sha256//AAAA\"]".utf8))
        }
    }

    private func error(_ make: () throws -> PinningPolicy) -> PinningPolicy.ValidationError? {
        do {
            _ = try make()
            return nil
        } catch { return error as? PinningPolicy.ValidationError }
    }

    @Test("a policy's faults are reported in order: domain, pins, bad pins, backup pin")
    func validation() {
        #expect(error { try .init(domainName: "", pinnedHashes: []) } == .emptyDomainName)
        #expect(error { try .init(domainName: "*.a", pinnedHashes: []) } == .invalidDomainName("*.a"))
        #expect(error { try .init(domainName: "a.test", pinnedHashes: []) } == .emptyPins)
        #expect(
            error { try .init(domainName: "a.test", pinnedHashes: [Self.first, "x", "y"]) } == .invalidPins(["x", "y"])
        )
        #expect(
            error { try .init(domainName: "a.test", pinnedHashes: [Self.first, Self.ofNothing]) }
                == .invalidPins([Self.ofNothing])
        )
        #expect(error { try .init(domainName: "a.test", pinnedHashes: [Self.first]) } == .missingBackupPin)
        #expect(
            error { try .init(domainName: "a.test", pinnedHashes: [Self.first, Self.firstAgain]) } == .missingBackupPin
        )
        #expect(error { try .init(domainName: "a.test", pinnedHashes: [Self.first, "sha256/" + Self.first]) } != nil)
        #expect(error { try .init(domainName: "a.test", pinnedHashes: [Self.first, Self.second]) } == nil)
        #expect(
            error { try .init(domainName: "a.test", pinnedHashes: [Self.first], enforceBackupPin: false) } == nil
        )
    }

    @Test("the seed's policy is valid")
    func seed() throws {
        let policy = try PinningPolicy(
            domainName: "github.com",
            includeSubdomains: true,
            expirationDate: Date(timeIntervalSince1970: 1_952_035_200),
            pinnedHashes: [Self.first],
            enforceBackupPin: false
        )
        #expect(policy.scope == .chain)
        #expect(policy.pins.count == 1)
        #expect(!policy.isExpired(at: policy.expirationDate))
        #expect(policy.isExpired(at: policy.expirationDate + 0.001))
    }

    @Test(
        "a domain has one canonical form",
        arguments: [
            ("a.test", "a.test"), ("A.TEST.", "a.test"), ("xn--bcher-kva.test", "xn--bcher-kva.test"),
            ("_a-b.test", "_a-b.test"), ("localhost", "localhost"), ("127.1", "127.0.0.1"), ("127.0.0.1", "127.0.0.1"),
            ("0x7f000001", "127.0.0.1"), ("0177.0.0.01", "127.0.0.1"), ("2130706433", "127.0.0.1"),
            ("0X7F.1", "127.0.0.1"), ("2001:db8::ffff:1:2", "2001:db8::ffff:1:2"), (longest, longest),
            ("[::1]", "::1"), ("0:0:0:0:0:0:0:1", "::1"), ("[::FFFF:127.0.0.1]", "127.0.0.1"),
            ("2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"), ("::", "::"), ("1::", "1::"), ("fe80::1%eth0", "fe80::1"),
            ("1:0:0:2:0:0:0:3", "1:0:0:2::3"), ("1:2:3:4:5:6:0:8", "1:2:3:4:5:6:0:8"),
        ]
    )
    func domains(_ name: String, _ canonical: String) throws {
        let policy = try PinningPolicy(domainName: name, pinnedHashes: [Self.first], enforceBackupPin: false)
        #expect(policy.domainName == canonical)
        #expect(!policy.includeSubdomains, "subdomains are excluded by default")
    }

    @Test(
        "an invalid domain is refused",
        arguments: [
            ".", "..", "a..test", ".a.test", "a.test..", "*.a.test", "https://a.test", "a.test:443", "a.test/",
            "b\u{FC}cher.test", "a b.test", "a%2etest", "1.2.3.4.5", "1.2.3.4.0", "1..2", "a.1",
            "0x-0.0.0.1", "0x+7f.1", "a" + longest, "256.1.1.1", "127.0.0.08", "[a.test]",
            "[::1", "::1]",
            ":::", "1:2:3:4:5:6:7:8:9", "12345::", "::1::", "a.test\n", String(repeating: "a", count: 64) + ".test",
            "[]", "+1.2.3.4",
        ]
    )
    func noDomains(_ name: String) {
        #expect(
            error { try .init(domainName: name, pinnedHashes: [Self.first], enforceBackupPin: false) }
                == .invalidDomainName(name)
        )
    }

    @Test("every error and report describes itself in a sentence")
    func sentences() throws {
        typealias Failure = HTTPTransferFailure<any Error>
        let pin = try #require(PublicKeyPin(Self.first))
        let errors: [any Error] = [
            PinningPolicy.ValidationError.emptyDomainName, PinningPolicy.ValidationError.invalidDomainName("*"),
            PinningPolicy.ValidationError.emptyPins, PinningPolicy.ValidationError.invalidPins(["x"]),
            PinningPolicy.ValidationError.missingBackupPin,
            ServerTrustConfiguration.ValidationError.emptyPolicies,
            ServerTrustConfiguration.ValidationError.conflictingPolicies(domainName: "a.test"),
            Failure.untrusted(.domainNotPinned(host: "a.test")),
            Failure.untrusted(.domainPolicyExpired(host: "a.test", domainName: "test", expirationDate: .now)),
            Failure.untrusted(.insecureScheme(host: "a.test")),
            Failure.untrusted(
                .pinVerificationFailed(host: "a.test", .evaluation(verifyResult: 20, reason: "no issuer"))
            ),
            Failure.untrusted(.pinVerificationFailed(host: "a.test", .pinnedHashNotFound(chain: [pin]))),
            Failure.untrusted(.pinningUnsupported(reason: "It cannot.")),
        ]
        for error in errors { #expect("\(error)".hasSuffix(".")) }
        #expect("\(errors[11])".contains(Self.first))
        #expect("\(errors[10])".contains("20"))
    }
}
