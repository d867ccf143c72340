internal import COpenSSL
internal import NetworkStack

/// What is noted of one TLS connection, for as long as OpenSSL knows it: each of libcurl's connections has an `SSL_CTX` of
/// its own, which keeps the record. It outlives the transfer that opened the connection.
final class TLSRecord {
    /// Whom the connection was opened to and by: the handshake gate judges by it, in a renegotiation, too.
    let peers: TLSPeers
    /// Whether the server ended the connection in order.
    private(set) var sawCloseNotify = false
    /// Why the handshake gate turned the server down, if it did.
    var refusal: ServerTrustError?
    /// The chain that was verified, once somebody has asked for it.
    private var chain: VerifiedChain?

    private init(peers: TLSPeers) { self.peers = peers }

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

    /// Gives a new connection's context a record and, if anybody's keys are pinned, the handshake gate.
    ///
    /// - Returns: The record, or `nil` if there was no memory for it.
    static func install(in context: OpaquePointer, peers: TLSPeers) -> TLSRecord? {
        let record = TLSRecord(peers: peers)
        let kept = unsafe Unmanaged.passRetained(record)
        guard unsafe SSL_CTX_set_ex_data(context, index, kept.toOpaque()) == 1 else {
            unsafe kept.release()
            return nil
        }
        unsafe SSL_CTX_set_info_callback(context) { connection, event, value in
            // An alert that was read, of the description 0: close_notify (RFC 8446 section 6.1).
            guard event & SSL_CB_ALERT != 0, event & SSL_CB_READ != 0, value & 0xFF == 0 else { return }
            guard let connection = unsafe connection else { return }
            unsafe TLSRecord.of(connection)?.sawCloseNotify = true
        }
        if peers.arePinned { unsafe HandshakeGate.install(in: context, kept.toOpaque()) }
        return record
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
