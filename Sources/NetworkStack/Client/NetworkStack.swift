public import Dispatch

/// Fetches resources.
///
/// A conformer implements one function, the one that calls back; the asynchronous forms, decoding and queues are written once,
/// below, for all of them. Whoever conforms promises, and every stack of this package is proved to keep:
///
/// 1. The completion is called exactly once, whatever happens: success, failure, a cancel at any moment (before the
///    request is made, while it waits, connects, sends or receives, after the end, twice), the owner dropping the stack,
///    or a shutdown.
/// 2. The completion is never called before `fetch` has returned, and never on a thread the stack needs to go on.
/// 3. A cancel, through the returned ``Cancelable`` or through the task, yields the stack's "cancelled" error, and frees
///    the exchange at once. One transfer's slow name lookup never delays another transfer's cancel, timeout or progress.
/// 4. A stack dropped by its owner finishes its fetches in flight, then frees every resource.
/// 5. The same resource value can be fetched many times, in parallel; the fetches share nothing.
/// 6. Whoever makes a request may fetch on the same stack meanwhile, at any connection limit, without a deadlock.
/// 7. Any number of fetches may be in flight. What cannot start waits in order per host; a busy host never delays another.
public protocol NetworkStack<Resource, Remote>: Sendable {
    /// What is fetched: the stack's unit of work.
    associatedtype Resource: Sendable
    /// The payload as it arrives, such as `Data`.
    associatedtype Remote: Sendable
    /// The request of the underlying client.
    associatedtype Request: Sendable
    /// The response of the underlying client.
    associatedtype Response: Sendable
    /// Every way a fetch can fail.
    associatedtype FetchError: Error

    /// What a fetch calls when it has ended.
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
    /// - Returns: Cancels the fetch. A cancel counts until the completion is called (``CancellableFetchError``).
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
    /// - Returns: The payload and its response.
    /// - Throws: The stack's `FetchError`.
    @inlinable  // so that it is compiled for the stack and the payload it is called with
    public func fetch(resource: Resource) async throws(FetchError) -> Network.Value<Remote, Response> {
        if let cancelled = Self.cancelled(Task.isCancelled) { throw cancelled }
        return try await OneShot.result { oneShot in fetch(resource: resource) { oneShot.fill($0) } }.get()
    }

    /// Fetches a resource and decodes its payload.
    ///
    /// - Parameters:
    ///   - resource: What to fetch.
    ///   - decoding: Makes the model from the payload. It runs in the calling task.
    /// - Returns: The model and the response its payload came with.
    /// - Throws: ``FetchAndDecodeError/fetch(_:)`` when the fetch fails, ``FetchAndDecodeError/decode(_:)`` when decoding does.
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

    /// Fetches a resource, decodes its payload and calls back.
    ///
    /// - Parameters:
    ///   - resource: What to fetch.
    ///   - decoding: Makes the model from the payload. It runs on the queue the completion is called on.
    ///   - completion: Called exactly once, after this function has returned.
    /// - Returns: Cancels the fetch. A cancel counts until the completion is called (``CancellableFetchError``); decoding, once
    ///   begun, is not interrupted.
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

    /// Fetches a resource, decodes its payload and calls back on a queue.
    ///
    /// - Parameters:
    ///   - resource: What to fetch.
    ///   - decoding: Makes the model from the payload. It runs on a queue of the stack, so as not to hold up the one given.
    ///   - queue: Where the completion is called, such as `.main`.
    ///   - completion: Called exactly once, after this function has returned.
    /// - Returns: Cancels the fetch. A cancel counts until the completion is called (``CancellableFetchError``); decoding, once
    ///   begun, is not interrupted.
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

    /// What a fetch that was cancelled fails with, if this one was, and if the stack's error tells cancels.
    @usableFromInline
    static func cancelled(_ isCancelled: Bool) -> FetchError? {
        guard isCancelled else { return nil }
        return (FetchError.self as? any CancellableFetchError.Type)?.cancelled as? FetchError
    }
}

extension Network.Value {
    /// What a fetch-and-decode makes of what was fetched.
    fileprivate func decoded<Model, FetchError>(
        by decoding: ModelDecoding<Model, T, Response>
    ) -> Result<Network.Value<Model, Response>, FetchAndDecodeError<FetchError>> {
        do { return .success(try mapValue(decoding.decode)) } catch { return .failure(.decode(error)) }
    }
}
