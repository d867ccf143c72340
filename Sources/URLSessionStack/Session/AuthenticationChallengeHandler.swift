#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Answers the authentication challenges of servers.
///
/// On Linux a session has HTTP Basic challenges only; server trust and client certificates never reach a handler.
public protocol AuthenticationChallengeHandler: Sendable {
    /// Takes the answer to a challenge.
    typealias CompletionHandlerClosure = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

    /// Answers a challenge, at once or later.
    ///
    /// Only the first call of the completion handler counts. `.useCredential` with a credential repeats the request with it.
    /// Anything else, `.useCredential` without a credential included, leaves the server's 401 as the response. While the answer
    /// is awaited, the fetch's idle, attempt and total timeouts run. Its connection is free for other fetches, so a handler may fetch on
    /// the same stack. The repeated request queues again.
    ///
    /// - Parameters:
    ///   - challenge: The challenge. `previousFailureCount` is the number of credentials that the server has rejected.
    ///   - completionHandler: Takes the answer, on any thread.
    func handle(_ challenge: URLAuthenticationChallenge, completionHandler: @escaping CompletionHandlerClosure)
}
