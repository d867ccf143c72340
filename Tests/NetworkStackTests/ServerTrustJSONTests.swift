import Foundation
import Testing

@testable import NetworkStack

@Suite("A trust configuration in JSON")
struct ServerTrustJSONTests {
    @Test("a configuration can be read from JSON")
    func json() throws {
        let text = """
            {"pinningPolicies": [
              {"domainName": "API.example.com", "includeSubdomains": true, "expirationDate": "2031-11-10T00:00:00Z",
               "pinnedHashes": ["sha256//\(PinningPolicyTests.first)", "\(PinningPolicyTests.second)"], "scope": "leaf"},
              {"domainName": "b.test", "pinnedHashes": ["\(PinningPolicyTests.first)"], "enforceBackupPin": false}
            ], "certificateCheckingOrder": "rootToLeaf", "allowNotPinnedDomains": true, "mode": "reportOnly"}
            """
        let read = try ServerTrustConfiguration(json: Data(text.utf8))
        let expected = try ServerTrustConfiguration(
            pinningPolicies: [
                PinningPolicy(
                    domainName: "api.example.com",
                    includeSubdomains: true,
                    expirationDate: Date(timeIntervalSince1970: 1_952_035_200),
                    pinnedHashes: [PinningPolicyTests.first, PinningPolicyTests.second],
                    scope: .leaf
                ), ServerTrustTests.policy("b.test"),
            ],
            certificateCheckingOrder: .rootToLeaf,
            allowNotPinnedDomains: true,
            mode: .reportOnly
        )
        #expect(read == expected)
    }

    @Test(
        "a date in JSON is read exactly, or refused",
        arguments: [
            ("2031-11-10T00:00:00Z", true), ("2031-11-10T00:00:00+05:00", true), ("2031-11-10T00:00:00-05:00", true),
            ("2031-11-10T00:00:00.000Z", true), ("2031-11-10T00:00:00.000+05:00", true),
            ("2031-11-10T00:00:00.000.000Z", false), ("2031-11-10T00:00:00Zgarbage", false),
            ("2031-11-10T00:00:00Z ", false), ("2031-02-31T00:00:00Z", false),
            ("2031-11-10T25:00:00Z", false), ("2031-11-10T00:61:00+05:00", false), ("2031-11-10T00:00:00.5Z", false),
            ("2031-11-10T00:00:00", false), ("2031-11-10", false), ("", false),
        ]
    )
    func datesInJSON(_ text: String, _ isDate: Bool) throws {
        let pin = "sha256//WoiWRyIOVNa9ihaBciRSC7XHjliYS9VwUGOIud4PB18="
        let policy = """
            {"domainName": "a.test", "pinnedHashes": ["\(pin)"], "enforceBackupPin": false, "expirationDate": "\(text)"}
            """
        let json = Data("{\"pinningPolicies\": [\(policy)]}".utf8)
        if isDate {
            let read = try ServerTrustConfiguration(json: json).pinningPolicies[0].expirationDate
            #expect(try read == Date(text, strategy: .iso8601))
        } else {
            #expect(throws: DecodingError.self) { try ServerTrustConfiguration(json: json) }
        }
    }

    @Test(
        "JSON of another form is refused, also with misspelled keys",
        arguments: [
            "", "[]", "{}", #"{"pinningPolicies": []}"#,
            #"{"pinningPolicies": [{"domainName": "a.test", "pinnedHashes": ["x"]}]}"#,
            #"{"pinningPolicies": [{"domainName": "a.test", "pinnedHashes": ["\#(PinningPolicyTests.first)"]}]}"#,
            #"{"pinningPolicies": [{"domainName": "a.test", "pinnedHashes": ["\#(PinningPolicyTests.first)"], "enforceBackupPin": false, "includeSubdomain": true}]}"#,
            #"{"pinningPolicies": [{"domainName": "a.test", "pinnedHashes": ["\#(PinningPolicyTests.first)"], "enforceBackupPin": false, "expirationDate": "soon"}]}"#,
            #"{"pinningPolicies": [{"domainName": "a.test", "pinnedHashes": ["\#(PinningPolicyTests.first)"], "enforceBackupPin": false, "scope": "root"}]}"#,
            #"{"pinningPolicies": [{"domainName": "a.test", "pinnedHashes": ["\#(PinningPolicyTests.first)"], "enforceBackupPin": false}], "modes": "enforced"}"#,
        ]
    )
    func badJSON(_ text: String) {
        #expect(throws: (any Error).self) { try ServerTrustConfiguration(json: Data(text.utf8)) }
    }

    @Test(
        "JSON with a repeated key is refused, however it is written",
        arguments: [
            (#""mode": "reportOnly", "mode": "enforced""#, true),
            (#""mode": "reportOnly", "mod\u0065": "enforced""#, true),
            (#""pinningPolicies": [\#(PinningPolicyTests.json)], "mode": "enforced""#, true),
            (#""mode": "enforced""#, false),
        ]
    )
    func repeatedKeys(_ keys: String, _ isRepeated: Bool) throws {
        let policies = ["a.test", "b.test"].map { PinningPolicyTests.json.replacing("a.test", with: $0) }
        let json = Data(#"{"pinningPolicies": [\#(policies.joined(separator: ", "))], \#(keys)}"#.utf8)
        if isRepeated {
            #expect(throws: DecodingError.self) { try ServerTrustConfiguration(json: json) }
        } else {
            #expect(try ServerTrustConfiguration(json: json).pinningPolicies.count == 2)
        }
    }
}
