import Foundation
import NetworkStackTesting
import Testing

@testable import NetworkStack

@Suite("A stream made from a closure", .timeLimit(.minutes(1)))
struct ClosureStreamTests {
    private typealias Failure = HTTPFetchError<HTTP.Response, any Error>
    private typealias Stream = ByteStream<Failure>

    /// The failure of a read of the whole stream.
    private func failure(of stream: Stream) async -> Failure? {
        do throws(Failure) { _ = try await stream.collect() } catch { return error }
        return nil
    }

    private func expectCancelled(_ stream: Stream, times: Int = 2) async {
        for _ in 0..<times {
            guard case .cancelled? = await failure(of: stream) else {
                Issue.record("The stream is not cancelled")
                return
            }
        }
    }

    @Test("is no whole body if it ends because its task was cancelled")
    func cancelledSequence() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "cut-\(UUID().uuidString)").path
        try Data("whole".utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let (chunks, continuation) = AsyncStream<Data>.makeStream()
        continuation.yield(Data("half".utf8))
        let iterator = Lock(chunks.makeAsyncIterator())
        let stream = Stream(unfolding: { () async throws(Failure) in
            var copy = iterator.withLock { $0 }
            return await copy.next()
        })
        let begun = Gate()
        let writing = Task {
            try await stream.write(to: path, localFile: { .localFile($0) }, progress: { _ in begun.open() })
        }
        try await begun.opened(within: .seconds(10))
        writing.cancel()
        await #expect(throws: Failure.self) { try await writing.value }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "whole")
        await expectCancelled(stream)
    }

    @Test("is cancelled by a cancelled task, which calls the closure no more", arguments: [false, true])
    func cancelledReader(isRead: Bool) async throws {
        let calls = Lock(0)
        let stream = Stream(unfolding: { () async throws(Failure) in
            calls.withLock { $0 += 1 }
            return calls.withLock { $0 } < 3 ? Data(count: 10) : nil
        })
        if isRead { #expect(try await stream.collect().count == 20) }
        await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await expectCancelled(stream, times: 1)
        }
        .value
        await expectCancelled(stream)
        #expect(calls.withLock { $0 } == (isRead ? 3 : 0))
    }

    @Test("repeats its failure, and has no gap after a chunk that was too long")
    func failures() async throws {
        let calls = Lock(0)
        let broken = Stream(unfolding: { () async throws(Failure) in
            calls.withLock { $0 += 1 }
            throw .badResponse(nil)
        })
        for _ in 0..<2 {
            guard case .badResponse? = await failure(of: broken) else {
                Issue.record("The stream does not fail")
                return
            }
        }
        #expect(calls.withLock { $0 } == 1)
        let chunks = Lock([Data(count: 10), Data(count: 1)])
        let long = Stream(unfolding: { () async throws(Failure) in
            chunks.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        })
        await #expect(throws: Failure.self) { _ = try await long.collect(upTo: 5) }
        await expectCancelled(long)
    }

    @Test("has one reader: a second concurrent one fails, and the first continues")
    func secondReader() async throws {
        let (isInside, goOn, hasFailed, hasRead) = (Gate(), Gate(), Gate(), Gate())
        let stream = Stream(unfolding: { () async throws(Failure) in
            isInside.open()
            do { try await goOn.opened(within: .seconds(10)) } catch { throw .cancelled }
            return Data("x".utf8)
        })
        let first = Task {
            var chunks = stream.makeAsyncIterator()
            if try await chunks.next() == Data("x".utf8) { hasRead.open() }
        }
        try await isInside.opened(within: .seconds(10))
        let second = Task {
            var chunks = stream.makeAsyncIterator()
            do { _ = try await chunks.next() } catch Failure.concurrentRead { hasFailed.open() }
        }
        let isRefused: Void? = try? await hasFailed.opened(within: .seconds(5))
        goOn.open()
        #expect(isRefused != nil, "both were let in")
        _ = try await (first.value, second.value)
        #expect(hasRead.isOpen)
    }
}
