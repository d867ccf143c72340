extension Network {
    /// Why a stack cannot be made from a configuration, or a transport cannot follow a fetch's options. Nothing was sent.
    @nonexhaustive
    public enum ConfigurationError: Error, Sendable {
        /// An option, a file or an address is of no use. The text says what to change.
        case invalid(String)
        /// The stack cannot do what was asked, here, for this reason.
        case unsupported(HTTP.Capability, reason: String)
        /// The configuration pins keys, and the stack cannot enforce that.
        case untrusted(ServerTrustError)
    }
}

extension Network.ConfigurationError: CustomStringConvertible {
    /// What is wrong, in a sentence without secrets.
    public var description: String {
        switch self {
        case .invalid(let reason): reason
        case .unsupported(let capability, let reason): "This stack does not support \(capability) here: \(reason)"
        case .untrusted(let error): error.description
        }
    }
}

extension Network.ConfigurationError {
    /// An invalid value in a configuration.
    ///
    /// - Parameter error: What is wrong with it.
    public init(_ error: HTTP.InvalidValue) { self = .invalid(error.reason) }
}
