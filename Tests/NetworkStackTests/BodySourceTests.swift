import Foundation
import NetworkStackTesting
import Testing

@testable import NetworkStack

/// Yields chunks of a kilobyte and counts them, so that a test can measure the read-ahead.
private struct Counted: AsyncSequence, Sendable {
    typealias Element = Data
    let count: Int
    let taken = Lock(0)

    struct AsyncIterator: AsyncIteratorProtocol {
        let sequence: Counted
        mutating func next() async -> Data? {
            let number = sequence.taken.withLock { taken in
                taken += 1
                return taken
            }
            return number <= sequence.count ? Data(repeating: UInt8(truncatingIfNeeded: number), count: 1024) : nil
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(sequence: self) }
}

private struct Broken: Error {}

/// Reads a source to its end as a transport does: when nothing is available, it waits for the signal.
private final class Reader: Sendable {
    private let ready = Lock(Gate())

    var onReady: @Sendable () -> Void { { [self] in ready.withLock { $0 }.open() } }

    func readAll(_ source: any HTTPBodySource, upTo count: Int = 1000) async throws -> Data {
        var content = Data()
        while true {
            let gate = Gate()
            ready.withLock { $0 = gate }
            switch source.next(upTo: count) {
            case .bytes(let bytes):
                #expect(!bytes.isEmpty && bytes.count <= count)
                content += bytes
            case .pending: try await gate.opened(within: .seconds(10))
            case .end: return content
            case .failed(let error): throw error
            }
        }
    }
}

@Suite("A streamed body", .timeLimit(.minutes(1)))
struct StreamBodySourceTests {
    @Test("is not rewound once it is closed, and closes the stream of a rewind")
    func closedBefore() async throws {
        let (reader, made) = (Reader(), Lock(0))
        let source = try HTTP.Body.Stream {
            made.withLock { $0 += 1 }
            return Counted(count: 2)
        }.open(onReady: reader.onReady)
        #expect(try await reader.readAll(source).count == 2048)
        #expect(source.rewind())
        #expect(try await reader.readAll(source).count == 2048)
        source.close()
        #expect(!source.rewind())
        #expect(throws: CancellationError.self) {
            if case .failed(let error) = source.next(upTo: 1) { throw error }
        }
    }

    @Test("arrives whole and in order, in the piece size the transport requests", arguments: [1, 700, 1024, 5000])
    func order(_ count: Int) async throws {
        let (reader, chunks) = (Reader(), Counted(count: 300))
        let source = try HTTP.Body.Stream(chunks, length: 300 * 1024).open(onReady: reader.onReady)
        let content = try await reader.readAll(source, upTo: count)
        #expect(content.count == 300 * 1024)
        #expect((0..<300).allSatisfy { content[$0 * 1024] == UInt8(truncatingIfNeeded: $0 + 1) })
        source.close()
    }

    @Test("is read ahead by 256 KiB and no more")
    func backPressure() async throws {
        let chunks = Counted(count: 100_000)
        let source = try HTTP.Body.Stream(chunks).open(onReady: {})
        var seen = -1
        // No change for a while means that the read-ahead has ended.
        while chunks.taken.withLock({ $0 }) != seen || seen < 100 {
            seen = chunks.taken.withLock { $0 }
            try await Task.sleep(for: .milliseconds(100))
        }
        #expect(seen <= 257, "\(seen) KiB were read ahead")
        source.close()
    }

    @Test("shorter than declared fails at its end, longer than declared at once")
    func lengths() async throws {
        for (declared, actual) in [(3, 2), (2, 3)] {
            let reader = Reader()
            let stream = HTTP.Body.Stream(Counted(count: actual), length: Int64(declared) * 1024)
            let source = try stream.open(onReady: reader.onReady)
            #expect(source.length == Int64(declared) * 1024)
            do {
                _ = try await reader.readAll(source)
                Issue.record("\(actual) KiB were taken for \(declared)")
            } catch let error as BodyLengthError {
                #expect(error.declared == Int64(declared) * 1024)
                #expect(error.actual == Int64(actual) * 1024)
            }
            source.close()
        }
    }

    @Test("reports the error of the sequence after its last piece")
    func failures() async throws {
        let chunks = AsyncThrowingStream<Data, any Error> { continuation in
            continuation.yield(Data("before".utf8))
            continuation.finish(throwing: Broken())
        }
        let reader = Reader()
        let source = try HTTP.Body.Stream(chunks).open(onReady: reader.onReady)
        await #expect(throws: Broken.self) { try await reader.readAll(source) }
        source.close()
    }

    @Test("of single bytes is read in few pieces")
    func smallChunks() async throws {
        let (count, isRead) = (256 * 1024 - 1, Gate())
        let pump: @Sendable (StreamBodySource) async throws -> Void = { source in
            for number in 0..<count { try await source.send(Data([UInt8(truncatingIfNeeded: number)])) }
            isRead.open()
        }
        let source = StreamBodySource(length: nil, onReady: {}, pump: pump)
        try await isRead.opened(within: .seconds(30))
        var (content, pieces) = (Data(), 0)
        while content.count < count, case .bytes(let bytes) = source.next(upTo: 16 * 1024) {
            content += bytes
            pieces += 1
        }
        #expect(content == Data((0..<count).map { UInt8(truncatingIfNeeded: $0) }))
        #expect(pieces <= 64)
        source.close()
    }

