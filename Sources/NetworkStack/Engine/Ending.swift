public import FoundationEssentials

/// How an exchange ended, in neutral terms; the engine makes the stack's own result of it.
@usableFromInline
enum Ending: Sendable {
    case whole(HTTP.Response, Data, method: HTTP.Method)
    /// The head of a success came, and what follows goes to a receiver.
    case opened(HTTP.Response)
    case noRequest(any Error)
    indirect case failed(HopFailure, HTTP.FetchContext? = nil)
    case cancelled
    /// The result is kept by the exchange's steps.
    case judged

    /// Whether making the result runs no user code, so that it may be done on the transport's thread.
    var isPlain: Bool {
        switch self {
        case .whole(let response, _, _): response.status.statusClass == .success
        case .opened: true
        default: false
        }
    }

    /// Whether it stands, whatever anybody votes.
    var isFinal: Bool {
        switch self {
        case .cancelled, .judged: true
        case .failed(let failure, _): failure.isFinal
        case .whole, .opened, .noRequest: false
        }
    }
}
