internal import Foundation
internal import NetworkStack

/// A body source as an input stream for URLSession: it yields exactly the announced number of bytes, or fails.
///
/// libcurl sends whatever a stream yields, regardless of the announced length. One byte too many would start another request; an
/// early end would leave the server waiting. A failed read ends the transfer and its connection.
final class SourceStream: InputStream {
    private let source: any HTTPBodySource
    private let length: Int64
    /// URLSession reads on another thread.
    private let yielded = Lock(Int64(0))
    private let onFailure: (any Error) -> Void
    private var status = Stream.Status.notOpen
    private var failure: (any Error)?

    /// Makes a stream that reads a source from its first byte on.
    ///
    /// - Parameters:
    ///   - source: Has the bytes.
    ///   - length: How many bytes were announced.
    ///   - onFailure: Called with the error if they cannot be read.
    init(_ source: any HTTPBodySource, length: Int64, onFailure: @escaping (any Error) -> Void) {
        self.source = source
        self.length = length
        self.onFailure = onFailure
        super.init(data: Data())
    }

    /// How many bytes were read.
    var readCount: Int64 { yielded.withLock { $0 } }

    private var left: Int64 { length - readCount }

    override var streamStatus: Stream.Status { status }
    override var streamError: (any Error)? { failure }

    /// `true` until all announced bytes were read, also after a failure: URLSession would take `false` for the end of the body.
    override var hasBytesAvailable: Bool { left > 0 }

    override func open() {
        guard status == .notOpen else { return }
        status = .open
        if !source.rewind() { fail(CocoaError(.fileReadUnknown)) }
    }

    override func close() { status = .closed }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength count: Int) -> Int {
        guard failure == nil, status == .open || status == .atEnd else { return -1 }
        let left = left
        guard left > 0 else { return 0 }
        switch source.next(upTo: Int(min(Int64(count), left))) {
        case .bytes(let data) where !data.isEmpty && data.count <= min(Int64(count), left):
            unsafe data.copyBytes(to: buffer, count: data.count)
            yielded.withLock { $0 += Int64(data.count) }
            if left == Int64(data.count) { status = .atEnd }
            return data.count
        case .failed(let error): return fail(error)
        case .bytes, .pending, .end: return fail(CocoaError(.fileReadUnknown))
        }
    }

    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>,
        length: UnsafeMutablePointer<Int>
    ) -> Bool { false }

    @discardableResult
    private func fail(_ error: any Error) -> Int {
        status = .error
        failure = error
        onFailure(error)
        return -1
    }
}

extension InputStream {
    /// Reads some bytes.
    ///
    /// - Parameter count: The most bytes to read; at least 1.
    /// - Returns: The bytes, empty at the end; `nil` on failure.
    func readChunk(upTo count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        let length = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            unsafe buffer.baseAddress.map { unsafe read($0, maxLength: count) } ?? 0
        }
        return length < 0 ? nil : Array(bytes.prefix(length))
    }
}
