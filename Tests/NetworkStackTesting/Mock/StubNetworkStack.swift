public import NetworkStack

/// A stack of any kind that answers what a closure says: for code that is written on `NetworkStack` and resources of its own,
/// which need not be HTTP's. For HTTP, ``MockNetworkStack`` does more.
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
    /// What a fetch ends in.
    public typealias Outcome = Result<Network.Value<Remote, Response>, FetchError>

    private let cancelled: FetchError
    private let answer: @Sendable (Resource) async -> Outcome
    private let fetched = Lock<[Resource]>([])

    /// Makes a stack.
    ///
    /// - Parameters:
    ///   - cancelled: What a cancelled fetch fails with.
    ///   - answer: Makes the outcome of a fetch, in a task that a cancel cancels.
    public init(cancelled: FetchError, answer: @escaping @Sendable (Resource) async -> Outcome) {
        self.cancelled = cancelled
        self.answer = answer
    }

    /// The resources that were asked for so far, in order.
    public var resources: [Resource] { fetched.withLock { $0 } }

    /// Fetches a resource.
    ///
    /// - Parameters:
    ///   - resource: What to fetch.
    ///   - completion: Called exactly once, in a task of its own.
    /// - Returns: Cancels the fetch. That counts until the completion is called.
    @discardableResult
    public func fetch(resource: Resource, completion: @escaping Completion<Remote>) -> any Cancelable {
        fetched.withLock { $0.append(resource) }
        let (outcome, returned) = (Handover<Outcome>(), Handover<Void>())
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

/// Gives a stub's fetch up.
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
        // The outcome first: a cancelled task may answer in its own way.
        end()
        task.cancel()
    }
}
