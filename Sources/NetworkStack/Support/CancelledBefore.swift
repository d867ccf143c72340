/// Whether a fetch is begun for a task that was cancelled before: nothing is made or sent for it then, and nobody hears of it.
///
/// A fetch that calls back is not the task's, whoever begins it.
@usableFromInline
enum CancelledBefore {
    @TaskLocal static var isSet = false

    /// Begins a fetch for a task that is cancelled.
    @usableFromInline
    static func begin(_ fetch: () -> any Cancelable) -> any Cancelable { $isSet.withValue(true, operation: fetch) }
}
