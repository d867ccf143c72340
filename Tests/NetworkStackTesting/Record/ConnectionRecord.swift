/// A server's record of one connection that it accepted, as a value.
public struct ConnectionRecord: Sendable, CustomStringConvertible {
    /// Which side ended the connection first.
    public enum State: Sendable, Equatable {
        /// Neither side has ended it.
        case open
        /// The peer sent FIN or close_notify. A peer that only closes its sending half looks the same.
        case closedByPeer
        /// The peer sent a reset.
        case resetByPeer
        /// The script, its end, or `stop()` ended it.
        case closedByServer
    }

    /// The state of the TLS handshake.
    public enum Handshake: Sendable, Equatable {
        /// The server speaks plain TCP.
        case notUsed
        /// It has not ended yet.
        case pending
        /// It succeeded for the server. Under TLS 1.3 the client may still refuse.
        case done
        /// It failed; the text is OpenSSL's, with the client's alert if it sent one.
        case failed(String)
    }

    /// The result of a handshake.
    public struct TLS: Sendable, Equatable {
        /// `TLSv1.3`, `TLSv1.2` ...
        public let version: String
        /// The ALPN protocol, or `nil` if none was negotiated.
        public let applicationProtocol: String?
        /// The name in the client's SNI, or `nil` if there was none.
        public let serverName: String?
        /// Whether the client resumed a session.
        public let isResumed: Bool
        /// The subject of the client's certificate, or `nil` if there was none.
        public let clientCertificateSubject: String?
    }

    /// The position in the order of acceptance, from 0.
    public let index: Int
    /// The peer's address, as `127.0.0.1:49152`.
    public let peer: String
    /// When it was accepted.
    public let acceptedAt: ContinuousClock.Instant
    /// Which side ended it first.
    public internal(set) var state = State.open
    /// When `state` stopped being `.open`.
    public internal(set) var closedAt: ContinuousClock.Instant?
    /// The received bytes, decrypted if TLS is used, up to the options' record limit.
    public internal(set) var received: [UInt8] = []
    /// How many (decrypted) bytes were received, also beyond the limit.
    public internal(set) var receivedCount = 0
    /// How many bytes the script has passed to the kernel, before encryption.
    public internal(set) var sentCount = 0
    /// The requests whose heads were parsed, in order.
    public internal(set) var requests: [ReceivedRequest] = []
    /// The state of the TLS handshake.
    public internal(set) var handshake: Handshake
    /// The result of the handshake; `nil` until it is done.
    public internal(set) var tls: TLS?
    /// Whether the peer ended a TLS connection with close_notify.
    public internal(set) var isCloseNotifySeen = false
    /// Why the script ended before its last step, unless the peer closed.
    public internal(set) var failure: String?

    /// Whether the client sent a certificate.
    public var isClientCertificateSeen: Bool { tls?.clientCertificateSubject != nil }

    /// The received bytes as text; malformed UTF-8 is repaired.
    ///
    /// Holds header values: do not log it.
    public var receivedText: String { String(decoding: received, as: UTF8.self) }

    /// State, counts and failure, without any received byte.
    public var description: String {
        var text = "[\(index)] \(state), received \(receivedCount), sent \(sentCount), requests \(requests.count)"
        if handshake != .notUsed { text += ", handshake \(handshake)" }
        if let failure { text += ", failure: \(failure)" }
        return text
    }

    init(index: Int, peer: String, handshake: Handshake) {
        self.index = index
        self.peer = peer
        self.handshake = handshake
        acceptedAt = .now
    }

    /// Only the first verdict counts; what follows a close is caused by it.
    mutating func end(_ verdict: State) {
        guard state == .open else { return }
        state = verdict
        closedAt = .now
    }
}
