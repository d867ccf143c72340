/// Passes one value from any thread to one waiting task.
///
/// The value is passed inside a lock, and the continuation is resumed with `Void`: ThreadSanitizer reports a value that is passed
/// through a continuation from a foreign thread as a race.
@usableFromInline
package struct OneShot<Value: Sendable>: Sendable {
    @safe
    @usableFromInline
    enum Stage: ~Copyable {
        case empty
        case waiting(Waiter)
        /// Besides, the tasks that are resumed together with this one.
        case filled(Value, beside: ResumeBatch.Waiters?)
        case taken
    }

    @usableFromInline let stage: Lock<Stage>

    /// Makes an empty one.
    @inlinable
    package init() { stage = Lock(.empty) }

    /// Stores the value, and resumes the task if it waits. Later calls are ignored.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - batch: Resumes the task together with others, if this runs on the batch's thread.
    @inlinable
    package func fill(_ value: Value, in batch: ResumeBatch? = nil) {
        let waiter: Waiter? = stage.withLock { stage in
            switch exchange(&stage, with: .taken) {
            case .empty:
                stage = .filled(value, beside: nil)
                return nil
            case .waiting(let waiter):
                let others = batch?.add(waiter)
                stage = .filled(value, beside: others)
                return others == nil ? waiter : nil
            case .filled(let first, let others):
                stage = .filled(first, beside: others)
                return nil
            case .taken:
                return nil
            }
        }
        waiter?.resume()
    }

    /// Waits for the value, and takes it. Only one task may wait, once.
    @inlinable
    package func take() async -> Value {
        await wait()
        return takeFilled()
    }

    /// Waits for the value.
    @inlinable
    func wait() async {
        let priority = Task.currentPriority
        unsafe await withUnsafeContinuation { continuation in
            let isReady = stage.withLock { stage in
                switch stage {
                case .empty: break
                default: return true
                }
                stage = .waiting(unsafe Waiter(continuation, priority: priority))
                return false
            }
            if isReady { unsafe continuation.resume() }
        }
    }

    /// Takes the value that is there.
    @inlinable
    func takeFilled() -> Value {
        switch stage.withLock({ stage in exchange(&stage, with: .taken) }) {
        case .filled(let value, let others):
            others?.resumeAll()
            return value
        default: preconditionFailure("a value is taken once")
        }
    }
}

extension OneShot {
    /// Waits for what a fetch comes to. Cancelling the task cancels the fetch.
    ///
    /// - Parameter fetch: Begins the fetch, which stores its result in the argument.
    /// - Returns: The result.
    @inlinable
    static func result(of fetch: (OneShot) -> any Cancelable) async -> Value {
        let oneShot = OneShot()
        let fetching = fetch(oneShot)
        // The value does not pass through the operation, which would copy it by asking its type.
        await withTaskCancellationHandler {
            await oneShot.wait()
        } onCancel: {
            fetching.cancel()
        }
        return oneShot.takeFilled()
    }

    /// Waits for what some work comes to. Cancelling the task cancels the work, and ends the wait with a `CancellationError`.
    ///
    /// - Parameter work: Begins the work, given what takes its outcome.
    /// - Returns: What the work came to.
    /// - Throws: What the work failed with, or `CancellationError`.
    static func value<Outcome>(
        of work: (@escaping @Sendable (Value) -> any Cancelable) -> any Cancelable
    ) async throws -> Outcome where Value == Result<Outcome, any Error> {
        let oneShot = OneShot()
        let bag = CancelableBag()
        return try await withTaskCancellationHandler {
            bag += work { outcome in
                oneShot.fill(outcome)
                return EmptyCancelable()
            }
            return await oneShot.take()
        } onCancel: {
            bag.cancel()
            oneShot.fill(.failure(CancellationError()))
        }
        .get()
    }
}

/// A task that waits.
@usableFromInline
@safe
package struct Waiter: Sendable {
    private let continuation: UnsafeContinuation<Void, Never>
    /// As a number, whose size is known when this is compiled.
    let priority: UInt8

    @usableFromInline
    init(_ continuation: UnsafeContinuation<Void, Never>, priority: TaskPriority) {
        unsafe self.continuation = continuation
        self.priority = priority.rawValue
    }

    @usableFromInline
    func resume() { unsafe continuation.resume() }
}
