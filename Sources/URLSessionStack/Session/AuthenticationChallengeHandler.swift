#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Answers the challenges of servers that want to know who is asking.
///
/// On Linux a session poses HTTP Basic challenges only; server trust and client certificates never come here.
public protocol AuthenticationChallengeHandler: Sendable {
    /// Takes the answer to a challenge.
    typealias CompletionHandlerClosure = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

    /// Answers a challenge, at once or later.
    ///
    /// The first call of the completion handler counts. `.useCredential` with a credential sends the request again with it;
    /// anything else, and `.useCredential` without one, leaves the server's 401 as the response. While the answer is
    /// awaited, the fetch's idle and total timeouts run, and its place among the connections is free for others: the answer
    /// may be fetched on the same stack. The request that is sent again stands in line again.
    ///
    /// - Parameters:
    ///   - challenge: The challenge. `previousFailureCount` tells how many credentials the server has turned down.
    ///   - completionHandler: Takes the answer, on any thread.
    func handle(_ challenge: URLAuthenticationChallenge, completionHandler: @escaping CompletionHandlerClosure)
}
