/// How the server of one hop is to be trusted, decided before a socket is opened.
public enum ServerTrust: Sendable {
    /// By ordinary verification of its certificates.
    case ordinary
    /// By ordinary verification, and then by its keys.
    case pinned(PinnedServer)

    /// Whether it is the same decision, about the same server.
    func isIdentical(to other: ServerTrust) -> Bool {
        switch (self, other) {
        case (.ordinary, .ordinary): true
        case (.pinned(let server), .pinned(let another)): server === another
        case (.ordinary, .pinned), (.pinned, .ordinary): false
        }
    }

    /// The server whose keys are pinned and must match; `nil` where they need not, or where a mismatch is only reported.
    public var enforced: PinnedServer? {
        if case .pinned(let server) = self, server.isEnforced { server } else { nil }
    }
}

/// A server whose keys are pinned: what a transport needs to judge it by.
///
/// A transport that enforces pins proves two things before any byte of the request leaves, on a new connection and on every
/// reuse of one: that the certificates pass ordinary verification for ``host``, and that ``match(in:)`` finds a pin among
/// the keys of the chain that was verified (not of the one that was presented).
public final class PinnedServer: Sendable {
    /// The host in its canonical form, an IPv6 address without brackets.
    public let host: String
    /// Whether the host is an address.
    public let isAddress: Bool
    /// The policy that counts.
    public let policy: PinningPolicy
    /// Where the search for a match begins.
    public let certificateCheckingOrder: ServerTrustConfiguration.CertificateCheckingOrder
    /// Whether a server that does not match is refused; if not, it is reported.
    public let isEnforced: Bool

    init(_ host: CanonicalHost, policy: PinningPolicy, configuration: ServerTrustConfiguration) {
        self.host = host.text
        isAddress = host.isAddress
        self.policy = policy
        certificateCheckingOrder = configuration.certificateCheckingOrder
        isEnforced = configuration.mode == .enforced
    }

    /// The pinned key that a verified chain has: the first in the checking order.
    ///
    /// - Parameter chain: The keys of the chain that was verified, the server's own first.
    /// - Returns: The key, or `nil` if none of those that count is pinned.
    public func match(in chain: [PublicKeyPin]) -> PublicKeyPin? {
        switch (policy.scope, certificateCheckingOrder) {
        case (.leaf, _): chain.first.flatMap { policy.pins.contains($0) ? $0 : nil }
        case (.chain, .leafToRoot): chain.first { policy.pins.contains($0) }
        case (.chain, .rootToLeaf): chain.last { policy.pins.contains($0) }
        }
    }
}
