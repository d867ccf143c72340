internal import COpenSSL
internal import NetworkStack

/// The record of one TLS connection, for as long as OpenSSL knows it: each of libcurl's connections has an `SSL_CTX` of
/// its own, which keeps the record. It outlives the transfer that opened the connection.
final class TLSRecord {
    /// Whom the connection was opened to and by: the handshake gate judges by it, in a renegotiation, too.
    let peers: TLSPeers
    /// Whether the server ended the connection in order.
    private(set) var sawCloseNotify = false
    /// The fatal alert that the server ended the connection with, if it did.
    private var alert: TLSAlert?
    /// Why the handshake gate turned the server down, if it did.
    var refusal: ServerTrustError?
    /// Whether the server's certificate names no host but in its subject, and was turned down for it (``HostNames``).
    var lacksHostNames = false
    /// The record of the proxy's connection that this one leads through, if the proxy speaks TLS.
    let proxy: TLSRecord?
    /// What speaks against the server at the other end, where that is only reported.
    private(set) var objection: ServerTrustError?
    /// How much of the connection may be read at once.
    let budget: ReadBudget
    private var hasShakenHands = false
    /// The chain that was verified, once somebody has asked for it.
    private var chain: VerifiedChain?

    init(peers: TLSPeers, proxy: TLSRecord?, budget: ReadBudget) {
        (self.peers, self.proxy, self.budget) = (peers, proxy, budget)
    }

    /// The fatal alert that ended the connection, or that of the proxy it leads through.
    var latestAlert: TLSAlert? { alert ?? proxy?.latestAlert }

    /// The keys of a connection's chain; they are hashed again only if it has another chain than last time.
    func verified(_ chain: OpaquePointer) -> VerifiedChain? {
        if let known = self.chain, unsafe known.isSame(as: chain) { return known }
        self.chain = unsafe VerifiedChain(chain)
        return self.chain
    }

    /// Where an `SSL_CTX` keeps its record.
    private static let index: Int32 = unsafe CRYPTO_get_ex_new_index(CRYPTO_EX_INDEX_SSL_CTX, 0, nil, nil, nil) {
        _,
        record,
        _,
        _,
        _,
        _ in
        guard let record = unsafe record else { return }
        unsafe Unmanaged<TLSRecord>.fromOpaque(record).release()
    }

    /// Looks at a proxy whose keys are pinned only to be reported. What is beyond the proxy, the request gate looks at.
    private func handshakeEnded(on connection: OpaquePointer) {
        // What leads through a proxy's TLS is read from that.
        if !hasShakenHands, proxy == nil { unsafe budget.install(on: connection) }
        hasShakenHands = true
        guard proxy == nil, let server = peers.proxy?.reported else { return }
        objection = unsafe RequestGate.refusal(of: server, by: RequestGate.proof(on: connection))
    }

    /// Gives a new connection a record and, if anybody's keys are pinned, the handshake gate.
    ///
    /// - Parameters:
    ///   - settings: The settings of the handshake.
    ///   - peers: Whose handshake it may be.
    ///   - proxy: The record of the proxy's connection that this one leads through.
    ///   - budget: How much of the connection may be read at once. It must outlive the connection.
    ///   - namesHosts: Whether certificates must name their hosts where names count.
    ///   - hasGate: Whether there is a handshake gate (``TrustGates``).
    /// - Returns: The record, or `nil` if there was no memory for it. Then the handshake must not begin.
    static func install(
        in settings: TLSContext,
        peers: TLSPeers,
        through proxy: TLSRecord?,
        reading budget: ReadBudget,
        namesHosts: Bool,
        hasGate: Bool
    ) -> TLSRecord? {
        let context = unsafe settings.pointer
        let record = TLSRecord(peers: peers, proxy: proxy, budget: budget)
        let kept = unsafe Unmanaged.passRetained(record)
        guard unsafe SSL_CTX_set_ex_data(context, index, kept.toOpaque()) == 1 else {
            unsafe kept.release()
            return nil
        }
        unsafe SSL_CTX_set_info_callback(context) { connection, event, value in
            guard let connection = unsafe connection else { return }
            if event & SSL_CB_HANDSHAKE_DONE != 0 {
                unsafe TLSRecord.of(connection)?.handshakeEnded(on: connection)
            }
            if TLSRecord.isCloseNotify(event, value) { unsafe TLSRecord.of(connection)?.sawCloseNotify = true }
            if let alert = TLSAlert(event, value) { unsafe TLSRecord.of(connection)?.alert = alert }
        }
        if hasGate, peers.arePinned { unsafe HandshakeGate.install(in: context, kept.toOpaque()) }
        if namesHosts { unsafe HostNames.require(in: context) }
        return record
    }

    /// Whether OpenSSL tells of an alert that was read, of the description 0: close_notify (RFC 8446 section 6.1).
    static func isCloseNotify(_ event: Int32, _ value: Int32) -> Bool {
        event & SSL_CB_ALERT != 0 && event & SSL_CB_READ != 0 && value & 0xFF == 0
    }

    /// The connection whose certificates a verification is about.
    static func connection(verifying store: OpaquePointer) -> OpaquePointer? {
        let connection = unsafe X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx())
        return unsafe connection.map { OpaquePointer($0) }
    }

    /// The record of the connection whose certificates a verification is about.
    static func of(verifying store: OpaquePointer) -> TLSRecord? {
        unsafe connection(verifying: store).flatMap { unsafe of($0) }
    }

    /// The record of a connection.
    static func of(_ connection: OpaquePointer) -> TLSRecord? {
        guard let context = unsafe SSL_get_SSL_CTX(connection), let record = unsafe SSL_CTX_get_ex_data(context, index)
        else {
            return nil
        }
        return unsafe Unmanaged<TLSRecord>.fromOpaque(record).takeUnretainedValue()
    }
}

extension TLSRecord {
    /// What a connection's handshake came to.
    static func negotiated(on connection: OpaquePointer) -> HTTP.NegotiatedTLS {
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        unsafe SSL_get0_alpn_selected(connection, &name, &length)
        let selected = unsafe UnsafeBufferPointer(start: name, count: Int(length))
        let group = unsafe networkstack_SSL_get_negotiated_group(connection)
        return unsafe HTTP.NegotiatedTLS(
            version: String(cString: SSL_get_version(connection)),
            cipher: SSL_CIPHER_get_name(SSL_get_current_cipher(connection)).map { unsafe String(cString: $0) },
            applicationProtocol: selected.isEmpty ? nil : String(decoding: selected, as: UTF8.self),
            // OpenSSL marks a group that it has no name for.
            group: group > 0 && group < 0x100_0000 ? OBJ_nid2sn(group).map { unsafe String(cString: $0) } : nil,
            isResumed: SSL_session_reused(connection) == 1
        )
    }
}
