/// Cancels a fetch, for its caller. A caller that keeps it keeps nothing of a fetch that has ended.
@usableFromInline
final class FetchCancelable: Cancelable {
    weak let fetch: (any Cancelable)?

    @usableFromInline
    init(_ fetch: any Cancelable) { self.fetch = fetch }

    @usableFromInline
    func cancel() { fetch?.cancel() }
}
