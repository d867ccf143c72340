/// What ``FetchLoop`` calls for the resource and the stack, whose types it does not know. One per fetch.
///
/// What may run user code is called on the engine's queue, one call after the other, with four exceptions. The first attempt's
/// making and scheduling run within `fetch`. What follows a handler that is called later runs on the handler's thread.
/// HTTPInterceptors run in a task. The end of an attempt that is cut short may be reported while another call runs.
protocol FetchDelegate: AnyObject, Sendable {
    /// How the fetch is carried out.
    var options: Shared<HTTP.Options> { get }
    /// What it shares with others.
    var context: EngineContext { get }
    /// Whether interceptors take part in attempts.
    var isIntercepted: Bool { get }
    /// Whether the completion resumes a task, and so runs no user code.
    var resumesTask: Bool { get }
    /// Takes the events for listeners, if there are any.
    var trace: FetchTrace? { get }
    /// Where the body of a success goes, if it is not collected.
    var receiver: StreamReceiver? { get }

    /// Makes the request, if that is done at once.
    func makeAtOnce(_ attempt: Attempt) -> Result<HTTP.Request, any Error>?

    /// Makes the request and hands it over, afresh for every attempt.
    func make(_ attempt: Attempt, _ handler: @escaping MadeRequestHandler) -> any Cancelable

    /// Whether HTTPInterceptors run around attempts.
    var interceptsAttempts: Bool { get }

    /// Runs the HTTPInterceptors around an attempt, which the last `next` makes.
    func intercept(_ request: HTTP.Request, _ last: HTTP.Next) async throws -> HTTP.Reply

    /// Keeps the request that they send in the attempt with this number.
    func keep(_ sent: HTTP.Request, of attempt: Int)

    /// What they get of the ending of an attempt.
    func reply(to ending: Ending) -> Result<HTTP.Reply, any Error>

    /// Reports to the interceptors that the transfer is about to start.
    func reportScheduled(_ attempt: Attempt)

    /// Starts a hop on the transport.
    func start(_ hop: HTTPHop, for loop: FetchLoop, number: Int) -> any HTTPTransfer

    /// What is kept of the error of an attempt that another follows.
    func abridged(_ error: any Error) -> any Error

    /// Makes the stack's result of an ending, and stores it.
    ///
    /// - Returns: Whether it is a success.
    func storeResult(of ending: Ending) -> Bool

    /// Whether an interceptor transforms the body of a success.
    var interceptsBody: Bool { get }

    /// Transforms the body of the stored success, and stores the result.
    ///
    /// - Parameter handler: Takes whether it is still a success. Called once.
    /// - Returns: Cancels the transformation.
    func transform(_ handler: @escaping @Sendable (Bool) -> Void) -> any Cancelable

    /// Reports the stored success to the interceptors.
    func reportSuccess(_ attempt: Attempt)

    /// Reports the stored failure to the interceptors.
    ///
    /// - Returns: What their votes come to, and the failure.
    func vote(_ attempt: Attempt) -> (Retry.Action, any Error)

    /// Stores the end of all retries in place of the failure.
    func giveUp(_ error: Retry.Error, _ state: Retry.State)

    /// The stack's error of an ending that a stream comes to.
    func streamError(of ending: Ending) -> any Error

    /// Calls the completion with the result of an ending; before that, reports an attempt's end to the interceptors, if one is
    /// given.
    func complete(_ ending: Ending, reporting attempt: Attempt?)
}

/// Takes a made request in neutral terms, and returns what cancels its fetch.
@usableFromInline
typealias MadeRequestHandler = @Sendable (Result<HTTP.Request, any Error>) -> any Cancelable
