extension ScriptedServer {
    /// How a scripted server listens, and how much it records.
    public struct Options: Sendable {
        /// Whether the server asks the client for a certificate. Any certificate is accepted and recorded, except with `refused`.
        public enum ClientCertificate: Sendable, Equatable {
            /// It does not ask.
            case ignored
            /// It asks, but the handshake succeeds without a certificate.
            case requested
            /// The handshake fails without a certificate.
            case required
            /// The handshake fails with any certificate, as with one of an unknown authority.
            case refused
        }

        /// A TLS version.
        public enum TLSVersion: Sendable, Equatable {
            /// TLS 1.1, which is deprecated. OpenSSL's security level is 0 with it.
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
        /// The port; with 0 (the default) the kernel chooses one. Give a number to start again on the same port.
        public var port: UInt16 = 0
        /// The certificate; `nil` (the default) for plain TCP.
        public var tls: TLSIdentity?
        /// Another certificate for some connections, by index; `nil` means `tls`. Only used if `tls` is set.
        public var identityForConnection: (@Sendable (_ connectionIndex: Int) -> TLSIdentity?)?
        /// The ALPN protocols, the preferred one first. Empty (the default) for no ALPN.
        public var applicationProtocols: [String] = []
        /// Whether the server asks for a certificate.
        public var clientCertificate = ClientCertificate.ignored
        /// The highest TLS version, or `nil` for OpenSSL's.
        public var maximumTLSVersion: TLSVersion?
        /// Whether the handshake is answered. If not, TCP is accepted and the client's hello is read, but the script does not
        /// run.
        public var answersHandshake = true
        /// The length of the kernel's queue of connections not yet accepted.
        public var backlog: Int32 = 1024
        /// Whether connections are accepted. If not, clients up to the backlog see a silent connection.
        public var acceptsConnections = true
        /// The longest single wait of a script (for bytes, for room to send, for a gate). After it the script fails.
        public var patience: Duration = .seconds(30)
        /// The most bytes that the record of a connection, and of a request's body, keeps.
        public var recordLimit = 16 * 1024 * 1024
        /// SO_RCVBUF of accepted sockets in bytes (the kernel doubles it); `nil` for the system's default.
        public var receiveBuffer: Int32?
        /// SO_SNDBUF of accepted sockets in bytes (the kernel doubles it); `nil` for the system's default.
        public var sendBuffer: Int32?

        /// Makes the default options; with `tls`, those of a TLS server with these ALPN protocols.
        public init(tls: TLSIdentity? = nil, applicationProtocols: [String] = []) {
            self.tls = tls
            self.applicationProtocols = applicationProtocols
        }
    }
}
