public import Dispatch
public import FoundationEssentials

/// Reports whether any fetch is in flight, for an indicator on a screen.
///
/// It is an interceptor: as one of a stack's or a resource's, it counts their tasks. `increment()` and `decrement()` count
/// anything else. A stream or a download counts until its head has come, not while its body arrives; call `increment()` and
/// `decrement()` around that.
///
/// Every observer gets `show` and `hide` alternately, beginning with `show`. A slow observer may miss a `show` and the `hide` after
/// it, but never the latest state.
public final class NetworkActivity: HTTPResourceInterceptor {
    /// The neutral request.
    public typealias Request = HTTP.Request
    /// The neutral response.
    public typealias Response = HTTP.Response

    /// The state of an indicator.
    public enum State: Hashable, Sendable {
        /// Something is in flight.
        case show
        /// Nothing is in flight.
        case hide
    }

    private struct Activity {
        var count = 0
        var observers: [ObjectIdentifier: Observer] = [:]

        var state: State { count > 0 ? .show : .hide }
    }

    private let activity = Lock(Activity())

    /// Makes an activity with a count of zero.
    public init() {}

    /// Whether anything is in flight.
    public var state: State { activity.withLock { $0.state } }

    /// Adds one to the count.
    public func increment() { change { $0 += 1 } }

    /// Subtracts one from the count, unless it is zero.
    public func decrement() { change { $0 = max(0, $0 - 1) } }

    /// Observes every change, and the current state if it is `show`.
    ///
    /// - Parameters:
    ///   - queue: The queue on which `observer` is called in order, such as `.main`. With `nil` it is called on the thread of the
    ///     change.
    ///   - observer: Called with the state, one call at a time, on a concurrent queue, too.
    /// - Returns: Ends the observation when cancelled; calls that wait for the queue are dropped. If it is discarded, the
    ///   observation continues.
    @discardableResult
    public func observe(
        on queue: DispatchQueue? = nil,
        using observer: @escaping @Sendable (State) -> Void
    ) -> any Cancelable {
        let observer = Observer(of: self, on: queue, reporting: observer)
        activity.withLock { $0.observers[ObjectIdentifier(observer)] = observer }
        observer.look()
        return observer
    }

    /// `false`: it does not intercept requests.
    public var interceptsRequests: Bool { false }

    /// `false`: it does not intercept bodies.
    public var interceptsBody: Bool { false }

    /// Adds one to the count.
    public func interceptScheduledTask(withIdentifier identifier: Int, request: HTTP.Request, retryState: Retry.State) {
        increment()
    }

    /// Subtracts one from the count.
    public func interceptSuccessfulTask(
        withIdentifier identifier: Int,
        request: HTTP.Request,
        data: Data,
        response: HTTP.Response,
        retryState: Retry.State
    ) { decrement() }

    /// Subtracts one from the count, unless the task never started. Returns `.none`.
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
        // Released outside the lock: the reference may be the last one to an object of the caller.
        _ = activity.withLock { $0.observers.removeValue(forKey: ObjectIdentifier(observer)) }
    }

    /// An observer. Two changes may reach it in either order, so it reads the current state each time.
    private final class Observer: Cancelable {
        private struct Reported {
            var last = State.hide
            var isReporting = false
            var isCancelled = false
        }

        private let reported = Lock(Reported())
        private weak let owner: NetworkActivity?
        private let queue: DispatchQueue?
        private let report: @Sendable (State) -> Void

        init(of owner: NetworkActivity, on queue: DispatchQueue?, reporting report: @escaping @Sendable (State) -> Void)
        {
            self.owner = owner
            // Serial, even if its target queue is concurrent.
            self.queue = queue.map { DispatchQueue(label: "NetworkActivity", target: $0) }
            self.report = report
        }

        func cancel() {
            reported.withLock { $0.isCancelled = true }
            owner?.remove(self)
        }

        /// Reports the state if it has changed, unless another thread is reporting: that thread checks again afterwards.
        func look() {
            while let state = begin() {
                if let queue {
                    queue.async { if !self.reported.withLock({ $0.isCancelled }) { self.report(state) } }
                } else {
                    report(state)
                }
                reported.withLock { $0.isReporting = false }
            }
        }

        private func begin() -> State? {
            reported.withLock { reported in
                guard !reported.isReporting, !reported.isCancelled, let state = owner?.state, state != reported.last
                else {
                    return nil
                }
                (reported.last, reported.isReporting) = (state, true)
                return state
            }
        }
    }
}
