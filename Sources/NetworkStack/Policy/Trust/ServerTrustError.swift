public import FoundationEssentials

/// Why a server was not trusted with a request. Nothing of the request was sent, and it is never sent again.
@nonexhaustive
public enum ServerTrustError: Error, Hashable, Sendable {
    /// No policy is for the host, and there must be one (``ServerTrustConfiguration/allowNotPinnedDomains``).
    case domainNotPinned(host: String)
    /// The host's policy has expired, and must not have (``ServerTrustConfiguration/allowExpiredDomainPolicies``).
    case domainPolicyExpired(host: String, domainName: String, expirationDate: Date)
    /// The host must be proved by its key, and the request is in the clear.
    case insecureScheme(host: String)
    /// The server's certificates were looked at and did not pass.
    case pinVerificationFailed(host: String, PublicKeyPinVerificationError)
    /// The stack cannot pin keys here, so it does not try; the text says why.
    case pinningUnsupported(reason: String)
}

/// What is wrong with a server's certificates.
public enum PublicKeyPinVerificationError: Error, Hashable, Sendable {
    /// They fail ordinary verification, before any pin is looked at. The number is the verifier's own (OpenSSL's
    /// `X509_V_ERR_…`), or `nil` if it gave none.
    case evaluation(verifyResult: Int?, reason: String)
    /// They pass ordinary verification, and none that counts has a pinned key. These are the keys of the verified chain, the
    /// server's own first.
    case pinnedHashNotFound(chain: [PublicKeyPin])
}

extension ServerTrustError: CustomStringConvertible {
    /// What happened, in a sentence.
    public var description: String {
        switch self {
        case .domainNotPinned(let host): "No pinning policy is for \(host), and none is trusted without one."
        case .domainPolicyExpired(let host, let domainName, let date):
            "The pinning policy of \(domainName), which is that of \(host), expired at \(date.formatted(.iso8601))."
        case .insecureScheme(let host): "\(host) must be proved by its key, which takes https; the request is http."
        case .pinVerificationFailed(let host, .evaluation(let result, let reason)):
            "The certificates of \(host) cannot be verified: \(reason)\(result.map { " (\($0))" } ?? "")."
        case .pinVerificationFailed(let host, .pinnedHashNotFound(let chain)):
            """
            No certificate that \(host) proved itself with has a pinned key. Its chain, its own first: \
            \(chain.map(\.description).joined(separator: ", ")).
            """
        case .pinningUnsupported(let reason): "Public keys cannot be pinned here: \(reason)"
        }
    }
}

/// What would not have passed, and did, because the configuration only reports or allows it.
public struct ServerTrustReport: Hashable, Sendable {
    /// Whom the request went to.
    public let origin: HTTP.Origin
    /// What an enforced configuration would have refused the request with.
    public let error: ServerTrustError

    /// Describes an event.
    ///
    /// - Parameters:
    ///   - origin: Whom the request went to.
    ///   - error: What an enforced configuration would have refused the request with.
    public init(origin: HTTP.Origin, error: ServerTrustError) {
        self.origin = origin
        self.error = error
    }
}
