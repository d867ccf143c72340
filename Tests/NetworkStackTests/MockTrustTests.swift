import FoundationEssentials
import NetworkStack
import NetworkStackTesting
import Testing

@Suite("A mock and an app's pins")
struct MockTrustTests {
    @Test("Pins have no effect without connections", arguments: ["https://a.test/", "http://b.test/"])
    func pins(url: String) async throws {
        let pins = [1, 2].compactMap { PublicKeyPin(sha256: [UInt8](repeating: $0, count: 32))?.description }
        var configuration = Network.Configuration()
        configuration.serverTrust = try ServerTrustConfiguration(
            pinningPolicies: [PinningPolicy(domainName: "a.test", pinnedHashes: Set(pins))]
        )
        let mock = try MockNetworkStack(configuration: configuration)
        mock.answer(.GET, "/", with: .json("1"))
        let fetched = try await mock.fetch(resource: .init(baseRequestMaking: .request(HTTP.Request(url: url))))
        #expect(fetched.response.status == .ok)
    }
}
