internal import Dispatch
internal import Foundation
internal import NetworkStack

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Receives the events of a task that carries its transfer.
protocol TaskReceiver: AnyObject, Sendable {
    func received(_ response: URLResponse)
    func received(_ data: Data)
    func redirected(_ completionHandler: @Sendable (URLRequest?) -> Void)
    func sent(_ count: Int64)
    func newContentStream() -> InputStream
    func challenged(
        _ challenge: URLAuthenticationChallenge,
        _ completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    )
    func completed(_ task: URLSessionTask, _ error: (any Error)?)
}

/// Maps each task of a session to its receiver, and knows whether more tasks may be made.
///
/// It is the delegate of a session that the stack makes; a stack that is the delegate itself passes every event on to it. A
/// session retains its delegate until it is invalidated. The table holds neither the session nor the stack, so it keeps neither
/// alive.
final class TaskTable: NSObject, Sendable {
    private struct State {
        var receivers: [Int: any TaskReceiver] = [:]
        var isShutDown = false
    }

    /// The queue on which transfers wait for a place, read their bodies and start.
    let steering = DispatchQueue(label: "network-stack.urlsession")
    /// The queue on which tasks are cancelled and challenges answered, one at a time, because both at once could crash the
    /// process.
    let interrupting = DispatchQueue(label: "network-stack.urlsession.interrupting")
    /// Answers challenges, or `nil` if the stack has no handler.
    let challengeHandler: (any AuthenticationChallengeHandler)?

    private let state = Lock(State())
    private let invalidation = AsyncEvent()

    init(challengeHandler: (any AuthenticationChallengeHandler)?) {
        self.challengeHandler = challengeHandler
        super.init()
    }

    /// Whether no more tasks may be made.
    var isShutDown: Bool { state.withLock { $0.isShutDown } || invalidation.hasFired }

    /// Prevents the making of more tasks.
    func shutDown() { state.withLock { $0.isShutDown = true } }

    // MARK: Tasks

    subscript(task: URLSessionTask) -> (any TaskReceiver)? {
        let identifier = task.taskIdentifier
        return state.withLock { $0.receivers[identifier] }
    }

    func insert(_ receiver: any TaskReceiver, for task: URLSessionTask) {
        let identifier = task.taskIdentifier
        state.withLock { $0.receivers[identifier] = receiver }
    }

    func remove(_ task: URLSessionTask) -> (any TaskReceiver)? {
        let identifier = task.taskIdentifier
        return state.withLock { $0.receivers.removeValue(forKey: identifier) }
    }

    // MARK: The end

    /// Waits until the session has released everything.
    func invalid() async { await invalidation.wait() }
}

/// The session's events, each passed to the task's receiver. They arrive one at a time on the session's delegate queue. Only the
/// request for a body stream comes from inside URLSession.
extension TaskTable: URLSessionDataDelegate {
    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        self[dataTask]?.received(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        self[dataTask]?.received(data)
    }

    /// A redirect is not followed, unless other code that uses the session made the task.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard let receiver = self[task] else { return completionHandler(request) }
        receiver.redirected(completionHandler)
    }

    /// A challenge of a task: a 401 whose response and body were already delivered.
    ///
    /// Without an answer URLSession would never end the task (swift-corelibs-foundation #5457), and `.useCredential` without a
    /// credential would crash the process. So the answer is always one of two.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let receiver = self[task] else { return completionHandler(.performDefaultHandling, nil) }
        receiver.challenged(challenge, completionHandler)
    }

    /// A challenge of a connection, which only platforms with the Security framework have.
    func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let challengeHandler else { return completionHandler(.performDefaultHandling, nil) }
        challengeHandler.handle(challenge, completionHandler: completionHandler)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        completionHandler(self[task]?.newContentStream())
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        self[task]?.sent(bytesSent)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        remove(task)?.completed(task, error)
    }

    /// The session has released everything.
    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) { invalidation.fire() }
}
