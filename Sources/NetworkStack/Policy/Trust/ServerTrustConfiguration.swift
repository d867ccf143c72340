/// Whom a stack trusts beyond ordinary verification: the pinning policies of its hosts, and what to do about the rest.
///
/// Every request is judged on its own, each redirect included, before a connection is opened or used. It can be read from
/// JSON (``init(json:)``).
public struct ServerTrustConfiguration: Hashable, Sendable {
    /// Where the search for a match begins. It decides which match is told (``HTTP/Metrics/matchedPin``), not whether there
    /// is one.
    public enum CertificateCheckingOrder: String, Hashable, Sendable, Codable, CaseIterable {
        /// From the root down to the server's own certificate.
        case rootToLeaf
        /// From the server's own certificate up to the root.
        case leafToRoot
    }

    /// What becomes of a request that does not pass.
    public enum Mode: String, Hashable, Sendable, Codable, CaseIterable {
        /// It is refused with ``HTTPFetchError/untrusted(_:_:)``.
        case enforced
        /// It goes out under ordinary verification, and is reported (``Network/Configuration/serverTrustReporter``): to see
        /// what a policy would refuse, before it does.
        case reportOnly
    }

    /// Why there is no such configuration.
    public enum ValidationError: Error, Hashable, Sendable {
        /// There is no policy. For ordinary trust, have no configuration.
        case emptyPolicies
        /// Two policies that differ are for one domain.
        case conflictingPolicies(domainName: String)
    }

    /// A policy of such a configuration.
    public typealias Policy = PinningPolicy

    /// The policies, no two for one domain. The most specific one counts for a host, alone.
    public let pinningPolicies: [PinningPolicy]
    /// Where the search for a match begins.
    public let certificateCheckingOrder: CertificateCheckingOrder
    /// Whether hosts that no policy is for are trusted by ordinary verification. If not, they are refused.
    public let allowNotPinnedDomains: Bool
    /// Whether hosts whose policy has expired are trusted by ordinary verification; each such request is reported. If not,
    /// they are refused.
    public let allowExpiredDomainPolicies: Bool
    /// What becomes of a request that does not pass.
    public let mode: Mode

    /// Makes a configuration.
    ///
    /// - Parameters:
    ///   - pinningPolicies: The policies, at least one. Equal ones count once.
    ///   - certificateCheckingOrder: Where the search for a match begins.
    ///   - allowNotPinnedDomains: Whether hosts without a policy are trusted by ordinary verification.
    ///   - allowExpiredDomainPolicies: Whether hosts whose policy has expired are trusted by ordinary verification.
    ///   - mode: What becomes of a request that does not pass.
    /// - Throws: ``ValidationError``.
    public init(
        pinningPolicies: [PinningPolicy],
        certificateCheckingOrder: CertificateCheckingOrder = .leafToRoot,
        allowNotPinnedDomains: Bool = false,
        allowExpiredDomainPolicies: Bool = false,
        mode: Mode = .enforced
    ) throws(ValidationError) {
        guard !pinningPolicies.isEmpty else { throw .emptyPolicies }
        var policies: [PinningPolicy] = []
        for policy in pinningPolicies where !policies.contains(policy) {
            if policies.contains(where: { $0.host == policy.host }) {
                throw .conflictingPolicies(domainName: policy.domainName)
            }
            policies.append(policy)
        }
        self.pinningPolicies = policies
        self.certificateCheckingOrder = certificateCheckingOrder
        self.allowNotPinnedDomains = allowNotPinnedDomains
        self.allowExpiredDomainPolicies = allowExpiredDomainPolicies
        self.mode = mode
    }
}

extension ServerTrustConfiguration.ValidationError: CustomStringConvertible {
    /// What is wrong, in a sentence.
    public var description: String {
        switch self {
        case .emptyPolicies: "A server trust configuration needs a pinning policy; for ordinary trust, leave it out."
        case .conflictingPolicies(let domainName): "Two different pinning policies are for \(domainName)."
        }
    }
}
