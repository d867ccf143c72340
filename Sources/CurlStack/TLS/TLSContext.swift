/// The settings of a handshake that is about to begin (OpenSSL's `SSL_CTX`), while libcurl shows them.
@safe
struct TLSContext {
    private let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) { unsafe self.pointer = pointer }

    /// Has the handshake verify its server against these authorities and no others.
    ///
    /// - Returns: Whether it could be done. If not, the handshake must not begin.
    func install(_ authorities: Authorities) -> Bool { unsafe authorities.install(in: pointer) }

    /// Installs a record of the handshake and, if keys are pinned, the handshake gate
    /// (``TLSRecord/install(in:peers:through:reading:namesHosts:hasGate:)``).
    ///
    /// - Returns: The record, or `nil` if there was no memory for it. Then the handshake must not begin.
    func installRecord(
        of peers: TLSPeers,
        through proxy: TLSRecord?,
        reading budget: ReadBudget,
        namesHosts: Bool,
        hasGate: Bool
    ) -> TLSRecord? {
        unsafe TLSRecord.install(
            in: pointer,
            peers: peers,
            through: proxy,
            reading: budget,
            namesHosts: namesHosts,
            hasGate: hasGate
        )
    }
}