    @Test("of large and small chunks comes in order", arguments: [1000, 5000, 100_000])
    func mixedChunks(_ limit: Int) async throws {
        let lengths = (0..<200).map { [1, 4095, 4096, 10, 30_000, 2, 4000][$0 % 7] }
        let chunks = lengths.enumerated().map { Data(repeating: UInt8($0), count: $1) }
        let reader = Reader()
        let source = StreamBodySource(length: nil, onReady: reader.onReady) { source in
            for chunk in chunks { try await source.send(chunk) }
        }
        #expect(try await reader.readAll(source, upTo: limit) == chunks.reduce(Data(), +))
        source.close()
    }

    @Test("ends at the end of the sequence, not at an empty chunk")
    func emptyChunks() async throws {
        let chunks = AsyncStream<Data> { continuation in
            for text in ["", "a", "", "b", ""] { continuation.yield(Data(text.utf8)) }
            continuation.finish()
        }
        let reader = Reader()
        let source = try HTTP.Body.Stream(chunks, length: 2).open(onReady: reader.onReady)
        #expect(try await reader.readAll(source) == Data("ab".utf8))
        source.close()
    }

    @Test("that is one-shot is refused the second time; a replayable one starts again")
    func replaying() async throws {
        let once = HTTP.Body.Stream(Counted(count: 1))
        #expect(!once.isReplayable)
        let first = try once.open(onReady: {})
        #expect { try once.open(onReady: {}) } throws: {
            if case HTTP.Body.OpeningError.notReplayable = $0 { true } else { false }
        }
        while case .pending = first.next(upTo: 1) { try await Task.sleep(for: .milliseconds(1)) }
        #expect(!first.rewind(), "a consumed stream is not made again")
        first.close()

        let often = HTTP.Body.Stream(replaying: { Counted(count: 2) })
        #expect(often.isReplayable)
        for _ in 1...3 {
            let reader = Reader()
            let source = try often.open(onReady: reader.onReady)
            let content = try await reader.readAll(source)
            #expect(content.count == 2048)
            #expect(source.rewind(), "the stream is made again")
            #expect(try await reader.readAll(source) == content)
            source.close()
        }
    }

    @Test("is cancelled with the transfer, even while the sequence waits for buffer space")
    func closing() async throws {
        let (chunks, ended) = (Counted(count: 100_000), Gate())
        final class Witness: Sendable {
            let ended: Gate
            init(_ ended: Gate) { self.ended = ended }
            deinit { ended.open() }
        }
        var source: (any HTTPBodySource)?
        do {
            let witness = Witness(ended)
            let pump: @Sendable (StreamBodySource) async throws -> Void = { source in
                try await withTaskCancellationHandler {
                    for try await chunk in chunks { try await source.send(chunk) }
                } onCancel: {
                    withExtendedLifetime(witness) {}
                }
            }
            source = StreamBodySource(length: nil, onReady: {}, pump: pump)
        }
        while chunks.taken.withLock({ $0 }) < 256 { try await Task.sleep(for: .milliseconds(1)) }
        source?.close()
        source = nil
        try await ended.opened(within: .seconds(5))
        #expect(chunks.taken.withLock { $0 } < 300)
    }

    @Test("is cancelled with the transfer while the sequence waits for its next piece")
    func closingEarly() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Data.self)
        let ended = Gate()
        continuation.onTermination = { _ in ended.open() }
        let source = try HTTP.Body.Stream(stream).open(onReady: {})
        source.close()
        try await ended.opened(within: .seconds(5))
    }

    @Test("can be rewound until a byte is read")
    func rewinding() throws {
        let source = try HTTP.Body.Stream(AsyncStream<Data> { _ in }).open(onReady: {})
        #expect(source.rewind())
        source.close()
    }

    @Test("that can be made again is not, once it is closed", .timeLimit(.minutes(1)))
    func remaking() async throws {
        let (made, ended) = (Lock(0), Lock(0))
        let body = HTTP.Body.stream(
            .init { () -> AsyncStream<Data> in
                made.withLock { $0 += 1 }
                return AsyncStream { continuation in
                    continuation.onTermination = { _ in ended.withLock { $0 += 1 } }
                    continuation.yield(Data(count: 1000))
                }
            }
        )
        let ready = Gate()
        let source = try #require(try body.open { ready.open() })
        if case .pending = source.next(upTo: 100) { try await ready.opened() }
        // A cancel closes the source on its own thread, while the transport's thread rewinds it for a dead connection.
        source.close()
        _ = source.rewind()
        // Long enough for another stream to be made; then until all are released.
        try await Task.sleep(for: .milliseconds(500))
        let end = ContinuousClock.now + .seconds(10)
        var counts = (0, -1)
        while counts.0 != counts.1, .now < end {
            try await Task.sleep(for: .milliseconds(1))
            counts = (made.withLock { $0 }, ended.withLock { $0 })
        }
        #expect(counts.0 == counts.1, "\(counts.0) streams were made, and \(counts.1) of them were released")
    }

    @Test(
        "reports no end that it has not reached when it is closed",
        .timeLimit(.minutes(1)),
        arguments: [false, true]
    )
    func cut(isReplayable: Bool) async throws {
        let made = Gate()
        @Sendable func chunks() -> AsyncStream<Data> {
            let left = Lock(20)
            return AsyncStream<Data> {
                let goesOn = left.withLock { left in
                    left -= 1
                    return left >= 0
                }
                if !goesOn { made.open() }
                return goesOn ? Data(count: 5000) : nil
            }
        }
        let stream = isReplayable ? HTTP.Body.Stream(replaying: chunks) : HTTP.Body.Stream(chunks())
        let source = try #require(try HTTP.Body.stream(stream).open {})
        try await made.opened()
        try await Task.sleep(for: .milliseconds(50))
        guard case .bytes = source.next(upTo: 1000) else { throw CancellationError() }
        source.close()
        if case .end = source.next(upTo: 1000) { Issue.record("The source ended with 99,000 bytes left") }
    }
}
