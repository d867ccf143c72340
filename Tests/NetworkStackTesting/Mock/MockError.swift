public import NetworkStack

/// Why a ``MockNetworkStack`` has no answer. A fetch fails with it as `transport`.
public enum MockError: HTTPTransportError, Hashable, CustomStringConvertible {
    /// Nothing says what to answer to the request.
    case endpointNotMocked(method: HTTP.Method, path: String)
    /// The endpoint names a file that is not there.
    case mockDataMissing(file: String)
    /// Every answer of a sequence was given.
    case sequenceExhausted(method: HTTP.Method, path: String)

    /// A kind that no retry policy takes for a passing failure.
    public var kind: HTTP.FailureKind { .other }
    /// The request was sent, as far as a mock sends.
    public var phase: HTTP.Phase? { .waiting }

    /// What to do about it, in a sentence.
    public var description: String {
        switch self {
        case .endpointNotMocked(let method, let path):
            "Nothing says what to answer to \(method) \(path): call answer(…), or make its endpoint a MockEndpoint."
        case .mockDataMissing(let file): "The mock's file \(file) is not there."
        case .sequenceExhausted(let method, let path):
            "\(method) \(path) was asked for more often than there are answers in its sequence."
        }
    }
}
