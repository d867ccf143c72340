/// The caller that waits for a fetch.
@usableFromInline
enum FetchCompletion<Value: Sendable>: Sendable {
    /// A task. Resuming it runs no user code, so the completion runs where the fetch ends.
    case resume(OneShot<Value>)
    /// A closure, called on the engine's queue.
    case call(@Sendable (Value) -> Void)

    /// Whether the completion runs no user code.
    @inlinable var resumesTask: Bool { if case .resume = self { true } else { false } }

    /// Completes the fetch. The batch resumes a task together with others, if this runs on the batch's thread.
    @inlinable
    func complete(_ value: Value, in batch: ResumeBatch?) {
        switch self {
        case .resume(let waiting): waiting.fill(value, in: batch)
        case .call(let completion): completion(value)
        }
    }
}
