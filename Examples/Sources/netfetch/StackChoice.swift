import Foundation
import NetworkStack

/// Which stack a fetch goes over. Fetches with equal choices share one, and its connections.
struct StackChoice: Hashable, Sendable {
    /// The backends.
    enum Backend: String, CaseIterable, Sendable {
        case curl
        case urlsession
    }

    /// Keys that a host must have.
    struct Pins: Hashable, Sendable {
        let domain: String
        let hashes: [String]
        var includesSubdomains = false
        var scope = PinningPolicy.Scope.chain

        /// Reads the pins of curl's --pinnedpubkey: `sha256//…;sha256//…`, of the host itself.
        init(curl text: String, host: String) {
            domain = host
            hashes = text.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
            scope = .leaf
        }

        /// Reads `DOMAIN=HASH[,HASH]`, or answers `nil` if it is not of that form.
        init?(_ text: String) {
            guard let equals = text.firstIndex(of: "=") else { return nil }
            domain = String(text[..<equals])
            hashes = text[text.index(after: equals)...].split(separator: ",").map(String.init)
        }
    }

    var backend = Backend.curl
    /// A PEM file with the authorities to trust instead of the system's.
    var authorities: String?
    var verifies = true
    var certificate: String?
    var key: String?
    var passphrase: String?
    var proxy: String?
    var proxyUser: String?
    var noProxy: String?
    var unixSocket: String?
    var abstractSocket: String?
    var overrides: [String] = []
    var reroutes: [String] = []
    var pins: [Pins] = []
    /// A pinning configuration in JSON.
    var pinning: Data?
    var onlyReports = false
    /// Whether requests that name no `Accept` say that anything will do.
    var acceptsAnything = true

    /// The stack's configuration.
    ///
    /// - Throws: A ``Failure`` that names what makes no sense.
    func configuration() throws(Failure) -> Network.Configuration {
        var configuration = Network.Configuration()
        // The requests name it themselves, or leave it out.
        configuration.userAgent = nil
        configuration.acceptsAnything = acceptsAnything
        if let authorities { configuration.tls.trustRoots = .file(path: authorities) }
        if !verifies { configuration.tls.verification = .disabledForTesting }
        configuration.tls.clientIdentity = clientIdentity
        configuration.proxies = try proxies()
        do {
            configuration.addresses.hostOverrides = try overrides.map { try .init($0) }
            configuration.addresses.reroutes = try reroutes.map { try .init($0) }
        } catch {
            throw Failure(making: error)
        }
        if let unixSocket { configuration.addresses.unixSocket = .path(unixSocket) }
        if let abstractSocket { configuration.addresses.unixSocket = .abstract(abstractSocket) }
        do { configuration.serverTrust = try serverTrust() } catch {
            throw Failure(.pin, "The pins make no sense: \(error.explanation)")
        }
        return configuration
    }

    private var clientIdentity: Network.ClientIdentity? {
        guard let certificate else { return nil }
        if certificate.hasSuffix(".p12") || certificate.hasSuffix(".pfx") {
            return Network.ClientIdentity(.pkcs12File(path: certificate), passphrase: passphrase)
        }
        return Network.ClientIdentity(
            .pemFiles(certificateChain: certificate, privateKey: key ?? certificate),
            passphrase: passphrase
        )
    }

    private func proxies() throws(Failure) -> Network.Proxies {
        guard let text = proxy else { return .none }
        do {
            var proxy = try Network.Proxy(text)
            if let proxyUser {
                let parts = proxyUser.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                proxy.credentials = .init(user: String(parts[0]), password: parts.count > 1 ? String(parts[1]) : "")
            }
            return Network.Proxies(proxy, except: try noProxy.map { try .init($0) } ?? .none)
        } catch {
            throw Failure(.proxy, "\(error)")
        }
    }

    private func serverTrust() throws -> ServerTrustConfiguration? {
        let read = try pinning.map { try ServerTrustConfiguration(json: $0) }
        if pins.isEmpty, !onlyReports { return read }
        guard read != nil || !pins.isEmpty else { return nil }
        let policies = try pins.map { pins in
            try PinningPolicy(
                domainName: pins.domain,
                includeSubdomains: pins.includesSubdomains,
                pinnedHashes: Set(pins.hashes),
                enforceBackupPin: false,
                scope: pins.scope
            )
        }
        return try ServerTrustConfiguration(
            pinningPolicies: (read?.pinningPolicies ?? []) + policies,
            certificateCheckingOrder: read?.certificateCheckingOrder ?? .leafToRoot,
            allowNotPinnedDomains: read?.allowNotPinnedDomains ?? false,
            allowExpiredDomainPolicies: read?.allowExpiredDomainPolicies ?? false,
            mode: onlyReports ? .reportOnly : read?.mode ?? .enforced
        )
    }
}
