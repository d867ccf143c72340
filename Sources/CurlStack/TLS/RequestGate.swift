internal import COpenSSL
internal import NetworkStack

/// The second of two gates on the way to a server whose keys are pinned: asked for every request, when libcurl has chosen a
/// connection and nothing has been sent on it, however the connection was opened and its handshake went.
enum RequestGate {
    /// What a connection's server has proved itself with.
    enum Proof {
        /// Nothing: the connection does not speak TLS.
        case none
        /// Nothing: OpenSSL has rejected its certificates, or the session was resumed and shows none.
        case failed(verifyResult: Int)
        /// The chain that was verified.
        case verified(VerifiedChain)
    }

    /// What the server at the other end of a connection has proved itself with.
    static func proof(on connection: OpaquePointer) -> Proof {
        let result = unsafe SSL_get_verify_result(connection)
        guard result == Int(X509_V_OK), let chain = unsafe SSL_get0_verified_chain(connection),
            let record = unsafe TLSRecord.of(connection), let verified = unsafe record.verified(chain)
        else { return .failed(verifyResult: result) }
        return .verified(verified)
    }

    /// Why a server must not be sent the request, if it must not.
    static func refusal(of server: PinnedServer, by proof: Proof) -> ServerTrustError? {
        switch proof {
        case .none:
            .pinVerificationFailed(
                host: server.host,
                .evaluation(verifyResult: nil, reason: "the connection does not speak TLS")
            )
        case .failed(0):
            .pinVerificationFailed(
                host: server.host,
                .evaluation(verifyResult: nil, reason: "the connection has no chain that was verified")
            )
        case .failed(let result): .evaluation(of: server, verifyResult: result)
        case .verified(let chain):
            server.match(in: chain.pins) == nil
                ? .pinVerificationFailed(host: server.host, .pinnedHashNotFound(chain: chain.pins)) : nil
        }
    }
}
