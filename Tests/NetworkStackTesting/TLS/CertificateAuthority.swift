import Foundation

/// An authority that signs certificates with the `openssl` command line tool, in a separate directory.
struct CertificateAuthority: Sendable {
    let certificateFile: String
    private let keyFile: String
    private let name: String
    private let folder: TemporaryDirectory
    private let openssl: Program
    /// The intermediates from this authority up to its root, without the root.
    private let chain: [String]

    /// Makes a self-signed root.
    ///
    /// Throws `TestServerError`.
    init(root name: String, in folder: TemporaryDirectory, openssl: Program) throws {
        self.init(name, in: folder, openssl: openssl, chain: [])
        try prepare()
        try openssl.run([
            "req", "-x509", "-config", config, "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-keyout", keyFile, "-out", certificateFile, "-subj", "/CN=\(name)", "-extensions", "authority",
            "-days", "30",
        ])
    }

    private init(_ name: String, in folder: TemporaryDirectory, openssl: Program, chain: [String]) {
        self.name = name
        self.folder = folder
        self.openssl = openssl
        self.chain = chain
        certificateFile = folder.file("\(name).pem")
        keyFile = folder.file("\(name).key")
    }

    /// Makes an authority below this one.
    func intermediate(_ name: String) throws -> CertificateAuthority {
        let file = folder.file("\(name).pem")
        let child = CertificateAuthority(name, in: folder, openssl: openssl, chain: [file] + chain)
        try child.prepare()
        try sign(name, key: child.keyFile, certificate: file, subject: name, extensions: "authority", days: -2...30)
        return child
    }

    /// Makes a key and a certificate for the names (DNS names or addresses), valid between the days counted from today.
    ///
    /// A name with a kind (`DNS:`, `IP:`, `DER:`) is passed to openssl unchanged, and is not the subject. The default subject is
    /// the first name.
    func identity(
        _ name: String,
        hosts: [String],
        subject: String? = nil,
        days: ClosedRange<Int> = -2...30,
        key kind: KeyKind = .p256
    ) throws -> TLSIdentity {
        let key = folder.file("\(name).key")
        let certificate = folder.file("\(name).leaf.pem")
        let names = hosts.map { host in
            if host.hasNameKind { return host }
            let isAddress = host.contains(":") || host.allSatisfy { $0.isNumber || $0 == "." }
            return (isAddress ? "IP:" : "DNS:") + host
        }
        let extensions = try folder.write(
            "\(name).ext",
            """
            [leaf]
            basicConstraints = critical, CA:false
            keyUsage = critical, digitalSignature
            extendedKeyUsage = serverAuth, clientAuth
            \(names.isEmpty ? "" : "subjectAltName = " + names.joined(separator: ","))

            """
        )
        try sign(
            name,
            key: key,
            certificate: certificate,
            subject: subject ?? hosts.first.flatMap { $0.hasNameKind ? nil : $0 } ?? name,
            extensions: "leaf",
            extensionFile: extensions,
            days: days,
            kind: kind
        )
        let parts = ([certificate] + chain).map { WrittenFile(path: $0).text }
        let chainFile = try folder.write("\(name).chain.pem", parts.joined())
        return TLSIdentity(certificateChainFile: chainFile, keyFile: key)
    }

    private var config: String { folder.file("\(name).cnf") }

    private func prepare() throws {
        try folder.write("\(name).index", "")
        try folder.write("\(name).index.attr", "unique_subject = no\n")
        try folder.write(
            "\(name).cnf",
            """
            [req]
            distinguished_name = subject
            [subject]
            [ca]
            default_ca = here
            [here]
            database = \(folder.file("\(name).index"))
            new_certs_dir = \(folder.path)
            certificate = \(certificateFile)
            private_key = \(keyFile)
            rand_serial = yes
            default_md = sha256
            policy = any
            [any]
            commonName = supplied
            [authority]
            basicConstraints = critical, CA:true
            keyUsage = critical, keyCertSign, cRLSign
            subjectKeyIdentifier = hash

            """
        )
    }

    /// Uses `openssl ca`, the only tool of OpenSSL 3.0 with a start date, which an expired certificate needs.
    private func sign(
        _ name: String,
        key: String,
        certificate: String,
        subject: String,
        extensions: String,
        extensionFile: String? = nil,
        days: ClosedRange<Int>,
        kind: KeyKind = .p256
    ) throws {
        let request = folder.file("\(name).csr")
        try openssl.run(
            ["req", "-new", "-config", config] + kind.arguments
                + ["-nodes", "-keyout", key, "-out", request, "-subj", "/CN=\(subject)"]
        )
        try openssl.run(
            [
                "ca", "-batch", "-notext", "-config", config, "-in", request, "-out", certificate,
                "-startdate", Self.date(days.lowerBound), "-enddate", Self.date(days.upperBound),
                "-extensions", extensions,
            ] + (extensionFile.map { ["-extfile", $0] } ?? [])
        )
    }

    /// A moment `days` from now in ASN.1, in UTC.
    private static func date(_ days: Int) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "UTC")
        formatter.dateFormat = "yyyyMMddHHmmss'Z'"
        return formatter.string(from: Date(timeIntervalSinceNow: Double(days) * 86_400))
    }
}

extension String {
    /// Whether it is an alternative name in openssl's syntax.
    fileprivate var hasNameKind: Bool { ["DNS:", "IP:", "DER:"].contains(where: hasPrefix) }
}

/// The kind of a certificate's key.
public enum KeyKind: String, Sendable, CaseIterable {
    /// EC on the curve P-256.
    case p256
    /// RSA of 3072 bits.
    case rsa3072
    /// Ed25519.
    case ed25519

    var arguments: [String] {
        switch self {
        case .p256: ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
        case .rsa3072: ["-newkey", "rsa:3072"]
        case .ed25519: ["-newkey", "ed25519"]
        }
    }
}
