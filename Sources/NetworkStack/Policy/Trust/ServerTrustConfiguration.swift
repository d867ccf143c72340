internal import FoundationEssentials

/// The pinning policies of a stack's hosts, and how other hosts are treated.
///
/// Every request is judged separately, redirects included, before a connection is opened or used. A configuration can be read
/// from JSON (``init(json:)``).
public struct ServerTrustConfiguration: Hashable, Sendable {
    /// The end of the chain at which the search for a match begins. It decides which match is reported
    /// (``HTTP/Metrics/matchedPin``), not whether there is one.
    public enum CertificateCheckingOrder: String, Hashable, Sendable, Decodable, CaseIterable {
        /// From the root to the server's certificate.
        case rootToLeaf
        /// From the server's certificate to the root.
        case leafToRoot
    }

    /// What happens to a request that does not pass.
    public enum Mode: String, Hashable, Sendable, Decodable, CaseIterable {
        /// It is refused with ``HTTPFetchError/untrusted(_:_:)``.
        case enforced
        /// It is sent under ordinary verification, and reported (``Network/Configuration/serverTrustReporter``). Use it to try a
        /// policy before you enforce it.
        case reportOnly
    }

    /// Why a configuration is invalid.
    public enum ValidationError: Error, Hashable, Sendable {
        /// There is no policy. For ordinary trust, use no configuration.
        case emptyPolicies
        /// Two different policies are for the same domain.
        case conflictingPolicies(domainName: String)
    }

    /// A policy of such a configuration.
    public typealias Policy = PinningPolicy

    /// The policies, no two for one domain. Only the most specific one applies to a host.
    public let pinningPolicies: [PinningPolicy]
    /// The end of the chain at which the search for a match begins.
    public let certificateCheckingOrder: CertificateCheckingOrder
    /// Whether hosts without a policy are trusted by ordinary verification; otherwise they are refused.
    public let allowNotPinnedDomains: Bool
    /// Whether hosts with an expired policy are trusted by ordinary verification, and reported for each request; otherwise they
    /// are refused.
    public let allowExpiredDomainPolicies: Bool
    /// What happens to a request that does not pass.
    public let mode: Mode

    /// Makes a configuration.
    ///
    /// - Parameters:
    ///   - pinningPolicies: The policies, at least one. Equal ones count once.
    ///   - certificateCheckingOrder: The end of the chain at which the search for a match begins.
    ///   - allowNotPinnedDomains: Whether hosts without a policy are trusted by ordinary verification.
    ///   - allowExpiredDomainPolicies: Whether hosts with an expired policy are trusted by ordinary verification.
    ///   - mode: What happens to a request that does not pass.
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

extension ServerTrustConfiguration {
    /// Pins the keys of one host. All other hosts are trusted by ordinary verification.
    ///
    ///     configuration.serverTrust = try .pin(host: "api.example.com", to: ["sha256//…", "sha256//…"])
    ///
    /// The policy never expires, and a pin may match any certificate of the verified chain. Use ``PinningPolicy`` for anything else.
    /// A private authority is set in ``Network/Configuration/tls``, as ``Network/TLSConfiguration/trustRoots``.
    ///
    /// - Parameters:
    ///   - host: A host name or an address; no scheme, no port, no wildcard.
    ///   - pins: SHA-256 hashes of the DER SubjectPublicKeyInfo in base64, bare or after `sha256/` or `sha256//`.
    ///   - enforceBackupPin: Whether at least two different keys are required, so that one can be lost.
    /// - Returns: The configuration.
    /// - Throws: ``PinningPolicy/ValidationError``.
    public static func pin(host: String, to pins: Set<String>, enforceBackupPin: Bool = true) throws -> Self {
        let policy = try PinningPolicy(domainName: host, pinnedHashes: pins, enforceBackupPin: enforceBackupPin)
        return try Self(pinningPolicies: [policy], allowNotPinnedDomains: true)
    }
}

extension ServerTrustConfiguration.ValidationError: DescribedError {
    /// The fault, in a sentence.
    public var description: String {
        switch self {
        case .emptyPolicies: "A server trust configuration needs a pinning policy; for ordinary trust, leave it out."
        case .conflictingPolicies(let domainName): "Two different pinning policies are for \(domainName)."
        }
    }
}
