/// A value behind a reference: passing it on costs one reference, however large it is.
@usableFromInline
struct Shared<Value: Sendable>: @unchecked Sendable {
    // Unchecked because the compiler cannot see that the value is changed only where no other reference exists.

    @usableFromInline var place: Place

    init(_ value: Value) {
        let made = Place.create(minimumCapacity: 1) { _ in }
        place = unsafe unsafeDowncast(made, to: Place.self)
        unsafe place.withUnsafeMutablePointerToElements { place in unsafe place.initialize(to: value) }
    }

    @inlinable var value: Value { unsafe place.withUnsafeMutablePointerToElements { place in unsafe place.pointee } }

    /// Whether both are in the same place.
    static func === (left: Shared, right: Shared) -> Bool { left.place === right.place }

    /// Changes the value in its place, or a copy of it if others have it, too.
    static func change(_ shared: inout Shared, _ change: (inout Value) -> Void) {
        if !isKnownUniquelyReferenced(&shared.place) { shared = Shared(shared.value) }
        unsafe shared.place.withUnsafeMutablePointerToElements { place in unsafe change(&place.pointee) }
    }

    /// Where the value is.
    @usableFromInline
    final class Place: ManagedBuffer<Void, Value> {
        @inlinable
        deinit { unsafe withUnsafeMutablePointerToElements { place in _ = unsafe place.deinitialize(count: 1) } }
    }
}
