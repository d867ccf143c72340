internal import FoundationEssentials
internal import Glibc

/// Bytes as they come out of libcurl, in one growing piece that is handed over without a copy.
@safe
final class ByteBuffer {
    private var bytes: UnsafeMutableRawPointer?
    /// How many there is room for.
    private(set) var capacity = 0

    /// How many bytes there are.
    private(set) var count = 0

    deinit { unsafe free(bytes) }

    /// Adds bytes.
    ///
    /// - Parameters:
    ///   - span: The bytes.
    ///   - expected: How many there will be in all, if known; room is made for them at once, within reason.
    /// - Returns: Whether there was memory for them.
    func append(_ span: RawSpan, expecting expected: Int) -> Bool {
        let needed = count + span.byteCount
        if needed > capacity, !grow(to: needed, expecting: expected) { return false }
        unsafe span.withUnsafeBytes { source in
            guard let from = source.baseAddress, let to = unsafe bytes else { return }
            unsafe memcpy(to + count, from, source.count)
        }
        count = needed
        return true
    }

    /// Adds a line, in the same way.
    func append(_ line: Span<UInt8>, expecting expected: Int) -> Bool {
        unsafe append(line.bytes, expecting: expected)
    }

    private func grow(to needed: Int, expecting expected: Int) -> Bool {
        let expected = min(expected, Self.largestReservation)
        let wanted = expected >= needed ? expected : max(needed, capacity * 2, 1024)
        guard let grown = unsafe realloc(bytes, wanted) else { return false }
        unsafe bytes = grown
        capacity = wanted
        return true
    }

    /// A length that a server merely announces is not believed beyond this.
    private static let largestReservation = 512 * 1024 * 1024

    /// Hands the bytes over and is empty again. Room that was made for what did not come is not handed over with a little.
    func take() -> Data {
        guard count > 0, var taken = unsafe bytes else { return Data() }
        let length = count
        if capacity - length >= max(length, 4096), let shorter = unsafe realloc(taken, length) {
            unsafe taken = shorter
        }
        unsafe bytes = nil
        (count, capacity) = (0, 0)
        return unsafe Data(bytesNoCopy: taken, count: length, deallocator: .free)
    }

    /// A copy of the bytes.
    var array: [UInt8] { unsafe Array(UnsafeRawBufferPointer(start: bytes, count: count)) }

    /// Drops the bytes.
    func removeAll() { count = 0 }
}

extension RawSpan {
    var firstByte: UInt8? { isEmpty ? nil : unsafe unsafeLoad(as: UInt8.self) }
    var lastByte: UInt8? { isEmpty ? nil : unsafe unsafeLoad(fromByteOffset: byteCount - 1, as: UInt8.self) }
}

extension MutableRawSpan {
    /// Copies bytes to its beginning.
    mutating func copy(_ data: Data) {
        unsafe withUnsafeMutableBytes { place in _ = unsafe data.copyBytes(to: place) }
    }
}

extension [UInt8] {
    /// Adds the bytes of a span.
    mutating func append(_ span: Span<UInt8>) {
        unsafe span.withUnsafeBufferPointer { bytes in unsafe append(contentsOf: bytes) }
    }
}
