public import Foundation
public import NetworkStack

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// The stack as the delegate of the session it was given. The session calls these; nobody else should.
extension Network.URLSessionNetworkStack {
    /// A response's head came.
    public func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        table.urlSession(session, dataTask: dataTask, didReceive: response, completionHandler: completionHandler)
    }

    /// Content came.
    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        table.urlSession(session, dataTask: dataTask, didReceive: data)
    }

    /// A redirect came. The engine follows it, not the session.
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

    /// A server wants to know who is asking.
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        table.urlSession(session, task: task, didReceive: challenge, completionHandler: completionHandler)
    }

    /// A connection poses a challenge.
    public func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        table.urlSession(session, didReceive: challenge, completionHandler: completionHandler)
    }

    /// The content of a request is to be sent from the start.
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        table.urlSession(session, task: task, needNewBodyStream: completionHandler)
    }

    /// Content of a request went out.
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

    /// A task has ended.
    public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        table.urlSession(session, task: task, didCompleteWithError: error)
    }

    /// A response could be cached. None is.
    public func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        completionHandler(nil)
    }

    /// The session has let go of everything.
    public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        table.urlSession(session, didBecomeInvalidWithError: error)
    }
}
