/// A value in a place of its own, which never changes: passing it on costs one reference, however much it holds.
@usableFromInline
final class Shared<Value: Sendable>: Sendable {
    @usableFromInline let value: Value

    init(_ value: Value) { self.value = value }

    /// Puts a changed copy of a value in its place.
    static func change(_ shared: inout Shared, _ change: (inout Value) -> Void) {
        var value = shared.value
        change(&value)
        shared = Shared(value)
    }
}
