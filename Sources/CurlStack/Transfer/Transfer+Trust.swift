internal import CCurl
internal import NetworkStack

/// Whom a transfer's request may be sent to.
extension Transfer {
    /// TLS is about to be negotiated on a new connection.
    ///
    /// - Parameter settings: The settings of the handshake, in which the handshake gate is installed.
    /// - Returns: libcurl's code if the handshake must not begin.
    func secures(in settings: TLSContext) -> CURLcode {
        guard let easy, settings.install(easy.authorities) else {
            stopWithoutAuthorities()
            return CURLE_SSL_CACERT_BADFILE
        }
        let record = TLSRecord.install(
            in: settings,
            peers: peers,
            // A connection's first handshake is the proxy's, and the next one leads through that.
            through: attempt.handshakes > 0 ? attempt.tlsRecord : nil,
            reading: context.readBudget(),
            namesHosts: easy.namesHosts,
            hasGate: context.gates.contains(.handshake)
        )
        guard let record else { return CURLE_OUT_OF_MEMORY }
        attempt.tlsRecord = record
        attempt.handshakes += 1
        entered(.securing)
        return CURLE_OK
    }

    /// Whose handshakes the transfer may see. The origin's name counts only beside a proxy, which it then distinguishes. Where a
    /// mismatch of the origin's keys is only reported, the request gate reports it.
    var peers: TLSPeers {
        let hop = control.hop
        let name = tlsProxy == nil ? nil : hop.origin.serverName
        return TLSPeers(origin: .init(serverName: name, server: hop.trust.enforced), proxy: tlsProxy)
    }

    /// The system's certificate authorities cannot be read; nothing is sent.
    private func stopWithoutAuthorities() {
        let bundle = CurlLibrary.shared.trustBundle ?? "none"
        let message = "The system's certificate authorities cannot be read (\(bundle))."
        stop = .transport(CurlError(code: .sslCACertificateBadFile, message: message, phase: .securing))
    }

    /// The TLS record of the connection's handshake. Newer versions of libcurl report only the origin's TLS, and none of a
    /// proxy's in front of an origin without TLS.
    func notedRecord(of known: Connection?) -> TLSRecord? {
        attempt.openedSockets.isEmpty ? known?.tlsRecord : attempt.tlsRecord
    }

    /// Judges the server at the other end, and reports a mismatch where the policy only reports.
    ///
    /// - Returns: Why the request must not be sent to it, if it must not.
    func judgeServer() -> ServerTrustError? {
        guard case .pinned(let server) = control.hop.trust else {
            // Before an origin without TLS, what there is would be a proxy's.
            if control.hop.options.collectsServerPins, control.hop.isSecure,
                case .verified(let chain)? = easy?.serverProof
            {
                attempt.serverPins = (chain.pins, nil)
            }
            return nil
        }
        let proof = easy?.serverProof ?? .none
        if case .verified(let chain) = proof { attempt.serverPins = (chain.pins, server.match(in: chain.pins)) }
        guard context.gates.contains(.request), let refusal = RequestGate.refusal(of: server, by: proof) else {
            return nil
        }
        if server.isEnforced { return refusal }
        control.sink.mismatched(.init(origin: control.hop.origin, error: refusal))
        return nil
    }

    /// Reports the proxy on the way, if its keys are not those that are pinned, and that is only reported.
    func reportProxy() {
        let record = attempt.tlsRecord?.proxy ?? attempt.tlsRecord
        guard tlsProxy?.reported != nil, let error = record?.objection else { return }
        control.sink.mismatched(.init(origin: control.hop.origin, error: error))
    }
}
