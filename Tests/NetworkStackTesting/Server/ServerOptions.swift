extension ScriptedServer {
    /// How a scripted server listens and what it keeps.
    public struct Options: Sendable {
        /// Whether a client is asked for a certificate.
        ///
        /// Whatever it shows is accepted and recorded, but for `refused`.
        public enum ClientCertificate: Sendable, Equatable {
            /// Not asked for.
            case ignored
            /// Asked for, but the handshake succeeds without.
            case requested
            /// The handshake fails without.
            case required
            /// The handshake fails with any, as with one by an authority that is not known.
            case refused
        }

        /// A TLS version.
        public enum TLSVersion: Sendable, Equatable {
            /// TLS 1.1, which nobody should speak any more: OpenSSL's security level is 0 with it.
            case v11
            /// TLS 1.2
            case v12
            /// TLS 1.3
            case v13

            var code: Int32 {
                switch self {
                case .v11: 0x0302
                case .v12: 0x0303
                case .v13: 0x0304
                }
            }
        }

        /// Where to listen.
        public var loopback = Loopback.v4
        /// The port, 0 (the default): the kernel chooses.
        ///
        /// A number is for starting again where a server was.
        public var port: UInt16 = 0
        /// The certificate to show; nil (the default): plain TCP.
        public var tls: TLSIdentity?
        /// Another certificate for some connections (by index); nil answers mean `tls`.
        ///
        /// Only looked at when `tls` is set.
        public var identityForConnection: (@Sendable (_ connectionIndex: Int) -> TLSIdentity?)?
        /// The ALPN protocols the server takes, most wanted first.
        ///
        /// Empty (the default): no ALPN.
        public var applicationProtocols: [String] = []
        /// Whether the client is asked for a certificate.
        public var clientCertificate = ClientCertificate.ignored
        /// The highest TLS version offered; nil: the highest OpenSSL has.
        public var maximumTLSVersion: TLSVersion?
        /// False: TCP is accepted, the client's hello is read, and nothing is ever answered.
        ///
        /// The script does not run.
        public var answersHandshake = true
        /// The length of the kernel's queue of connections not yet accepted.
        public var backlog: Int32 = 1024
        /// False: listens but never accepts (clients up to the backlog see a connection that stays silent).
        public var acceptsConnections = true
        /// The longest a single wait of a script lasts (for bytes, for room to send, for a gate); then the script fails.
        public var patience: Duration = .seconds(30)
        /// How many received bytes a connection record, and how many body bytes a request, keeps at most.
        public var recordLimit = 16 * 1024 * 1024
        /// SO_RCVBUF of accepted sockets in bytes (the kernel doubles it); nil: the system's own choice.
        public var receiveBuffer: Int32?
        /// SO_SNDBUF of accepted sockets in bytes (the kernel doubles it); nil: the system's own choice.
        public var sendBuffer: Int32?

        /// The defaults; with `tls` given, a TLS server that takes these ALPN protocols.
        public init(tls: TLSIdentity? = nil, applicationProtocols: [String] = []) {
            self.tls = tls
            self.applicationProtocols = applicationProtocols
        }
    }
}
