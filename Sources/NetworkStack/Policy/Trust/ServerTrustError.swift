public import FoundationEssentials

/// Why a server was not trusted. No part of the request was sent, and it is never retried.
@nonexhaustive
public enum ServerTrustError: Error, Hashable, Sendable {
    /// The host has no policy, but needs one (``ServerTrustConfiguration/allowNotPinnedDomains``).
    case domainNotPinned(host: String)
    /// The host's policy has expired (``ServerTrustConfiguration/allowExpiredDomainPolicies``).
    case domainPolicyExpired(host: String, domainName: String, expirationDate: Date)
    /// The host is pinned, and the request would be sent over http.
    case insecureScheme(host: String)
    /// The server's certificates did not pass verification.
    case pinVerificationFailed(host: String, PublicKeyPinVerificationError)
    /// The stack cannot pin keys here, for this reason.
    case pinningUnsupported(reason: String)
}

/// Why a server's certificates did not pass.
public enum PublicKeyPinVerificationError: Error, Hashable, Sendable {
    /// They failed ordinary verification; pins were not checked. The number is the verifier's (OpenSSL's `X509_V_ERR_…`), or
    /// `nil` if it gave none.
    case evaluation(verifyResult: Int?, reason: String)
    /// They passed ordinary verification, but no key in the policy's scope is pinned. The keys are those of the verified chain,
    /// the server's first.
    case pinnedHashNotFound(chain: [PublicKeyPin])
}

extension ServerTrustError: DescribedError {
    /// The failure, in a sentence.
    public var description: String {
        switch self {
        case .domainNotPinned(let host): "No pinning policy covers \(host), and hosts without a policy are refused."
        case .domainPolicyExpired(let host, let domainName, let date):
            "The pinning policy of \(domainName), which is that of \(host), expired at \(date.formatted(.iso8601))."
        case .insecureScheme(let host): "\(host) is pinned, so it must be reached over https; the request is http."
        case .pinVerificationFailed(let host, let error): "\(host) is not trusted. \(error)"
        case .pinningUnsupported(let reason): "Public keys cannot be pinned here: \(reason)"
        }
    }
}

extension PublicKeyPinVerificationError: DescribedError {
    /// The failure, in a sentence.
    public var description: String {
        switch self {
        case .evaluation(let result, let reason):
            "Its certificates cannot be verified: \(reason)\(result.map { " (\($0))" } ?? "")."
        case .pinnedHashNotFound(let chain):
            "No certificate of its verified chain has a pinned key. The keys, the server's first: "
                + chain.map(\.description).joined(separator: ", ") + "."
        }
    }
}

/// A request that went out although it would not pass, because the configuration only reports or allows it.
public struct ServerTrustReport: Hashable, Sendable {
    /// The origin of the request.
    public let origin: HTTP.Origin
    /// The error with which an enforced configuration would have refused the request.
    public let error: ServerTrustError

    /// Makes a report.
    ///
    /// - Parameters:
    ///   - origin: The origin of the request.
    ///   - error: The error with which an enforced configuration would have refused the request.
    public init(origin: HTTP.Origin, error: ServerTrustError) {
        self.origin = origin
        self.error = error
    }
}
