public import FoundationEssentials
public import NetworkStack

/// A message cannot be converted between the types of swift-http-types and those of NetworkStack.
@nonexhaustive
public enum HTTPTypesConversionError: DescribedError, Hashable {
    /// The request has no such pseudo-header field, or an empty one: `:scheme`, `:authority` or `:path`.
    case missing(String)
    /// A fetch cannot send this pseudo-header field: `:protocol` (extended CONNECT, RFC 8441).
    case unsupported(String)
    /// The pseudo-header fields or the URL are no target of an http or https request. The text describes what to change, without
    /// secrets.
    case invalidTarget(String)
    /// A `Host` field differs from `:authority` (RFC 9113 section 8.3.1).
    case hostDiffers
    /// The method is no token (RFC 9110 section 9.1).
    case invalidMethod
    /// The name of a field is no token (RFC 9110 section 5.1).
    case invalidName
    /// The value of the field of this name has a byte that the other type cannot have: one that is not UTF-8, or a NUL or a line
    /// break.
    case invalidValue(name: String)
    /// The number is no status code: it is negative, or has more than three digits.
    case invalidStatus(Int)

    /// What is wrong, in a sentence without secrets.
    public var description: String {
        switch self {
        case .missing(let name): "The request has no \(name), which its URL is made of."
        case .unsupported(let name): "A fetch cannot send \(name)."
        case .invalidTarget(let reason): reason
        case .hostDiffers: "The request has a Host field that differs from its :authority (RFC 9113 section 8.3.1)."
        case .invalidMethod: "The method is not a token (RFC 9110 section 9.1)."
        case .invalidName: "The name of a header field is not a token (RFC 9110 section 5.1)."
        case .invalidValue(let name): "The value of \(name) has a NUL, a line break or a byte that is not UTF-8."
        case .invalidStatus(let status): "\(status) is not a status code: it does not have up to three digits."
        }
    }
}
