public import FoundationEssentials

extension Network {
    /// How a stack speaks TLS: whom it trusts, and how it proves who it is.
    public struct TLSConfiguration: Sendable, Hashable {
        /// The certificate authorities a server's chain must end in.
        public enum TrustRoots: Sendable, Hashable {
            /// Those of the system, read once in a process.
            case system
            /// Those of a PEM file, and no others. It is read once, when the stack is made.
            case file(path: String)
            /// Those of PEM text, and no others.
            case pem(Data)
        }

        /// A version of TLS. Older ones are deprecated (RFC 8996) and never spoken.
        public enum Version: Int, Hashable, Sendable, Comparable, CaseIterable {
            /// TLS 1.2 (RFC 5246).
            case v1_2 = 2
            /// TLS 1.3 (RFC 8446).
            case v1_3 = 3

            /// Whether one version is older than another.
            public static func < (left: Version, right: Version) -> Bool { left.rawValue < right.rawValue }
        }

        /// Whether servers must prove who they are.
        public enum Verification: Hashable, Sendable {
            /// They must: by a chain that ends in one of the roots, for the host that was asked for.
            case full
            /// They need not: anybody in between can read and change everything. For tests against servers that cannot prove who
            /// they are, and for nothing else.
            ///
            /// Pinning policies still count, and pins are only ever looked for in a chain that was verified: a host whose keys are
            /// pinned is refused under this setting, unless its policy only reports, or has expired and is allowed to have.
            case disabledForTesting
        }

        /// The certificate authorities a server's chain must end in.
        public var trustRoots = TrustRoots.system
        /// What the client proves itself with to a server that asks, any server: give a stack of its own to hosts that should
        /// see it. `nil` for nothing.
        public var clientIdentity: ClientIdentity?
        /// The oldest version that is spoken.
        public var minimumVersion = Version.v1_2
        /// The newest version that is spoken, or `nil` for the newest there is.
        public var maximumVersion: Version?
        /// Whether servers must prove who they are.
        public var verification = Verification.full
        /// Whether a certificate that has no alternative name (`subjectAltName`) may name its host in its subject (`CN`). If not, its
        /// server is refused (RFC 9525 section 2). Some old devices have no other certificate; no authority issues one today. A host
        /// whose keys are pinned is refused all the same.
        ///
        /// A stack without ``HTTP/Capability/alternativeNames`` takes such names whatever this says.
        public var acceptsCommonNames = false

        /// Makes the default: the system's authorities, no identity, TLS 1.2 and newer, full verification.
        public init() {}

        /// Refuses what makes no sense.
        ///
        /// - Throws: ``HTTP/InvalidValue``.
        public func validate() throws(HTTP.InvalidValue) {
            if let maximumVersion, maximumVersion < minimumVersion {
                throw HTTP.InvalidValue("The newest TLS version that is spoken must not be older than the oldest.")
            }
        }
    }

    /// A client's certificate and what proves it: its chain and its private key.
    ///
    /// It is read once, when the stack is made. Its description tells nothing of the key or the passphrase.
    public struct ClientIdentity: Sendable, Hashable {
        /// Where an identity comes from.
        public enum Source: Sendable, Hashable {
            /// PEM files: the certificate, followed by its intermediates; and its private key.
            case pemFiles(certificateChain: String, privateKey: String)
            /// The same as text.
            case pem(certificateChain: Data, privateKey: Data)
            /// A PKCS #12 file (RFC 7292), often `.p12` or `.pfx`.
            case pkcs12File(path: String)
            /// The same as bytes.
            case pkcs12(Data)
        }

        /// Where it comes from.
        public let source: Source
        /// What the private key is encrypted with, if it is.
        public let passphrase: String?

        /// Names an identity; nothing is read yet.
        ///
        /// - Parameters:
        ///   - source: Where it comes from.
        ///   - passphrase: What the private key is encrypted with, if it is.
        public init(_ source: Source, passphrase: String? = nil) {
            self.source = source
            self.passphrase = passphrase
        }
    }
}

extension Network.ClientIdentity: CustomStringConvertible, CustomReflectable {
    /// Where the identity comes from, without any of it.
    public var description: String {
        switch source {
        case .pemFiles(let certificateChain, _): "a client identity from \(certificateChain)"
        case .pem: "a client identity from PEM text"
        case .pkcs12File(let path): "a client identity from \(path)"
        case .pkcs12: "a client identity from PKCS #12 bytes"
        }
    }

    /// The description: a dump, too, shows neither key nor passphrase.
    public var customMirror: Mirror { Mirror(self, children: ["source": description], displayStyle: .struct) }
}
