internal import Dispatch
internal import Foundation
internal import NetworkStack

/// The chunks of an input stream, read on a queue where blocking is harmless.
struct InputStreamChunks: AsyncSequence, AsyncIteratorProtocol, Sendable {
    typealias Element = Data

    private let stream: Lock<InputStream>

    init(_ stream: InputStream) { self.stream = Lock(stream) }

    func makeAsyncIterator() -> Self { self }

    mutating func next() async throws -> Data? {
        let oneShot = OneShot<Result<Data?, any Error>>()
        DispatchQueue.global().async { [stream] in
            oneShot.fill(Result { try stream.withLock { stream throws in try Self.read(stream) } })
        }
        return try await oneShot.take().get()
    }

    private static func read(_ stream: InputStream) throws -> Data? {
        if stream.streamStatus == .notOpen { stream.open() }
        guard let bytes = stream.readChunk(upTo: 64 * 1024) else {
            throw stream.streamError ?? CocoaError(.fileReadUnknown)
        }
        if bytes.isEmpty { stream.close() }
        return bytes.isEmpty ? nil : Data(bytes)
    }
}
