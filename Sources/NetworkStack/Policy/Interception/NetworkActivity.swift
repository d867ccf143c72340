public import Dispatch
public import FoundationEssentials

/// Tells whether anything is being fetched, for an indicator on a screen.
///
/// It is an interceptor: as one of a stack's or a resource's, it counts their tasks; `increment()` and `decrement()` count
/// anything else. Every observer sees `show` and `hide` in turn, beginning with `show`: never one twice, never a count below
/// zero. An observer that is slow may miss a `show` together with the `hide` after it, never the last word.
public final class NetworkActivity: HTTPResourceInterceptor {
    /// The neutral request.
    public typealias Request = HTTP.Request
    /// The neutral response.
    public typealias Response = HTTP.Response

    /// What an indicator is to do.
    public enum State: Hashable, Sendable {
        /// Something is being fetched.
        case show
        /// Nothing is being fetched.
        case hide
    }

    private struct Activity {
        var count = 0
        var observers: [ObjectIdentifier: Observer] = [:]

        var state: State { count > 0 ? .show : .hide }
    }

    private let activity = Lock(Activity())

    /// Makes an activity with nothing under way.
    public init() {}

    /// Whether anything is being fetched.
    public var state: State { activity.withLock { $0.state } }

    /// Something begins.
    public func increment() { change { $0 += 1 } }

    /// Something has ended. Without a beginning, nothing happens.
    public func decrement() { change { $0 = max(0, $0 - 1) } }

    /// Tells every change, and at once that something is under way if it is.
    ///
    /// - Parameters:
    ///   - queue: Where `observer` is called, such as `.main`, in order; `nil` calls it wherever the change is made.
    ///   - observer: Told what the indicator is to do. One call at a time, on a concurrent queue, too.
    /// - Returns: Ends the observation when cancelled: what waits for the queue is not told. It goes on if this is discarded.
    @discardableResult
    public func observe(
        on queue: DispatchQueue? = nil,
        using observer: @escaping @Sendable (State) -> Void
    ) -> any Cancelable {
        let observer = Observer(of: self, on: queue, telling: observer)
        activity.withLock { $0.observers[ObjectIdentifier(observer)] = observer }
        observer.look()
        return observer
    }

    /// Every change, from `show` if something is under way. A slow reader finds the newest.
    public var states: AsyncStream<State> {
        let (changes, continuation) = AsyncStream.makeStream(of: State.self, bufferingPolicy: .bufferingNewest(1))
        let observation = observe { continuation.yield($0) }
        continuation.onTermination = { _ in observation.cancel() }
        let last = Lock(State.hide)
        return AsyncStream {
            // What the reader missed leaves the same word twice in a row, now and then.
            for await state in changes where last.withLock({ $0 != state }) {
                last.withLock { $0 = state }
                return state
            }
            return nil
        }
    }

    /// Requests are none of its business.
    public var interceptsRequests: Bool { false }

    /// Content is none of its business.
    public var interceptsContent: Bool { false }

    /// A task begins.
    public func interceptScheduledTask(withIdentifier identifier: Int, request: HTTP.Request, retryState: Retry.State) {
        increment()
    }

    /// A task has ended.
    public func interceptSuccessfulTask(
        withIdentifier identifier: Int,
        request: HTTP.Request,
        data: Data,
        response: HTTP.Response,
        retryState: Retry.State
    ) { decrement() }

    /// A task has ended; what was never made never began. Votes for nothing.
    public func interceptFailedTask(
        withIdentifier identifier: Int,
        request: HTTP.Request?,
        data: Data?,
        response: HTTP.Response?,
        error: any Error,
        retryState: Retry.State
    ) -> Retry.Action {
        if request != nil { decrement() }
        return .none
    }

    private func change(_ body: (inout Int) -> Void) {
        let observers: [Observer] = activity.withLock { activity in
            let before = activity.state
            body(&activity.count)
            return before == activity.state ? [] : Array(activity.observers.values)
        }
        for observer in observers { observer.look() }
    }

    private func remove(_ observer: Observer) {
        // The dropped reference leaves the lock first: it may hold the last one to somebody else's objects.
        _ = activity.withLock { $0.observers.removeValue(forKey: ObjectIdentifier(observer)) }
    }

    /// One who is told. Two changes at once may reach it in either order, so it reads the state there is each time.
    private final class Observer: Cancelable {
        private struct Told {
            var last = State.hide
            var isTelling = false
            var isCancelled = false
        }

        private let told = Lock(Told())
        private weak let owner: NetworkActivity?
        private let queue: DispatchQueue?
        private let tell: @Sendable (State) -> Void

        init(of owner: NetworkActivity, on queue: DispatchQueue?, telling tell: @escaping @Sendable (State) -> Void) {
            self.owner = owner
            // Serial, whatever the queue is that it leads to.
            self.queue = queue.map { DispatchQueue(label: "NetworkActivity", target: $0) }
            self.tell = tell
        }

        func cancel() {
            told.withLock { $0.isCancelled = true }
            owner?.remove(self)
        }

        /// Tells the state if it is news, unless another thread is telling: that one looks again when it is done.
        func look() {
            while let news = begin() {
                if let queue {
                    queue.async { if !self.told.withLock({ $0.isCancelled }) { self.tell(news) } }
                } else {
                    tell(news)
                }
                told.withLock { $0.isTelling = false }
            }
        }

        private func begin() -> State? {
            told.withLock { told in
                guard !told.isTelling, !told.isCancelled, let state = owner?.state, state != told.last else {
                    return nil
                }
                (told.last, told.isTelling) = (state, true)
                return state
            }
        }
    }
}
