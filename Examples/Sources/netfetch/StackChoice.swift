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

        /// Reads the pins of curl's --pinnedpubkey: `sha256//…;sha256//…`, of the server's own key.
        init(curl text: String, host: String) {
            domain = host
            hashes = text.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
            scope = .leaf
        }

        /// Reads `DOMAIN=HASH[,HASH]`; `nil` if it is not of that form.
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
    var family = Network.Configuration.Addresses.Family.any
    var unixSocket: String?
    var abstractSocket: String?
    var overrides: [String] = []
    var reroutes: [String] = []
    var pins: [Pins] = []
    /// A pinning configuration in JSON.
    var pinning: Data?
    var onlyReports = false
    /// Whether requests without an `Accept` get `Accept: */*`.
    var sendsDefaultAccept = true

    /// The stack's configuration.
    ///
    /// - Throws: A ``Failure`` that names the option at fault.
    func configuration() throws(Failure) -> Network.Configuration {
        var configuration = Network.Configuration()
        // Each request has its own, or none.
        configuration.userAgent = nil
        configuration.sendsDefaultAccept = sendsDefaultAccept
        if let authorities { configuration.tls.trustRoots = .file(path: authorities) }
        if !verifies { configuration.tls.verification = .disabledForTesting }
        configuration.tls.clientIdentity = clientIdentity
        configuration.proxies = try proxies()
        do { configuration.addresses.hostOverrides = try overrides.map { try .init($0) } } catch {
            throw Failure(.refused, "\(error)", exitCode: 49)
        }
        do { configuration.addresses.reroutes = try reroutes.map { try .init($0) } } catch {
            throw Failure(making: error)
        }
        configuration.addresses.family = family
        if let unixSocket { configuration.addresses.unixSocket = .path(unixSocket) }
        if let abstractSocket { configuration.addresses.unixSocket = .abstract(abstractSocket) }
        do { configuration.serverTrust = try serverTrust() } catch {
            throw Failure(.pin, "The pins are invalid: \(error.explanation)")
        }
        do { try configuration.validate() } catch { throw Failure(making: error) }
        return configuration
    }

    /// What a stack that cannot be made fails with: curl's exit code for the file at fault.
    func failure(of error: any Error) -> Failure {
        guard case Network.ConfigurationError.invalid = error else { return Failure(making: error) }
        let isIdentity = certificate != nil && (authorities == nil || LocalFile.holdsPEM(authorities))
        return Failure(.refused, "\(error)", exitCode: isIdentity ? 58 : authorities != nil ? 77 : 2)
    }

    /// The proxy for an origin.
    func proxy(for origin: HTTP.Origin) -> Network.Proxy? { (try? proxies())?.proxy(for: origin) }

    /// What connections to an origin lead to instead, if anything.
    func detour(from origin: HTTP.Origin) -> String? {
        if let socket = unixSocket ?? abstractSocket { return "the socket \(socket)" }
        return proxy(for: origin).map { "the proxy \($0)" }
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

    private func exceptions() throws -> Network.ProxyExceptions {
        guard let noProxy else { return .none }
        do { return try .init(noProxy) } catch { throw Failure(.refused, "\(error)") }
    }

    private func proxies() throws(Failure) -> Network.Proxies {
        guard let text = proxy else { return .none }
        let scheme = text.contains("://") ? text.prefix { $0 != ":" }.lowercased() : "http"
        guard Network.Proxy.Scheme.allCases.contains(where: { $0.rawValue == scheme }) else {
            throw Failure(.proxy, "A proxy's scheme is not '\(scheme)'.", exitCode: 7)
        }
        do {
            var proxy = try Network.Proxy(text)
            if let proxyUser {
                let parts = proxyUser.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                proxy.credentials = .init(user: String(parts[0]), password: parts.count > 1 ? String(parts[1]) : "")
            }
            return Network.Proxies(proxy, except: try exceptions())
        } catch {
            throw error as? Failure ?? Failure(.proxy, "\(error)")
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
