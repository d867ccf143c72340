internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// A session's events, each taken to its transfer. They come one at a time, on the session's delegate queue; only the
/// question for content comes from within URLSession.
extension TaskTable {
    func received(
        _ response: URLResponse,
        of task: URLSessionTask,
        _ completionHandler: @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        self[task]?.received(response)
        completionHandler(.allow)
    }

    func received(_ data: Data, of task: URLSessionTask) {
        self[task]?.received(data)
    }

    /// A redirect is not followed, unless it is that of a task that somebody else made on the session.
    func redirected(
        _ task: URLSessionTask,
        to request: URLRequest,
        _ completionHandler: @Sendable (URLRequest?) -> Void
    ) {
        guard let transfer = self[task] else { return completionHandler(request) }
        transfer.redirected(completionHandler)
    }

    func sent(_ count: Int64, of task: URLSessionTask) {
        self[task]?.sent(count)
    }

    func needsContent(of task: URLSessionTask, _ completionHandler: @Sendable (InputStream?) -> Void) {
        completionHandler(self[task]?.newContentStream())
    }

    func completed(_ task: URLSessionTask, _ error: (any Error)?) {
        remove(task)?.completed(task, error)
    }

    /// A challenge of a task: a 401 whose response and content have been delivered already.
    ///
    /// Without an answer URLSession would wait for ever (SCF #5457), and `.useCredential` without a credential would end
    /// the process; so the answer is always one of two.
    func received(
        _ challenge: URLAuthenticationChallenge,
        of task: URLSessionTask,
        _ completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let transfer = self[task] else { return completionHandler(.performDefaultHandling, nil) }
        transfer.challenged(challenge, handler: challengeHandler, completionHandler)
    }

    /// A challenge of a connection, which only platforms with the Security framework know.
    func received(
        _ challenge: URLAuthenticationChallenge,
        _ completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let challengeHandler else { return completionHandler(.performDefaultHandling, nil) }
        challengeHandler.handle(challenge, completionHandler: completionHandler)
    }
}
