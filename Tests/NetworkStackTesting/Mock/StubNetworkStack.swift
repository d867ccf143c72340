public import NetworkStack

/// A stack of any kind that answers with a closure, for code on `NetworkStack` with resources that need not be HTTP. For HTTP,
/// use ``MockNetworkStack``.
///
///     let stub = StubNetworkStack<Key, Int, Void, Void, Failure>(cancelled: .cancelled) { key in
///         .success(.init(value: 7, response: ()))
///     }
public final class StubNetworkStack<
    Resource: Sendable,
    Remote: Sendable,
    Request: Sendable,
    Response: Sendable,
    FetchError: Error
>: NetworkStack {
    /// The result of a fetch.
    public typealias Outcome = Result<Network.Value<Remote, Response>, FetchError>

    private let cancelled: FetchError
    private let answer: @Sendable (Resource) async -> Outcome
    private let fetched = Lock<[Resource]>([])

    /// Makes a stack.
    ///
    /// - Parameters:
    ///   - cancelled: The error of a cancelled fetch.
    ///   - answer: Makes the result of a fetch, in a task that is cancelled with the fetch.
    public init(cancelled: FetchError, answer: @escaping @Sendable (Resource) async -> Outcome) {
        self.cancelled = cancelled
        self.answer = answer
    }

    /// The resources that were fetched so far, in order.
    public var resources: [Resource] { fetched.withLock { $0 } }

    /// Fetches a resource.
    ///
    /// - Parameters:
    ///   - resource: What to fetch.
    ///   - completion: Called exactly once, in a separate task.
    /// - Returns: Cancels the fetch. It is honoured until the completion runs.
    @discardableResult
    public func fetch(resource: Resource, completion: @escaping Completion<Remote>) -> any Cancelable {
        fetched.withLock { $0.append(resource) }
        let (outcome, returned) = (OneShot<Outcome>(), OneShot<Void>())
        defer { returned.fill(()) }
        let task = Task { [answer] in outcome.fill(await answer(resource)) }
        let fetch = StubFetch(task: task) { [cancelled] in outcome.fill(.failure(cancelled)) }
        Task { [cancelled] in
            await returned.take()
            let outcome = await outcome.take()
            completion(fetch.isCancelled ? .failure(cancelled) : outcome)
        }
        return fetch
    }
}

/// Cancels a stub's fetch.
private final class StubFetch: Cancelable {
    private let task: Task<Void, Never>
    private let end: @Sendable () -> Void
    private let cancelled = Lock(false)

    /// Whether `cancel` was called.
    var isCancelled: Bool { cancelled.withLock { $0 } }

    init(task: Task<Void, Never>, end: @escaping @Sendable () -> Void) {
        self.task = task
        self.end = end
    }

    func cancel() {
        cancelled.withLock { $0 = true }
        // The result is set first: a cancelled task may return another one.
        end()
        task.cancel()
    }
}
