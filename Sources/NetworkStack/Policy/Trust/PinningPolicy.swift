public import FoundationEssentials

/// Which public keys the servers of one domain must have: public-key pinning in the manner of RFC 7469, by configuration.
public struct PinningPolicy: Hashable, Sendable {
    /// Which certificates a pin may match.
    public enum Scope: String, Hashable, Sendable, Codable, CaseIterable {
        /// Any certificate of the chain that was verified, from the server's own up to the root.
        case chain
        /// The server's own certificate alone. The strictest; a pin of an authority never matches.
        case leaf
    }

    /// Why there is no such policy.
    public enum ValidationError: Error, Hashable, Sendable {
        /// The domain name is empty.
        case emptyDomainName
        /// The domain name is no host: it is not ASCII (give its A-label, the `xn--` form), has an empty label, a wildcard, or
        /// a character that no host has.
        case invalidDomainName(String)
        /// There is no pin.
        case emptyPins
        /// These are no pins: exactly the bad ones, as they were given. One of them is the hash of nothing
        /// (`47DEQpj8…`), which a chain of commands prints that has failed; no key has it.
        case invalidPins(Set<String>)
        /// There is one key only, however often it was written, and a second one is asked for.
        case missingBackupPin
    }

    /// The domain in its canonical form: lower case, no dot at the end; an address as libcurl would write it.
    public let domainName: String
    /// Whether the policy is also that of every name below the domain. An address has none.
    public let includeSubdomains: Bool
    /// The moment after which the policy counts as expired.
    public let expirationDate: Date
    /// The keys, at least one.
    public let pins: Set<PublicKeyPin>
    /// Which certificates a pin may match.
    public let scope: Scope

    /// The pins as curl takes them: sorted, because it shares connections by this text.
    package let pinList: String
    let host: CanonicalHost

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - domainName: A host name or an address; no scheme, no port, no wildcard. Its spelling does not count.
    ///   - includeSubdomains: Whether the policy is also that of every name below the domain.
    ///   - expirationDate: The moment after which the policy counts as expired; see
    ///     ``ServerTrustConfiguration/allowExpiredDomainPolicies``.
    ///   - pinnedHashes: SHA-256 of the DER SubjectPublicKeyInfo in base64, bare or after `sha256/` or `sha256//`.
    ///   - enforceBackupPin: Whether at least two different keys are asked for, so that one can be lost.
    ///   - scope: Which certificates a pin may match.
    /// - Throws: The first of ``ValidationError``'s cases that applies, in their order.
    public init(
        domainName: String,
        includeSubdomains: Bool = false,
        expirationDate: Date = .distantFuture,
        pinnedHashes: Set<String>,
        enforceBackupPin: Bool = true,
        scope: Scope = .chain
    ) throws(ValidationError) {
        guard !domainName.isEmpty else { throw .emptyDomainName }
        guard let host = CanonicalHost(named: domainName) else { throw .invalidDomainName(domainName) }
        guard !pinnedHashes.isEmpty else { throw .emptyPins }
        let bad = pinnedHashes.filter { PublicKeyPin($0).map { $0 == .ofNothing } ?? true }
        guard bad.isEmpty else { throw .invalidPins(bad) }
        let pins = Set(pinnedHashes.compactMap { PublicKeyPin($0) })
        if enforceBackupPin, pins.count < 2 { throw .missingBackupPin }
        self.host = host
        self.domainName = host.text
        self.includeSubdomains = includeSubdomains
        // A date that is none lies before no other, and Foundation traps where it is to describe it.
        self.expirationDate = expirationDate.timeIntervalSince1970.isNaN ? .distantFuture : expirationDate
        self.pins = pins
        pinList = pins.map(\.description).sorted().joined(separator: ";")
        self.scope = scope
    }

    /// Whether the policy has expired.
    ///
    /// - Parameter now: The moment asked about.
    /// - Returns: Whether ``expirationDate`` lies before it.
    public func isExpired(at now: Date) -> Bool { expirationDate < now }
}

extension PinningPolicy.ValidationError: CustomStringConvertible {
    /// What is wrong, in a sentence.
    public var description: String {
        switch self {
        case .emptyDomainName: "A pinning policy needs a domain name."
        case .invalidDomainName(let name):
            "\(name) is no host name or address (no scheme, port or wildcard; a name beyond ASCII as its xn-- form)."
        case .emptyPins: "A pinning policy needs at least one pin."
        case .invalidPins(let pins):
            """
            Not SHA-256 of a key in base64 (44 characters, also after sha256/ or sha256//): \
            \(pins.sorted().joined(separator: ", ")).
            """
        case .missingBackupPin:
            "A pinning policy needs the pin of a second key, a backup; or say that it does not (enforceBackupPin)."
        }
    }
}
