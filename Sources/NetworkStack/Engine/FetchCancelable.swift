/// Cancels a fetch that has its own options. A caller may keep it: after the fetch has ended, it does not keep the options' callbacks
/// alive.
final class FetchCancelable: Cancelable {
    weak let fetch: FetchLoop?

    init(_ fetch: FetchLoop) { self.fetch = fetch }

    func cancel() { fetch?.cancel() }
}
