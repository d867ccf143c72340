/// How the server of one hop has to be verified, decided before a socket is opened.
public enum ServerTrust: Sendable {
    /// Its certificates must pass ordinary verification.
    case ordinary
    /// Its certificates must pass ordinary verification, and one of their keys must match a pin.
    case pinned(PinnedServer)

    /// Whether it is the same decision about the same server.
    func isIdentical(to other: ServerTrust) -> Bool {
        switch (self, other) {
        case (.ordinary, .ordinary): true
        case (.pinned(let server), .pinned(let another)): server === another
        case (.ordinary, .pinned), (.pinned, .ordinary): false
        }
    }

    /// The pinned server whose keys must match; `nil` if it is not pinned, or if a mismatch is only reported.
    public var enforced: PinnedServer? {
        if case .pinned(let server) = self, server.isEnforced { server } else { nil }
    }
}

/// A pinned server, with what a transport needs to verify it.
///
/// A transport that enforces pins checks two things before it sends any byte of a request, on a new connection and on every
/// reuse. The certificates must pass ordinary verification for ``host``. And ``match(in:)`` must find a pin among the keys of the
/// verified chain, not of the presented one.
public final class PinnedServer: Sendable {
    /// The host in canonical form; an IPv6 address has no brackets.
    public let host: String
    /// Whether the host is an address.
    public let isAddress: Bool
    /// The policy that applies.
    public let policy: PinningPolicy
    /// The end of the chain at which the search for a match begins.
    public let certificateCheckingOrder: ServerTrustConfiguration.CertificateCheckingOrder
    /// Whether a server that does not match is refused; otherwise it is reported.
    public let isEnforced: Bool

    init(_ host: CanonicalHost, policy: PinningPolicy, configuration: ServerTrustConfiguration) {
        self.host = host.text
        isAddress = host.isAddress
        self.policy = policy
        certificateCheckingOrder = configuration.certificateCheckingOrder
        isEnforced = configuration.mode == .enforced
    }

    /// Returns the pinned key in a verified chain: the first in the checking order.
    ///
    /// - Parameter chain: The keys of the verified chain, the server's first.
    /// - Returns: The key, or `nil` if no key in the policy's scope is pinned.
    public func match(in chain: [PublicKeyPin]) -> PublicKeyPin? {
        switch (policy.scope, certificateCheckingOrder) {
        case (.leaf, _): chain.first.flatMap { policy.pins.contains($0) ? $0 : nil }
        case (.chain, .leafToRoot): chain.first { policy.pins.contains($0) }
        case (.chain, .rootToLeaf): chain.last { policy.pins.contains($0) }
        }
    }
}
