/// The gates on the way to a server whose keys are pinned.
///
/// Every stack has both. Only a test of this package makes one without, to prove that a check notices.
package struct TrustGates: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// ``HandshakeGate``.
    package static let handshake = TrustGates(rawValue: 1 << 0)
    /// ``RequestGate``.
    package static let request = TrustGates(rawValue: 1 << 1)
    /// Both.
    package static let all: TrustGates = [.handshake, .request]
}
