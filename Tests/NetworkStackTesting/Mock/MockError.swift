import FoundationEssentials
public import NetworkStack

/// Why a ``MockNetworkStack`` has no answer. A fetch reports it as `transport`.
public enum MockError: HTTPTransportError, DescribedError, Hashable {
    /// There is no answer for the request.
    case endpointNotMocked(method: HTTP.Method, path: String)
    /// The endpoint's file does not exist.
    case mockDataMissing(file: String)
    /// All answers of a sequence were used.
    case sequenceExhausted(method: HTTP.Method, path: String)

    /// A kind that no retry policy considers temporary.
    public var kind: HTTP.FailureKind { .other }
    /// The request counts as sent.
    public var phase: HTTP.Phase? { .waiting }

    /// What to do about it, in a sentence.
    public var description: String {
        switch self {
        case .endpointNotMocked(let method, let path):
            "No answer is configured for \(method) \(path): call answer(…), or make its endpoint a MockEndpoint."
        case .mockDataMissing(let file): "The mock's file \(file) does not exist."
        case .sequenceExhausted(let method, let path):
            "\(method) \(path) was requested more often than its sequence has answers."
        }
    }
}
