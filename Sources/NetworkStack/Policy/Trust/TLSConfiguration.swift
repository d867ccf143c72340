public import FoundationEssentials

extension Network {
    /// The TLS settings of a stack: trusted authorities, versions, and the client's certificate.
    public struct TLSConfiguration: Sendable, Hashable {
        /// The certificate authorities in which a server's chain must end.
        public enum TrustRoots: Sendable, Hashable {
            /// Those of the system, which all stacks of the process share.
            case system
            /// Those of a PEM file only. It is read when the stack is made. CurlStack's `reloadCertificates()` reads it again.
            case file(path: String)
            /// Those of a PEM text only.
            case pem(Data)
        }

        /// A version of TLS. Older ones are deprecated (RFC 8996) and not supported.
        public enum Version: Int, Hashable, Sendable, Comparable, CaseIterable {
            /// TLS 1.2 (RFC 5246).
            case v1_2 = 2
            /// TLS 1.3 (RFC 8446).
            case v1_3 = 3

            /// Whether one version is older than another.
            public static func < (left: Version, right: Version) -> Bool { left.rawValue < right.rawValue }
        }

        /// Whether servers are verified.
        public enum Verification: Hashable, Sendable {
            /// Yes: by a chain that ends in one of the roots, for the requested host.
            case full
            /// No: any host in between can read and change everything. Use it only in tests.
            ///
            /// Pinning policies still apply, and pins are only searched in a verified chain. So a pinned host is refused, unless
            /// its policy only reports, or has expired and is allowed to have.
            case disabledForTesting
        }

        /// The certificate authorities in which a server's chain must end.
        public var trustRoots = TrustRoots.system
        /// The client's certificate, sent to any server that asks for one. Use a separate stack for the hosts that should get it.
        /// `nil` for none.
        public var clientIdentity: ClientIdentity?
        /// The oldest supported version.
        public var minimumVersion = Version.v1_2
        /// The newest supported version, or `nil` for no limit.
        public var maximumVersion: Version?
        /// Whether servers are verified.
        public var verification = Verification.full
        /// Whether a certificate without alternative names (`subjectAltName`) may name its host in its subject (`CN`). The
        /// default is `false`: such a server is refused (RFC 9525 section 2). Authorities no longer issue such certificates, but
        /// some old devices have them. A pinned host is refused in any case.
        ///
        /// A stack without ``HTTP/Capability/alternativeNames`` always accepts such names.
        public var acceptsCommonNames = false

        /// Makes the default: the system's authorities, no client certificate, TLS 1.2 and newer, full verification.
        public init() {}

        /// Refuses contradictory settings.
        ///
        /// - Throws: ``HTTP/InvalidValue``.
        public func validate() throws(HTTP.InvalidValue) {
            if let maximumVersion, maximumVersion < minimumVersion {
                throw HTTP.InvalidValue("The maximum TLS version must not be older than the minimum.")
            }
        }
    }

    /// A client's certificate, its chain and its private key.
    ///
    /// It is read when the stack is made. CurlStack's `reloadCertificates()` reads it again. Its description shows neither the key nor the
    /// passphrase.
    public struct ClientIdentity: Sendable, Hashable {
        /// The source of an identity.
        public enum Source: Sendable, Hashable {
            /// PEM files: the certificate, followed by its intermediates, and its private key.
            case pemFiles(certificateChain: String, privateKey: String)
            /// PEM texts.
            case pem(certificateChain: Data, privateKey: Data)
            /// A PKCS #12 file (RFC 7292), often `.p12` or `.pfx`.
            case pkcs12File(path: String)
            /// PKCS #12 bytes.
            case pkcs12(Data)
        }

        /// The source.
        public let source: Source
        /// The passphrase of the private key, if it is encrypted.
        public let passphrase: String?

        /// Makes an identity; nothing is read yet.
        ///
        /// - Parameters:
        ///   - source: The source.
        ///   - passphrase: The passphrase of the private key, if it is encrypted.
        public init(_ source: Source, passphrase: String? = nil) {
            self.source = source
            self.passphrase = passphrase
        }
    }
}

extension Network.ClientIdentity: CustomStringConvertible, CustomReflectable {
    /// The kind of source, without its contents.
    public var description: String {
        switch source {
        case .pemFiles(let certificateChain, _): "a client identity from \(certificateChain)"
        case .pem: "a client identity from PEM text"
        case .pkcs12File(let path): "a client identity from \(path)"
        case .pkcs12: "a client identity from PKCS #12 bytes"
        }
    }

    /// The description, so that a dump shows neither key nor passphrase.
    public var customMirror: Mirror { Mirror(self, children: ["source": description], displayStyle: .struct) }
}
