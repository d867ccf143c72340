public import FoundationEssentials

/// The public keys that servers of one domain must have: public-key pinning as in RFC 7469, set by configuration.
public struct PinningPolicy: Hashable, Sendable {
    /// Which certificates a pin may match.
    public enum Scope: String, Hashable, Sendable, Decodable, CaseIterable {
        /// Any certificate of the verified chain, from the server's certificate to the root.
        case chain
        /// The server's certificate only. This is the strictest scope; a pin of an authority never matches.
        case leaf
    }

    /// Why a policy is invalid.
    public enum ValidationError: Error, Hashable, Sendable {
        /// The domain name is empty.
        case emptyDomainName
        /// The domain name is not a host: it has a name beyond ASCII (write its A-label, the `xn--` form), an empty label, a
        /// wildcard, or an illegal character.
        case invalidDomainName(String)
        /// There is no pin.
        case emptyPins
        /// These pins are invalid; they are exactly the invalid ones, as given. The hash of nothing (`47DEQpj8…`) is among the
        /// invalid pins, because a failed chain of commands prints it and no key has it.
        case invalidPins(Set<String>)
        /// There is only one key, and a second one is required.
        case missingBackupPin
    }

    /// The domain in canonical form: lower case, without a final dot; an address as libcurl writes it.
    public let domainName: String
    /// Whether the policy also applies to every name below the domain. An address has none.
    public let includeSubdomains: Bool
    /// The moment at which the policy expires.
    public let expirationDate: Date
    /// The keys, at least one.
    public let pins: Set<PublicKeyPin>
    /// Which certificates a pin may match.
    public let scope: Scope

    /// The pins in curl's format, sorted, because libcurl shares connections by this text.
    package let pinList: String
    let host: CanonicalHost

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - domainName: A host name or an address, in any spelling; no scheme, no port, no wildcard.
    ///   - includeSubdomains: Whether the policy also applies to every name below the domain.
    ///   - expirationDate: The moment at which the policy expires; see ``ServerTrustConfiguration/allowExpiredDomainPolicies``.
    ///   - pinnedHashes: SHA-256 hashes of the DER SubjectPublicKeyInfo in base64, bare or after `sha256/` or `sha256//`.
    ///   - enforceBackupPin: Whether at least two different keys are required, so that one can be lost.
    ///   - scope: Which certificates a pin may match.
    /// - Throws: The first case of ``ValidationError`` that applies, in their order.
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
        let bad = pinnedHashes.filter { PublicKeyPin($0)?.isOfNothing ?? true }
        guard bad.isEmpty else { throw .invalidPins(bad) }
        let pins = Set(pinnedHashes.compactMap { PublicKeyPin($0) })
        if enforceBackupPin, pins.count < 2 { throw .missingBackupPin }
        self.host = host
        self.domainName = host.text
        self.includeSubdomains = includeSubdomains
        // A date that is NaN compares false with every other, and Foundation traps when it describes it.
        self.expirationDate = expirationDate.timeIntervalSince1970.isNaN ? .distantFuture : expirationDate
        self.pins = pins
        pinList = pins.map(\.description).sorted().joined(separator: ";")
        self.scope = scope
    }

    /// Returns whether the policy has expired.
    ///
    /// - Parameter now: The moment to check.
    /// - Returns: Whether ``expirationDate`` is before it.
    public func isExpired(at now: Date) -> Bool { expirationDate < now }
}

extension PinningPolicy.ValidationError: DescribedError {
    /// The fault, in a sentence.
    public var description: String {
        switch self {
        case .emptyDomainName: "A pinning policy needs a domain name."
        case .invalidDomainName(let name):
            "\(name) is no host name or address (no scheme, port or wildcard; a name beyond ASCII as its xn-- form)."
        case .emptyPins: "A pinning policy needs at least one pin."
        case .invalidPins(let pins):
            """
            Not SHA-256 of a key in base64 (44 characters, also after sha256/ or sha256//): \
            \(pins.sorted().map(\.debugDescription).joined(separator: ", ")).
            """
        case .missingBackupPin:
            "A pinning policy needs the pin of a second key, a backup; enforceBackupPin: false does without."
        }
    }
}
