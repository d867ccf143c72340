internal import FoundationEssentials

/// How an exchange ended, in neutral terms; the engine makes the stack's own result of it.
enum Ending: Sendable {
    case whole(HTTP.Response, Data, method: HTTP.Method)
    case noRequest(any Error)
    case refused(HTTP.Refusal)
    case badResponse
    case transport(any Error)
    case cancelled

    /// Whether making the result runs no user code, so that it may be done on the transport's thread.
    var isPlain: Bool {
        if case .whole(let response, _, _) = self { response.status.statusClass == .success } else { false }
    }
}
