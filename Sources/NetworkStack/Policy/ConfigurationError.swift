internal import FoundationEssentials

extension Network {
    /// Why a stack cannot be made from a configuration, or why a transport cannot follow a fetch's options. Nothing was sent.
    @nonexhaustive
    public enum ConfigurationError: Error, Sendable {
        /// An option, a file or an address is invalid. The text describes what to change.
        case invalid(String)
        /// The stack cannot do this here, for this reason.
        case unsupported(HTTP.Capability, reason: String)
        /// The configuration pins keys, and the stack cannot enforce pins.
        case untrusted(ServerTrustError)
    }
}

extension Network.ConfigurationError: DescribedError {
    /// The fault, in a sentence without secrets.
    public var description: String {
        switch self {
        case .invalid(let reason): reason
        case .unsupported(let capability, let reason): "This stack does not support \(capability) here: \(reason)"
        case .untrusted(let error): error.description
        }
    }
}

extension Network.ConfigurationError {
    /// Converts the error of an invalid value.
    ///
    /// - Parameter error: The error.
    public init(_ error: HTTP.InvalidValue) { self = .invalid(error.reason) }
}
