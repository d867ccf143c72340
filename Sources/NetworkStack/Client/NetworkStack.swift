public import Dispatch

/// Fetches resources.
///
/// A conformer implements one function, the one with a completion. The asynchronous forms, decoding and queues are extensions,
/// below. A conformer has to keep this contract; the conformance suite tests it for every stack of this package:
///
/// 1. The completion is called exactly once, whatever happens: success, failure, a cancel at any moment (before the
///    request is made, while it waits, connects, sends or receives, after the end, twice), the release of the stack,
///    or a shutdown.
/// 2. The completion is never called before `fetch` has returned, and never on a thread that the stack needs to continue.
/// 3. A cancel, through the returned ``Cancelable`` or through the task, ends the fetch with the stack's "cancelled" error and
///    frees the exchange at once. One transfer's slow name lookup never delays another transfer's cancel, timeout or progress.
/// 4. After its owner has released it, a stack finishes its fetches in flight, then frees every resource.
/// 5. The same resource value can be fetched many times, in parallel; the fetches share nothing.
/// 6. The code that makes a request may itself fetch on the same stack, at any connection limit, without a deadlock.
/// 7. Any number of fetches may be in flight. Those that cannot start wait in order per host; a busy host never delays another.
public protocol NetworkStack<Resource, Remote>: Sendable {
    /// What is fetched: the stack's unit of work.
    associatedtype Resource: Sendable
    /// The type of the delivered body, such as `Data`.
    associatedtype Remote: Sendable
    /// The request of the underlying client.
    associatedtype Request: Sendable
    /// The response of the underlying client.
    associatedtype Response: Sendable
    /// The error of every fetch.
    associatedtype FetchError: Error

    /// Called when a fetch has ended.
    typealias Completion<T> = @Sendable (Result<Network.Value<T, Response>, FetchError>) -> Void

    /// Fetches a resource.
    ///
    /// - Parameters:
    ///   - resource: What to fetch.
    ///   - completion: Called exactly once, on a queue of the stack, after this function has returned.
    /// - Returns: Cancels the fetch. The fetch goes on if it is discarded.
    @discardableResult
    func fetch(resource: Resource, completion: @escaping Completion<Remote>) -> any Cancelable
}

extension NetworkStack {
    /// Fetches a resource and calls back on a queue.
    ///
    /// - Parameters:
    ///   - resource: What to fetch.
    ///   - queue: Where the completion is called, such as `.main`.
    ///   - completion: Called exactly once, after this function has returned.
    /// - Returns: Cancels the fetch. Cancelling is honoured until the completion runs (``CancellableFetchError``).
    @discardableResult
    public func fetch(
        resource: Resource,
        on queue: DispatchQueue,
        completion: @escaping Completion<Remote>
    ) -> any Cancelable {
        let fetching = CancelableBag()
        fetching += fetch(resource: resource) { result in
            queue.async { completion(Self.cancelled(fetching.isCancelled).map(Result.failure) ?? result) }
        }
        return fetching
    }

    /// Fetches a resource.
    ///
    /// Cancelling the task cancels the fetch, which then throws the stack's "cancelled" error.
    ///
    /// - Parameter resource: What to fetch.
    /// - Returns: The body and its response.
    /// - Throws: The stack's `FetchError`.
    @inlinable  // so that it is compiled for the stack and the payload it is called with
    public func fetch(resource: Resource) async throws(FetchError) -> Network.Value<Remote, Response> {
        if let cancelled = Self.cancelled(Task.isCancelled) { throw cancelled }
        return try await OneShot.result { oneShot in fetch(resource: resource) { oneShot.fill($0) } }.get()
    }

    /// Fetches a resource and decodes its body.
    ///
    /// - Parameters:
    ///   - resource: What to fetch.
    ///   - decoding: Makes the model from the body. It runs in the calling task.
    /// - Returns: The model and the response.
    /// - Throws: ``FetchAndDecodeError/fetch(_:)`` if the fetch fails, ``FetchAndDecodeError/decode(_:)`` if decoding fails.
    public func fetchAndDecode<T>(
        resource: Resource,
        decoding: ModelDecoding<T, Remote, Response>
    ) async throws(FetchAndDecodeError<FetchError>) -> Network.Value<T, Response> {
        let fetched: Network.Value<Remote, Response>
        do { fetched = try await fetch(resource: resource) } catch { throw .fetch(error) }
        let decoded: Result<_, FetchAndDecodeError<FetchError>> = fetched.decoded(by: decoding)
        if let cancelled = Self.cancelled(Task.isCancelled) { throw .fetch(cancelled) }
        return try decoded.get()
    }

    /// Fetches a resource, decodes its body and calls back.
    ///
    /// - Parameters:
    ///   - resource: What to fetch.
    ///   - decoding: Makes the model from the body. It runs on the queue on which the completion is called.
    ///   - completion: Called exactly once, after this function has returned.
    /// - Returns: Cancels the fetch. Cancelling is honoured until the completion runs (``CancellableFetchError``); decoding that
    ///   has begun is not interrupted.
    @discardableResult
    public func fetchAndDecode<T>(
        resource: Resource,
        decoding: ModelDecoding<T, Remote, Response>,
        completion: @escaping @Sendable (Result<Network.Value<T, Response>, FetchAndDecodeError<FetchError>>) -> Void
    ) -> any Cancelable {
        let fetching = CancelableBag()
        fetching += fetch(resource: resource) { result in
            let decoded = result.mapError(FetchAndDecodeError.fetch).flatMap { $0.decoded(by: decoding) }
            completion(Self.cancelled(fetching.isCancelled).map { .failure(.fetch($0)) } ?? decoded)
        }
        return fetching
    }

    /// Fetches a resource, decodes its body and calls back on a queue.
    ///
    /// - Parameters:
    ///   - resource: What to fetch.
    ///   - decoding: Makes the model from the body. It runs on a queue of the stack, so that it does not block the given queue.
    ///   - queue: Where the completion is called, such as `.main`.
    ///   - completion: Called exactly once, after this function has returned.
    /// - Returns: Cancels the fetch. Cancelling is honoured until the completion runs (``CancellableFetchError``); decoding that
    ///   has begun is not interrupted.
    @discardableResult
    public func fetchAndDecode<T: Sendable>(
        resource: Resource,
        decoding: ModelDecoding<T, Remote, Response>,
        on queue: DispatchQueue,
        completion: @escaping @Sendable (Result<Network.Value<T, Response>, FetchAndDecodeError<FetchError>>) -> Void
    ) -> any Cancelable {
        let fetching = CancelableBag()
        fetching += fetchAndDecode(resource: resource, decoding: decoding) { result in
            queue.async { completion(Self.cancelled(fetching.isCancelled).map { .failure(.fetch($0)) } ?? result) }
        }
        return fetching
    }

    /// The error of a cancelled fetch, if this one was cancelled and the stack's error has a case for it.
    @usableFromInline
    static func cancelled(_ isCancelled: Bool) -> FetchError? {
        guard isCancelled else { return nil }
        return (FetchError.self as? any CancellableFetchError.Type)?.cancelled as? FetchError
    }
}

extension Network.Value {
    /// The result of a fetch-and-decode.
    fileprivate func decoded<Model, FetchError>(
        by decoding: ModelDecoding<Model, T, Response>
    ) -> Result<Network.Value<Model, Response>, FetchAndDecodeError<FetchError>> {
        do { return .success(try mapValue(decoding.decode)) } catch { return .failure(.decode(error)) }
    }
}
