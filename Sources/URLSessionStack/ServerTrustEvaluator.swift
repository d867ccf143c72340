public import NetworkStack

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

#if canImport(Security)
    internal import CryptoKit
    public import Security
#endif

/// Verifies servers by their public keys: the challenge handler of a session whose hosts are pinned.
///
///     let evaluator = try ServerTrustEvaluator(configuration: configuration)
///     let network = Network.URLSessionNetworkStack(authenticationChallengeHandler: evaluator)
///     network.session = URLSession(configuration: .default, delegate: network, delegateQueue: nil)
///
/// It needs the Security framework. On systems without it, such as Linux, URLSession does not expose a server's certificates, so
/// the initializer throws; use CurlStack there. (This project's CI runs on Linux and tests only the refusal.)
public final class ServerTrustEvaluator: AuthenticationChallengeHandler {
    /// A policy for one domain.
    public typealias PinningPolicy = ServerTrustConfiguration.Policy
    /// The policies, and how other hosts are treated.
    public typealias Configuration = ServerTrustConfiguration

    private let judge: ServerTrustJudge
    private let mode: ServerTrustConfiguration.Mode

    /// Makes an evaluator.
    ///
    /// - Parameter configuration: The policies.
    /// - Throws: ``/NetworkStack/ServerTrustError/pinningUnsupported(reason:)`` where URLSession cannot pin keys.
    public init(configuration: Configuration) throws(ServerTrustError) {
        #if canImport(Security)
            judge = ServerTrustJudge(configuration)
            mode = configuration.mode
        #else
            throw .pinningUnsupported(reason: Platform.noTrust)
        #endif
    }

    /// Answers a server-trust challenge, and leaves every other challenge to the session.
    ///
    /// - Parameters:
    ///   - challenge: The challenge.
    ///   - completionHandler: Called once, before this returns: with the server's credential if a pin matched, with default
    ///     handling where the configuration allows it, otherwise with a cancel.
    public func handle(
        _ challenge: URLAuthenticationChallenge,
        completionHandler: @escaping CompletionHandlerClosure
    ) {
        #if canImport(Security)
            let space = challenge.protectionSpace
            guard space.authenticationMethod == NSURLAuthenticationMethodServerTrust else {
                return completionHandler(.performDefaultHandling, nil)
            }
            guard let trust = space.serverTrust else { return completionHandler(.cancelAuthenticationChallenge, nil) }
            do {
                let isPinned = try evaluate(trust, hostname: space.host)
                isPinned
                    ? completionHandler(.useCredential, URLCredential(trust: trust))
                    : completionHandler(.performDefaultHandling, nil)
            } catch {
                completionHandler(mode == .enforced ? .cancelAuthenticationChallenge : .performDefaultHandling, nil)
            }
        #else
            completionHandler(.performDefaultHandling, nil)
        #endif
    }
}

#if canImport(Security)
    extension ServerTrustEvaluator {
        /// Verifies a server by its keys.
        ///
        /// - Parameters:
        ///   - trust: What the server presented.
        ///   - hostname: The requested host.
        /// - Returns: `true` if a policy is for the host and a pin matched; `false` if ordinary handling is allowed.
        /// - Throws: Why the server is not trusted.
        @discardableResult
        public func evaluate(_ trust: SecTrust, hostname: String) throws(ServerTrustError) -> Bool {
            let host = hostname.contains(":") && !hostname.hasPrefix("[") ? "[\(hostname)]" : hostname
            guard let url = URL(string: "https://\(host)/"), let origin = try? HTTP.Origin(of: url) else {
                throw .domainNotPinned(host: hostname)
            }
            guard case .pinned(let server) = try judge.trust(for: origin) else { return false }
            var error: CFError?
            SecTrustSetPolicies(trust, SecPolicyCreateSSL(true, server.host as CFString))
            guard SecTrustEvaluateWithError(trust, &error) else {
                let reason = error.map { "\($0)" } ?? "The chain is not trusted."
                throw .pinVerificationFailed(host: server.host, .evaluation(verifyResult: nil, reason: reason))
            }
            let certificates = SecTrustCopyCertificateChain(trust) as? [SecCertificate] ?? []
            let chain = certificates.compactMap { certificate in
                CertificateKey.subjectPublicKeyInfo(inDER: Array(SecCertificateCopyData(certificate) as Data)).flatMap {
                    PublicKeyPin(sha256: Array(SHA256.hash(data: $0)))
                }
            }
            guard chain.count == certificates.count, server.match(in: chain) != nil else {
                throw .pinVerificationFailed(host: server.host, .pinnedHashNotFound(chain: chain))
            }
            return true
        }
    }
#endif
