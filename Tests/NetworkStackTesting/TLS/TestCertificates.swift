import NetworkStack

/// Certificates that are made for this run: EC P-256, in a temporary directory that is removed with the process.
///
///     root ── intermediate ── server, rotatedServer, expired, wrongHost, client
///     secondRoot ── secondServer           (also in `caFile`'s sibling `bothRootsFile`)
///     untrustedRoot ── untrusted           (in no file a client is given)
public final class TestCertificates: Sendable {
    /// PEM with the root only, which clients trust.
    public let caFile: String
    /// PEM with the second root only.
    public let secondCAFile: String
    /// PEM with the root and the second root.
    public let bothRootsFile: String
    /// PEM with the root of `untrusted`, which clients must not trust.
    public let untrustedCAFile: String
    /// PEM with the intermediate only, for pins.
    public let intermediateFile: String
    /// A valid server: localhost, 127.0.0.1, ::1, a.test, b.test. The chain has the intermediate.
    public let server: TLSIdentity
    /// As `server`, with another key, from the same intermediate: a renewed certificate.
    public let rotatedServer: TLSIdentity
    /// As `server`, but its validity ended yesterday.
    public let expired: TLSIdentity
    /// Trusted and valid, but for `other.test` only.
    public let wrongHost: TLSIdentity
    /// As `server`, from a root that clients do not trust.
    public let untrusted: TLSIdentity
    /// As `server`, from the second root.
    public let secondServer: TLSIdentity
    /// A client's certificate from the intermediate, without host names.
    public let client: TLSIdentity
    /// As `server`, from an authority with the intermediate's name; the real one is in its chain.
    public let forged: TLSIdentity
    /// PEM with the intermediate and the root, as in some systems' bundles.
    public let caFileWithIntermediate: String
    private let folder: TemporaryDirectory
    private let forgedFolder: TemporaryDirectory
    private let intermediate: CertificateAuthority
    private let sequence = Lock(0)

    /// The names of `server`.
    public static let serverNames = ["localhost", "127.0.0.1", "::1", "a.test", "b.test"]

    /// The certificates of this process, made on first use, which takes about half a second.
    ///
    /// Throws `TestServerError` if `openssl` is missing or fails.
    public static func shared() throws -> TestCertificates { try made.get() }
    private static let made = Result { try TestCertificates() }

    /// Makes a separate set, which is removed with this object.
    ///
    /// Throws `TestServerError`.
    public init() throws {
        let openssl = try Program("openssl", package: "openssl")
        folder = try TemporaryDirectory("certificates")
        let root = try CertificateAuthority(root: "root", in: folder, openssl: openssl)
        let second = try CertificateAuthority(root: "second-root", in: folder, openssl: openssl)
        let stranger = try CertificateAuthority(root: "untrusted-root", in: folder, openssl: openssl)
        intermediate = try root.intermediate("intermediate")
        caFile = root.certificateFile
        secondCAFile = second.certificateFile
        untrustedCAFile = stranger.certificateFile
        intermediateFile = intermediate.certificateFile
        let both = [root, second].map { WrittenFile(path: $0.certificateFile).text }
        bothRootsFile = try folder.write("both-roots.pem", both.joined())
        let names = Self.serverNames
        server = try intermediate.identity("server", hosts: names)
        rotatedServer = try intermediate.identity("rotated-server", hosts: names)
        expired = try intermediate.identity("expired", hosts: names, days: -3 ... -1)
        wrongHost = try intermediate.identity("wrong-host", hosts: ["other.test"])
        untrusted = try stranger.identity("untrusted", hosts: names)
        secondServer = try second.identity("second-server", hosts: names)
        client = try intermediate.identity("client", hosts: [])
        let chain = [intermediate, root].map { WrittenFile(path: $0.certificateFile).text }
        caFileWithIntermediate = try folder.write("chain.pem", chain.joined())
        forgedFolder = try TemporaryDirectory("forged-certificates")
        let forger = try CertificateAuthority(root: "intermediate", in: forgedFolder, openssl: openssl)
        let leaf = try forger.identity("forged", hosts: names)
        forged = TLSIdentity(
            certificateChainFile: try forgedFolder.write(
                "forged.chain.pem",
                WrittenFile(path: leaf.certificateChainFile).text + chain[0]
            ),
            keyFile: leaf.keyFile
        )
    }

    /// An identity that also presents the certificates of another one.
    ///
    /// Throws the error of writing a file.
    public func identity(_ identity: TLSIdentity, presentingAlso other: TLSIdentity) throws -> TLSIdentity {
        let number = nextNumber()
        let text = [identity, other].map { WrittenFile(path: $0.certificateChainFile).text }.joined()
        return TLSIdentity(
            certificateChainFile: try folder.write("stuffed-\(number).pem", text),
            keyFile: identity.keyFile
        )
    }

    /// A PKCS #12 file of an identity, encrypted with a passphrase.
    ///
    /// Throws `TestServerError`.
    public func pkcs12(_ identity: TLSIdentity, passphrase: String) throws -> String {
        let file = identity.keyFile + ".p12"
        try Program("openssl", package: "openssl").run([
            "pkcs12", "-export", "-in", identity.certificateChainFile, "-inkey", identity.keyFile, "-out", file,
            "-passout", "pass:\(passphrase)",
        ])
        return file
    }

    /// The private key of an identity in a PEM file, encrypted with a passphrase.
    ///
    /// Throws `TestServerError`.
    public func encryptedKey(of identity: TLSIdentity, passphrase: String) throws -> String {
        let file = identity.keyFile + (passphrase.isEmpty ? ".open" : ".encrypted")
        try Program("openssl", package: "openssl").run([
            "pkcs8", "-topk8", "-in", identity.keyFile, "-out", file, "-passout", "pass:\(passphrase)",
        ])
        return file
    }

    /// Another certificate from the intermediate for these hosts (DNS names or addresses, or alternative names in openssl's
    /// syntax: `DNS:…`), valid between the two days counted from today.
    ///
    /// Throws `TestServerError`.
    public func issue(
        for hosts: [String],
        days: ClosedRange<Int> = -2...30,
        key: KeyKind = .p256
    ) throws -> TLSIdentity {
        try intermediate.identity("issued-\(nextNumber())", hosts: hosts, days: days, key: key)
    }

    /// Another certificate from the intermediate, which names a host in its subject only.
    ///
    /// Throws `TestServerError`.
    public func issue(namedInSubject host: String) throws -> TLSIdentity {
        try intermediate.identity("issued-\(nextNumber())", hosts: [], subject: host)
    }

    private func nextNumber() -> Int {
        sequence.withLock { count in
            count += 1
            return count
        }
    }
}
