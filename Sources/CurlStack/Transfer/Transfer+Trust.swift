internal import CCurl
internal import NetworkStack

/// Whom a transfer's request may be sent to.
extension Transfer {
    /// The server is not trusted; nothing is sent.
    func refuse(_ error: ServerTrustError) { stop = .untrusted(error) }

    /// There is nobody to verify a server by; nothing is sent.
    func hasNoAuthorities() {
        let bundle = CurlLibrary.shared.trustBundle ?? "none"
        let message = "The system's certificate authorities cannot be read (\(bundle))."
        stop = .transport(CurlError(code: .sslCACertificateBadFile, message: message, phase: .securing))
    }

    /// What the connection's handshake left. Newer versions of libcurl tell of the origin's TLS alone, and nothing of the
    /// proxy's before an origin without.
    func notedRecord(at ends: OpenSockets.Ends) -> TLSRecord? {
        openedSockets.isEmpty ? turn.sockets.tlsRecord(at: ends) : tlsRecord
    }

    /// Why the server at the other end must not be sent the request, if it must not.
    func refusalOfServer() -> ServerTrustError? {
        guard case .pinned(let server) = control.hop.trust else {
            // Before an origin without TLS, what there is would be a proxy's.
            if control.hop.options.collectsServerPins, control.hop.isSecure,
                case .verified(let chain)? = easy?.serverProof
            {
                serverPins = (chain.pins, nil)
            }
            return nil
        }
        let proof = easy?.serverProof ?? .none
        if case .verified(let chain) = proof { serverPins = (chain.pins, chain.match(of: server)) }
        guard let refusal = RequestGate.refusal(of: server, by: proof) else { return nil }
        if server.isEnforced { return refusal }
        control.sink.mismatched(.init(origin: control.hop.origin, error: refusal))
        return nil
    }

    /// Reports the proxy on the way, if its keys are not those that are pinned, and that is only reported.
    func reportProxy() {
        guard peers.proxy?.reported != nil, let error = (tlsRecord?.proxy ?? tlsRecord)?.objection else { return }
        control.sink.mismatched(.init(origin: control.hop.origin, error: error))
    }
}
