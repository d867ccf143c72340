internal import FoundationEssentials

/// Takes a made request in neutral terms, and answers what it came to.
@usableFromInline
typealias MadeRequestHandler = @Sendable (Result<HTTP.Request, any Error>) -> any Cancelable

/// What most fetches are: nobody intercepts them, their request is made at once, and their content is collected. What depends on
/// the stack's types is three closures, made where those are known and compiled for them (``HTTPEngine/fetch(_:completion:)``).
@usableFromInline
final class PlainFetching: ExchangeSteps {
    let context: ExchangeContext
    let options: Shared<HTTP.Options>
    private let making: @Sendable () -> Result<HTTP.Request, any Error>?
    private let starting: @Sendable (HTTPHop, Exchange, Int) -> any HTTPTransfer
    private let completing: @Sendable (Ending, _ isSuccess: Bool) -> Void

    /// Serves one fetch.
    ///
    /// - Parameters:
    ///   - context: What it shares with others.
    ///   - options: How it is carried out; `nil` for the stack's way.
    ///   - making: Makes the request.
    ///   - starting: Starts a hop, given its number, for an exchange.
    ///   - completing: Completes with an ending, which is a success or not.
    @usableFromInline
    init(
        context: ExchangeContext,
        options: Shared<HTTP.Options>?,
        making: @escaping @Sendable () -> Result<HTTP.Request, any Error>?,
        starting: @escaping @Sendable (HTTPHop, Exchange, Int) -> any HTTPTransfer,
        completing: @escaping @Sendable (Ending, _ isSuccess: Bool) -> Void
    ) {
        self.context = context
        self.options = options ?? context.options
        self.making = making
        self.starting = starting
        self.completing = completing
    }

    /// Begins the fetch.
    ///
    /// - Returns: Cancels it.
    @usableFromInline
    func begin() -> any Cancelable { context.begin(self) }

    func makeAtOnce(_ attempt: Attempt) -> Result<HTTP.Request, any Error>? { making() }

    /// Nobody asks, where the request is made at once.
    func make(_ attempt: Attempt, _ handler: @escaping MadeRequestHandler) -> any Cancelable {
        handler(makeAtOnce(attempt) ?? .failure(CancellationError()))
    }

    func start(_ hop: HTTPHop, for exchange: Exchange, number: Int) -> any HTTPTransfer {
        starting(hop, exchange, number)
    }

    func complete(_ ending: Ending, telling attempt: Attempt?) {
        guard case .whole(let response, let data, let method) = ending, response.status.statusClass == .success,
            !data.isEmpty || options.value.allowsEmptyBody(status: response.status, method: method)
        else { return completing(ending, false) }
        completing(ending, true)
    }
}

extension Result where Success: HTTPRequestConvertible, Failure == any Error {
    /// A made request in neutral terms.
    @inlinable var neutral: Result<HTTP.Request, any Error> {
        flatMap { request in Result<HTTP.Request, any Error> { try request.httpRequest() } }
    }
}
