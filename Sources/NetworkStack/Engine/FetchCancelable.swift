/// Cancels a fetch that has options of its own, for its caller: one that keeps this keeps none of their callbacks when the fetch has
/// ended.
final class FetchCancelable: Cancelable {
    weak let fetch: FetchLoop?

    init(_ fetch: FetchLoop) { self.fetch = fetch }

    func cancel() { fetch?.cancel() }
}
