import Dispatch
import Foundation
import FoundationNetworking
import NetworkStack
import NetworkStackTesting
import Testing
import URLSessionStack

@Suite("Pinning keys with URLSession on Linux is refused", .timeLimit(.minutes(1)))
struct PinningTests {
    private func configuration() throws -> ServerTrustEvaluator.Configuration {
        let policy = try ServerTrustEvaluator.PinningPolicy(
            domainName: "github.com",
            includeSubdomains: true,
            expirationDate: Date(timeIntervalSince1970: 1_952_035_200),
            pinnedHashes: ["WoiWRyIOVNa9ihaBciRSC7XHjliYS9VwUGOIud4PB18="],
            enforceBackupPin: false
        )
        return try ServerTrustEvaluator.Configuration(
            pinningPolicies: [policy],
            certificateCheckingOrder: .rootToLeaf,
            allowNotPinnedDomains: false,
            allowExpiredDomainPolicies: false
        )
    }

    private func isUnsupported(_ error: ServerTrustError?) -> Bool {
        guard case .pinningUnsupported(let reason) = error else { return false }
        return reason.contains("URLSession")
    }

    @Test("S000's example compiles; its evaluator cannot be made, and explains why")
    func seed() throws {
        let configuration = try configuration()
        do {
            let serverTrustEvaluator = try ServerTrustEvaluator(configuration: configuration)
            _ = Network.URLSessionNetworkStack(
                authenticationChallengeHandler: serverTrustEvaluator,
                retryQueue: DispatchQueue(label: "com.alicerce.network.retry-queue")
            )
            Issue.record("The stack was made")
        } catch {
            #expect(isUnsupported(error))
        }
    }

    @Test("The one-line construction refuses pins, in either mode", arguments: ServerTrustConfiguration.Mode.allCases)
    func oneLine(mode: ServerTrustConfiguration.Mode) throws {
        var configuration = Network.Configuration()
        configuration.serverTrust = try ServerTrustConfiguration(
            pinningPolicies: self.configuration().pinningPolicies,
            allowNotPinnedDomains: true,
            mode: mode
        )
        do {
            _ = try Network.URLSessionNetworkStack(configuration: configuration)
            Issue.record("The stack was made")
        } catch {
            guard case .untrusted(let reason) = error else { throw error }
            #expect(isUnsupported(reason))
        }
    }
}
