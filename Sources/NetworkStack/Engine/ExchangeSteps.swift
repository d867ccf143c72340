/// What an exchange needs of the stack and the resource it serves, whose types it does not know. One per fetch.
///
/// Everything that may run the user's code is called on the engine's queue, but for the first attempt's making and its
/// scheduling, and one call after the other: only the end of an attempt that is cut short is told at once.
protocol ExchangeSteps: AnyObject, Sendable {
    /// How the fetch is carried out.
    var options: Shared<HTTP.Options> { get }
    /// What it shares with others.
    var context: ExchangeContext { get }
    /// Whether anybody hears of attempts.
    var isIntercepted: Bool { get }
    /// Where the content of a success goes, if it is not to be collected.
    var receiver: StreamReceiver? { get }

    /// An identifier for a new attempt.
    func nextIdentifier() -> Int

    /// Makes the request, if that is done at once.
    func makeAtOnce(_ attempt: Attempt) -> Result<HTTP.Request, any Error>?

    /// Makes the request and hands it over, afresh for every attempt.
    func make(_ attempt: Attempt, _ handler: @escaping MadeRequestHandler) -> any Cancelable

    /// Tells that the transfer is about to start.
    func schedule(_ attempt: Attempt)

    /// Starts a hop on the transport.
    func start(_ hop: HTTPHop, for exchange: Exchange, number: Int) -> any HTTPTransfer

    /// Makes the stack's own result of an ending, and keeps it.
    ///
    /// - Returns: Whether it is a success.
    func judge(_ ending: Ending) -> Bool

    /// Whether anybody takes part in the content of a success.
    var interceptsContent: Bool { get }

    /// Has the content of the success that is kept transformed, and keeps what came of it.
    ///
    /// - Parameter handler: Takes whether it is a success still. Called once.
    /// - Returns: Cancels the transforming.
    func transform(_ handler: @escaping @Sendable (Bool) -> Void) -> any Cancelable

    /// Tells of the success that is kept.
    func succeed(_ attempt: Attempt)

    /// Tells of the failure that is kept, and has it voted on.
    ///
    /// - Returns: What the votes come to, and the failure.
    func vote(_ attempt: Attempt) -> (Retry.Action, any Error)

    /// Puts the end of all retries in the place of the failure that is kept.
    func giveUp(_ error: Retry.Error, _ state: Retry.State)

    /// The stack's own error of an ending that befell a stream.
    func streamError(of ending: Ending) -> any Error

    /// Calls the completion with the result of an ending; first, if an attempt has not been told its end, tells it.
    func complete(_ ending: Ending, telling attempt: Attempt?)
}

/// What a fetch does not need that nobody intercepts, and whose content is collected.
extension ExchangeSteps {
    var isIntercepted: Bool { false }
    var receiver: StreamReceiver? { nil }
    var interceptsContent: Bool { false }

    func nextIdentifier() -> Int { 0 }

    func makeAtOnce(_ attempt: Attempt) -> Result<HTTP.Request, any Error>? { nil }

    func schedule(_ attempt: Attempt) {}

    func judge(_ ending: Ending) -> Bool { false }

    func transform(_ handler: @escaping @Sendable (Bool) -> Void) -> any Cancelable { EmptyCancelable() }

    func succeed(_ attempt: Attempt) {}

    func vote(_ attempt: Attempt) -> (Retry.Action, any Error) { (.none, CancellationError()) }

    func giveUp(_ error: Retry.Error, _ state: Retry.State) {}

    func streamError(of ending: Ending) -> any Error { CancellationError() }
}
