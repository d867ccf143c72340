internal import COpenSSL
internal import FoundationEssentials
internal import NetworkStack

/// Certificate authorities, parsed once and never changed: what a stack's handshakes are verified against.
///
/// Parsing the system's costs as much as thirty handshakes. libcurl keeps a store per multi handle, only for
/// files, and parses bytes again for every handshake.
@safe
final class TrustStore: Sendable {
    /// OpenSSL's store, as a number: threads may share what is there, of which Swift's pointers know nothing.
    private let address: UInt

    /// The authorities of PEM text, or `nil` if it holds no certificate, or one that cannot be read.
    init?(pem text: Data) {
        guard let store = unsafe X509_STORE_new() else { return nil }
        address = UInt(bitPattern: store)
        let count = unsafe CertificateReader.read(pem: text) { unsafe X509_STORE_add_cert(store, $0) == 1 }
        guard let count, count > 0 else { return nil }
        // As libcurl sets them: a chain may end at a trusted intermediate, unless keys are pinned (``HandshakeGate``).
        unsafe X509_STORE_set_flags(store, UInt(X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_PARTIAL_CHAIN))
    }

    deinit { unsafe X509_STORE_free(OpaquePointer(bitPattern: address)) }

    /// The system's, or `nil` if its bundle cannot be read: parsed when first needed, and again on a reload.
    static var system: TrustStore? {
        loaded.withLock { loaded in
            loaded = loaded ?? CurlLibrary.shared.trustBundle.flatMap(read)
            return loaded
        }
    }

    private static func read(_ path: String) -> TrustStore? {
        (try? Data(contentsOf: URL(filePath: path))).flatMap { TrustStore(pem: $0) }
    }

    private static let loaded = Lock<TrustStore?>(nil)

    /// Reads the system's again, for all stacks of the process. If that fails, the former ones stay.
    ///
    /// - Throws: ``Network/ConfigurationError/invalid(_:)`` with the path.
    static func reloadSystem() throws(Network.ConfigurationError) {
        guard let path = CurlLibrary.shared.trustBundle else { return }
        guard let store = read(path) else { throw .invalid("The system's authorities in \(path) cannot be read.") }
        loaded.withLock { $0 = store }
    }

    /// Has a context's connections verify their servers against these authorities and no others. What libcurl loads goes
    /// into another store, the context's own, which counts for nothing then.
    ///
    /// - Returns: Whether it could be done.
    func install(in context: OpaquePointer) -> Bool {
        let store = unsafe OpaquePointer(bitPattern: address)
        // A client's chain that is not whole is completed from here, too, as from the context's own store otherwise.
        return unsafe networkstack_SSL_CTX_set1_verify_cert_store(context, store) == 1
            && networkstack_SSL_CTX_set1_chain_cert_store(context, store) == 1
    }
}

/// The authorities that verify a handle's handshakes.
enum Authorities {
    /// Those that libcurl loads: none where verification is disabled, and its own where the system's bundle is not known.
    case loadedByCurl
    /// The system's.
    case system
    /// These and no others.
    case these(TrustStore)

    /// Has a new connection's context trust them.
    ///
    /// - Returns: Whether it could be done. If not, the connection must not be.
    func install(in context: OpaquePointer) -> Bool {
        switch self {
        case .loadedByCurl: true
        case .system: unsafe TrustStore.system?.install(in: context) ?? false
        case .these(let store): unsafe store.install(in: context)
        }
    }
}
