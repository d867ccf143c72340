import FoundationEssentials
import HTTPTypes
import Synchronization

// The part of swift-openapi-runtime 1.9 that a transport uses, with its signatures. It stands in for that package, so that the
// tests need no code generator.

/// What carries the calls of a generated client.
protocol ClientTransport: Sendable {
    func send(_ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String) async throws -> (
        HTTPResponse, HTTPBody?
    )
}

/// How often a sequence can be read.
enum IterationBehavior: Sendable { case single, multiple }

/// A body in chunks.
final class HTTPBody: AsyncSequence, Sendable {
    typealias ByteChunk = ArraySlice<UInt8>
    typealias Element = ByteChunk

    enum Length: Sendable, Equatable {
        case unknown
        case known(Int64)
    }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let produceNext: () async throws -> ByteChunk?

        mutating func next() async throws -> ByteChunk? { try await produceNext() }
    }

    let iterationBehavior: IterationBehavior
    let length: Length
    private let make: @Sendable () -> Iterator
    private let isRead = Atomic(false)

    init<Bytes: AsyncSequence>(_ sequence: Bytes, length: Length, iterationBehavior: IterationBehavior)
    where Bytes.Element == ByteChunk, Bytes: Sendable {
        (self.length, self.iterationBehavior) = (length, iterationBehavior)
        make = {
            var iterator = sequence.makeAsyncIterator()
            return Iterator { try await iterator.next() }
        }
    }

    convenience init<Bytes: AsyncSequence>(_ sequence: Bytes, length: Length, iterationBehavior: IterationBehavior)
    where Bytes: Sendable, Bytes.Element: Sequence & Sendable, Bytes.Element.Element == UInt8 {
        self.init(sequence.map { ArraySlice($0) }, length: length, iterationBehavior: iterationBehavior)
    }

    convenience init(_ stream: AsyncStream<ByteChunk>, length: Length) {
        self.init(stream, length: length, iterationBehavior: .single)
    }

    convenience init(_ string: some StringProtocol & Sendable) {
        let bytes = ArraySlice(string.utf8)
        let chunks = AsyncStream<ByteChunk>.Repeated(element: bytes)
        self.init(chunks, length: .known(Int64(bytes.count)), iterationBehavior: .multiple)
    }

    /// Like the package's own type, it crashes the process if a body that can be read once is read twice.
    func makeAsyncIterator() -> Iterator {
        let isSecond = isRead.exchange(true, ordering: .relaxed)
        precondition(!isSecond || iterationBehavior == .multiple)
        return make()
    }
}

extension AsyncStream where Element: Sendable {
    /// Yields one element, each time it is read.
    fileprivate struct Repeated: AsyncSequence, Sendable {
        let element: Element

        func makeAsyncIterator() -> AsyncStream.Iterator {
            AsyncStream { continuation in
                continuation.yield(element)
                continuation.finish()
            }.makeAsyncIterator()
        }
    }
}

extension Data {
    init(collecting body: HTTPBody, upTo maxBytes: Int) async throws {
        self.init()
        for try await chunk in body {
            precondition(count + chunk.count <= maxBytes)
            append(contentsOf: chunk)
        }
    }
}
