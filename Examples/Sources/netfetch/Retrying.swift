import Foundation
import NetworkStack

/// Retries as curl's --retry does: after a failed name lookup, a timeout, or a status such as 503. Each waits as long as
/// `Retry-After` asks for; else for `delay`; else for 1 second, then 2, 4 and so on, up to ten minutes.
struct Retrying: Sendable {
    /// How many times.
    var limit = 0
    /// Seconds before each.
    var delay: Double?

    /// The policy for one fetch.
    ///
    /// - Parameters:
    ///   - reception: Knows whether any of the body was delivered, which cannot be undone.
    ///   - failure: Reads what an attempt failed with.
    /// - Returns: The policy.
    func policy(
        reception: Reception,
        failure: @escaping @Sendable (any Error) -> Failure?
    ) -> HTTPRetryPolicy {
        let longest = 600.0
        let scale: Retry.Backoff.Scale = { base, retry in min(base * pow(2, Double(retry - 1)), longest) }
        let backoff: Retry.Backoff =
            if let delay, delay > 0 {
                .constant(delay: delay, until: .maxRetries(limit))
            } else {
                .exponential(baseDelay: 1, scale: scale, until: .maxRetries(limit))
            }
        return HTTPRetryPolicy.backoff(backoff)
            .respectingRetryAfter(upTo: longest)
            .when { [limit] error, state, metadata in
                guard state.retryCount < limit, !reception.hasDelivered else { return false }
                if let response = metadata.response { return response.status.mayPass }
                let kind = failure(error)?.kind
                return kind == .timeout || kind == .dns
            }
    }
}

extension HTTP.StatusCode {
    /// Whether the server may answer otherwise later.
    var mayPass: Bool { [408, 429, 500, 502, 503, 504].contains(rawValue) }
}
