import Foundation
import NetworkStack

/// Votes to try again after what may pass, as curl's --retry does: a name that was not found, a time limit, a server that
/// says so. It waits for what `Retry-After` says, or a second, then two, four, and so on, ten minutes at most.
struct Retrying<TransportError: Error>: HTTPResourceInterceptor {
    typealias Request = HTTP.Request
    typealias Response = HTTP.Response

    let limit: Int
    let reception: Reception

    func interceptFailedTask(
        withIdentifier identifier: Int,
        request: HTTP.Request?,
        data: Data?,
        response: HTTP.Response?,
        error: any Error,
        retryState: Retry.State
    ) -> Retry.Action {
        // What was written cannot be taken back.
        guard retryState.retryCount < limit, !reception.hasGiven, mayPass(response, error) else { return .none }
        let asked = response?.headers[.retryAfter].flatMap { Double($0) } ?? 0
        return .retryAfter(asked > 0 ? min(asked, 600) : min(pow(2, Double(retryState.retryCount)), 600))
    }

    private func mayPass(_ response: HTTP.Response?, _ error: any Error) -> Bool {
        if let response { return response.status.mayPass }
        let failure = (error as? HTTPFetchError<HTTP.Response, TransportError>).flatMap { Failure($0) }
        return failure?.kind == .timeout || failure?.kind == .dns
    }
}

extension HTTP.StatusCode {
    /// Whether a server says with it that it may do better later.
    var mayPass: Bool { [408, 429, 500, 502, 503, 504].contains(rawValue) }
}
