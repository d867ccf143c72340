import Foundation
import NetworkStackTesting
import Testing

@testable import NetworkStack

@Suite("The buffer of a stream", .timeLimit(.minutes(1)))
struct StreamReceiverTests {
    private typealias Stream = ByteStream<HTTPFetchError<HTTP.Response, any Error>>

    private static func error(_ body: @Sendable () async throws -> Void) async -> (any Error)? {
        do { try await body() } catch { return error }
        return nil
    }

    /// Runs in a task that is cancelled before it begins.
    private static func whenCancelled(_ body: @escaping @Sendable () async throws -> Void) async -> (any Error)? {
        await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await error(body)
        }
        .value
    }

    @Test("releases read bytes, even if the reader never finishes")
    func release() async throws {
        let (receiver, released) = (StreamReceiver(), Lock(0))
        func chunk() -> Data {
            let bytes = UnsafeMutableRawPointer.allocate(byteCount: 4096, alignment: 1)
            return Data(
                bytesNoCopy: bytes,
                count: 4096,
                deallocator: .custom { bytes, _ in
                    bytes.deallocate()
                    released.withLock { $0 += 1 }
                }
            )
        }
        for _ in 0..<3 { _ = receiver.take(chunk()) }
        for number in 1...200 {
            _ = receiver.take(chunk())
            #expect(try await receiver.next()?.count == 4096)
            #expect(released.withLock { $0 } == number)
        }
        receiver.abandon()
        #expect(released.withLock { $0 } == 203)
    }

    @Test("joins small chunks that wait, and keeps their order")
    func small() async throws {
        let receiver = StreamReceiver()
        var expected = Data()
        for number in 0..<10_000 {
            let chunk = number.isMultiple(of: 1000) ? Data(repeating: 1, count: 5000) : Data("\(number),".utf8)
            expected.append(chunk)
            _ = receiver.take(chunk)
        }
        receiver.finish(trailers: nil, metrics: .init())
        var (read, pieces) = (Data(), 0)
        while let piece = try await receiver.next() {
            read.append(piece)
            pieces += 1
        }
        #expect(read == expected)
        #expect(pieces <= 2 * (expected.count / 4096 + 1), "\(pieces) pieces")
    }

    /// In a separate process, so that nothing else is counted.
    @Test("stays small while 256 MiB pass through it and it never runs empty")
    func resident() async {
        await #expect(processExitsWith: .success) {
            let (receiver, length) = (StreamReceiver(), 64 * 1024)
            for _ in 0..<3 { _ = receiver.take(Data(repeating: 1, count: length)) }
            var before = 0
            for number in 0..<4096 {
                if number == 100 { before = ProcessProbe.peakResidentBytes() }
                _ = receiver.take(Data(repeating: 1, count: length))
                try #require(try await receiver.next()?.count == length)
            }
            let growth = ProcessProbe.peakResidentBytes() - before
            try #require(before > 0 && growth < 32 << 20, "Memory grew by \(growth) bytes")
        }
    }

    @Test("is cancelled by a cancelled reader, however much is buffered", arguments: [false, true])
    func cancelled(isWhole: Bool) async {
        let receiver = StreamReceiver()
        for _ in 0..<3 { _ = receiver.take(Data("some".utf8)) }
        if isWhole { receiver.finish(trailers: nil, metrics: .init()) }
        #expect(await Self.whenCancelled { _ = try await receiver.next() } is CancellationError)
        #expect(await Self.error { _ = try await receiver.next() } is CancellationError, "and not an end")
    }

    @Test("keeps its first end, whatever comes afterwards")
    func endedOnce() async throws {
        struct Failure: Error {}
        let (whole, broken, left) = (StreamReceiver(), StreamReceiver(), StreamReceiver())
        whole.finish(trailers: ["A": "1"], metrics: .init())
        broken.fail(Failure())
        left.abandon()
        for receiver in [whole, broken, left] {
            #expect(receiver.take(Data("late".utf8)))
            receiver.fail(CancellationError())
            receiver.finish(trailers: nil, metrics: .init())
        }
        #expect(try await whole.next() == nil)
        #expect(whole.trailers == ["A": "1"])
        #expect(await Self.error { _ = try await broken.next() } is Failure)
        #expect(await Self.error { _ = try await left.next() } is CancellationError)
    }

    @Test("writes no file when its download is cancelled, even with all bytes")
    func cancelledDownload() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "receiver-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for content in ["", "some"] {
            let receiver = StreamReceiver()
            if !content.isEmpty { _ = receiver.take(Data(content.utf8)) }
            receiver.finish(trailers: nil, metrics: .init())
            let error = await Self.whenCancelled {
                _ = try await Stream(receiver).write(
                    to: folder.path + "/file",
                    localFile: { .localFile($0) },
                    progress: { _ in }
                )
            }
            guard case .cancelled? = error as? HTTPFetchError<HTTP.Response, any Error> else {
                Issue.record("The download failed with \(error as Any)")
                continue
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        }
    }

    @Test("has one reader: a second concurrent one fails, and the first continues")
    func secondReader() async throws {
        let (receiver, hasFailed, hasRead) = (StreamReceiver(), Gate(), Gate())
        for _ in 0..<2 {
            Task {
                do { if try await receiver.next() == Data("x".utf8) { hasRead.open() } } catch is ConcurrentRead {
                    hasFailed.open()
                }
            }
        }
        try await hasFailed.opened(within: .seconds(10))
        _ = receiver.take(Data("x".utf8))
        try await hasRead.opened(within: .seconds(10))
    }

    @Test("holds a transfer back until enough is read, even if it sends more meanwhile")
    func heldBack() async throws {
        let receiver = StreamReceiver()
        let sent = [200, 100, 50].map { receiver.take(Data(count: $0 << 10)) }
        #expect(sent == [true, false, false])
        #expect(try await receiver.next()?.count == 200 << 10)
        #expect(!receiver.take(Data(count: 50 << 10)))
        #expect(!receiver.hasRoom)
        for count in [100, 50] { #expect(try await receiver.next()?.count == count << 10) }
        #expect(receiver.hasRoom)
    }
}
