import Foundation
import NetworkStack

extension Retry.Policy where Metadata == Retry.Metadata<HTTP.Request, HTTP.Response> {
    /// Tries again after what may pass, as curl's --retry does: a name that was not found, a time limit, a server that says
    /// so. It waits for what `Retry-After` says, or a second, then two, four, and so on, ten minutes at most.
    ///
    /// - Parameters:
    ///   - limit: How often.
    ///   - reception: Knows whether content was written, which cannot be taken back.
    ///   - failure: Reads what an attempt ended with.
    /// - Returns: The policy.
    static func passing(
        limit: Int,
        reception: Reception,
        failure: @escaping @Sendable (any Error) -> Failure?
    ) -> Self {
        let longest = 600.0
        let scale: Retry.Backoff.Scale = { base, retry in min(base * pow(2, Double(retry - 1)), longest) }
        return Self.backoff(.exponential(baseDelay: 1, scale: scale, until: .maxRetries(limit)))
            .respectingRetryAfter(upTo: longest)
            .when { error, state, metadata in
                guard state.retryCount < limit, !reception.hasGiven else { return false }
                if let response = metadata.response { return response.status.mayPass }
                let kind = failure(error)?.kind
                return kind == .timeout || kind == .dns
            }
    }
}

extension HTTP.StatusCode {
    /// Whether a server says with it that it may do better later.
    var mayPass: Bool { [408, 429, 500, 502, 503, 504].contains(rawValue) }
}
