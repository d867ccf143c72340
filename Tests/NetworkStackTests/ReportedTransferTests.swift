import Dispatch
import FoundationEssentials
import NetworkStackTesting
import Testing

@testable import NetworkStack

/// Keeps the end of a hop.
private final class EndSink: HTTPTransferSink {
    struct Ended {
        var failure: HTTPTransferFailure<HTTPTransferError>?
        var metrics: HTTP.Metrics
    }

    let ended = Lock<Ended?>(nil)
    private let onFailure: @Sendable () -> Void

    init(onFailure: @escaping @Sendable () -> Void = {}) { self.onFailure = onFailure }

    func entered(_ phase: HTTP.Phase) {}
    func informational(_ response: HTTP.Response) {}
    func head(_ response: HTTP.Response) {}
    func body(_ chunk: Data) -> Bool { true }
    func withheld(_ count: Int64) {}
    func sent(_ total: Int64) {}
    func finished(trailers: HTTP.Headers?, metrics: HTTP.Metrics) {
        ended.withLock { $0 = Ended(failure: nil, metrics: metrics) }
    }
    func failed(_ failure: HTTPTransferFailure<HTTPTransferError>, metrics: HTTP.Metrics) {
        onFailure()
        ended.withLock { $0 = Ended(failure: failure, metrics: metrics) }
    }
}

/// A body whose reads wait for a gate.
private final class HeldSource: HTTPBodySource {
    let (isAsked, mayReturn) = (Gate(), DispatchSemaphore(value: 0))
    let isRead = Lock(false)
    var length: Int64? { nil }

    func next(upTo count: Int) -> HTTPBodyChunk {
        isRead.withLock { $0 = true }
        isAsked.open()
        mayReturn.wait()
        isRead.withLock { $0 = false }
        return .bytes(Data("x".utf8))
    }
    func rewind() -> Bool { true }
    func close() {}
}

/// A library that retains its delegate, the transfer.
private final class Library: Sendable {
    let transfer: HTTPReportedTransfer<HTTPTransferError>
    let isStopped = Lock(false)

    init(_ transfer: HTTPReportedTransfer<HTTPTransferError>) { self.transfer = transfer }

    func stop() { isStopped.withLock { $0 = true } }
}

@Suite("A transfer between a library and the sink", .timeLimit(.minutes(1)))
struct ReportedTransferTests {
    private static let compressed: [HTTP.Headers.Field] = [
        .init(name: "Content-Encoding", value: "gzip"), .init(name: "Content-Length", value: "100000"),
    ]

    private static func transfer(
        _ sink: EndSink,
        source: (any HTTPBodySource)? = nil
    ) throws -> HTTPReportedTransfer<HTTPTransferError> {
        let url = "http://a.test/"
        let body: HTTP.Body = source == nil ? .none : .stream(.init { AsyncStream<Data> { $0.finish() } })
        let request = try HTTP.Request(method: source == nil ? .GET : .PUT, url: url, body: body)
        let hop = HTTPHop(
            request: request,
            origin: try HTTP.Origin(of: request.url),
            urlText: url,
            options: Shared(HTTP.Options()),
            trust: .ordinary,
            source: source,
            allowsWithholding: false
        )
        return HTTPReportedTransfer(hop, to: sink, decoding: ["gzip"])
    }

    @Test("counts the announced length of a compressed body only if it is whole", arguments: [true, false])
    func compressedLength(isWhole: Bool) throws {
        let sink = EndSink()
        let transfer = try Self.transfer(sink)
        transfer.head(200, .http1_1, Self.compressed)
        transfer.body(Data(count: 5)) {}
        if isWhole { transfer.finished() } else { transfer.failed(.truncated, "cut off") }
        #expect(sink.ended.withLock { $0?.metrics.bytesReceived } == (isWhole ? 100_000 : 5))
        #expect(sink.ended.withLock { $0?.metrics.decodedBytes } == 5)
    }

    @Test("counts decoded bytes only if it decodes the body", arguments: ["gzip", "br", nil])
    func decodedBytes(coding: String?) throws {
        let sink = EndSink()
        let transfer = try Self.transfer(sink)
        transfer.head(200, .http1_1, coding.map { [.init(name: "Content-Encoding", value: $0)] } ?? [])
        transfer.body(Data(count: 5)) {}
        transfer.finished()
        #expect(sink.ended.withLock { $0?.metrics.decodedBytes } == (coding == "gzip" ? 5 : nil))
    }

    enum End: CaseIterable { case success, failure, refusal, cancel }

    @Test("keeps nothing of its library after the end", arguments: End.allCases, [false, true])
    func release(_ end: End, isSetLate: Bool) throws {
        let sink = EndSink()
        weak var released: Library?
        try {
            let transfer = try Self.transfer(sink)
            let library = Library(transfer)
            released = library
            if !isSetLate { transfer.onStop { library.stop() } }
            switch end {
            case .success:
                transfer.head(200, .http1_1, [])
                transfer.finished()
            case .failure: transfer.failed(.receive, "broken")
            case .refusal:
                transfer.head(200, .http1_1, [.init(name: "X", value: String(repeating: "x", count: 300_000))])
            case .cancel: transfer.cancel()
            }
            if isSetLate { transfer.onStop { library.stop() } }
            #expect(library.isStopped.withLock { $0 } == (end == .refusal || end == .cancel))
        }()
        #expect(released == nil)
    }

    @Test("is not stopped by a cancel after its end")
    func lateCancel() throws {
        let transfer = try Self.transfer(EndSink())
        let isStopped = Lock(false)
        transfer.onStop { isStopped.withLock { $0 = true } }
        transfer.head(200, .http1_1, [])
        transfer.finished()
        transfer.cancel()
        transfer.onStop { isStopped.withLock { $0 = true } }
        #expect(!isStopped.withLock { $0 })
    }

    @Test("reports a failure when it no longer reads the body, which may be sent again")
    func abandonedBody() async throws {
        let source = HeldSource()
        let wasRead = Lock<Bool?>(nil)
        let sink = EndSink { wasRead.withLock { $0 = source.isRead.withLock { $0 } } }
        let transfer = try Self.transfer(sink, source: source)
        DispatchQueue.global().async {
            transfer.sendBody(write: { _, _ in Issue.record("The body was written after the end") }, end: { _ in })
        }
        try await source.isAsked.opened()
        transfer.failed(.receive, "broken")
        source.mayReturn.signal()
        while sink.ended.withLock({ $0 }) == nil { try await Task.sleep(for: .milliseconds(1)) }
        #expect(wasRead.withLock { $0 } == false)
    }
}
