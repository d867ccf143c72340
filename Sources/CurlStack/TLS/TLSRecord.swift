internal import COpenSSL

/// What is noted of one TLS connection, for as long as OpenSSL knows it: each of libcurl's connections has an `SSL_CTX` of
/// its own, which keeps the record.
final class TLSRecord {
    /// Whether the server ended the connection in order.
    private(set) var sawCloseNotify = false

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

    /// Gives a new connection's context a record.
    ///
    /// - Returns: Whether there was memory for it.
    static func install(in context: OpaquePointer) -> Bool {
        let record = unsafe Unmanaged.passRetained(TLSRecord())
        guard unsafe SSL_CTX_set_ex_data(context, index, record.toOpaque()) == 1 else {
            unsafe record.release()
            return false
        }
        unsafe SSL_CTX_set_info_callback(context) { connection, event, value in
            // An alert that was read, of the description 0: close_notify (RFC 8446 section 6.1).
            guard event & SSL_CB_ALERT != 0, event & SSL_CB_READ != 0, value & 0xFF == 0 else { return }
            guard let connection = unsafe connection else { return }
            unsafe TLSRecord.of(connection)?.sawCloseNotify = true
        }
        return true
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
