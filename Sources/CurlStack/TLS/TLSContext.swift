/// The settings of a handshake that is about to begin (OpenSSL's `SSL_CTX`), while libcurl shows them.
@safe
struct TLSContext {
    let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) { unsafe self.pointer = pointer }

    /// Has the handshake verify its server against these authorities and no others.
    ///
    /// - Returns: Whether it could be done. If not, the handshake must not begin.
    func install(_ authorities: Authorities) -> Bool { unsafe authorities.install(in: pointer) }
}
