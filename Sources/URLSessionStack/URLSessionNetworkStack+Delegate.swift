public import Foundation
public import NetworkStack

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

extension Network.URLSessionNetworkStack {
    /// Checks a session that the stack is given: its delegate has to be the stack, and its delegate queue serial. Anything else is a
    /// fatal error.
    func check(_ session: URLSession) {
        guard let delegate = session.delegate else {
            fatalError(
                "The session has no delegate. Make it with URLSession(configuration:delegate: network, delegateQueue:)."
            )
        }
        guard delegate === self else {
            fatalError(
                """
                The session's delegate is not this stack. Make it with \
                URLSession(configuration:delegate: network, delegateQueue:), with the stack it is given to.
                """
            )
        }
        guard session.delegateQueue.maxConcurrentOperationCount == 1 else {
            fatalError(
                """
                The session's delegate queue is not serial. Give URLSession no queue, or one whose \
                maxConcurrentOperationCount is 1.
                """
            )
        }
    }
}

/// The delegate methods of an injected session. Only the session calls them.
extension Network.URLSessionNetworkStack {
    /// Receives a response's head.
    public func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        table.urlSession(session, dataTask: dataTask, didReceive: response, completionHandler: completionHandler)
    }

    /// Receives a part of a response's body.
    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        table.urlSession(session, dataTask: dataTask, didReceive: data)
    }

    /// Receives a redirect. The engine follows it, not the session.
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        table.urlSession(
            session,
            task: task,
            willPerformHTTPRedirection: response,
            newRequest: request,
            completionHandler: completionHandler
        )
    }

    /// Receives an authentication challenge of a task.
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        table.urlSession(session, task: task, didReceive: challenge, completionHandler: completionHandler)
    }

    /// Receives a challenge of a connection.
    public func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        table.urlSession(session, didReceive: challenge, completionHandler: completionHandler)
    }

    /// Provides a new stream of the request's body.
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        table.urlSession(session, task: task, needNewBodyStream: completionHandler)
    }

    /// Receives the progress of an upload.
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        table.urlSession(
            session,
            task: task,
            didSendBodyData: bytesSent,
            totalBytesSent: totalBytesSent,
            totalBytesExpectedToSend: totalBytesExpectedToSend
        )
    }

    /// Receives the end of a task.
    public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        table.urlSession(session, task: task, didCompleteWithError: error)
    }

    /// Refuses to cache a response.
    public func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        completionHandler(nil)
    }

    /// Receives the end of the session.
    public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        table.urlSession(session, didBecomeInvalidWithError: error)
    }
}
