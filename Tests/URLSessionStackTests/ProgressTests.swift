import Foundation
import Testing

@testable import NetworkStack
@testable import URLSessionStack

@Suite("The progress of an upload on URLSession")
struct ProgressTests {
    private final class Sink: HTTPTransferSink {
        let sent = Lock<[Int64]>([])

        func entered(_ phase: HTTP.Phase) {}
        func informational(_ response: HTTP.Response) {}
        func head(_ response: HTTP.Response) {}
        func body(_ chunk: Data) -> Bool { true }
        func withheld(_ count: Int64) {}
        func sent(_ total: Int64) { sent.withLock { $0.append(total) } }
        func finished(trailers: HTTP.Headers?, metrics: HTTP.Metrics) {}
        func failed(_ failure: HTTPTransferFailure<URLError>, metrics: HTTP.Metrics) {}
    }

    /// A transfer of a body of 100 bytes.
    private static func transfer(_ sink: Sink) throws -> HopTransfer {
        let request = try HTTP.Request(method: .PUT, url: "http://a.test/", body: .bytes(Data(count: 100)))
        let hop = HTTPHop(
            request: request,
            origin: try HTTP.Origin(of: request.url),
            urlText: "http://a.test/",
            options: Shared(HTTP.Options()),
            trust: .ordinary,
            source: nil,
            allowsWithholding: true
        )
        let session = TransferSession(table: TaskTable(challengeHandler: nil))
        return HopTransfer(hop, sink: sink, session: session)
    }

    @Test("restarts with a repeated body, whenever its stream is requested among the reports")
    func repeats() throws {
        for reportsBefore in 0...2 {
            let sink = Sink()
            let transfer = try Self.transfer(sink)
            Self.read(transfer.newContentStream())
            let reports = [60, 40, 60, 40] as [Int64]
            for count in reports.prefix(reportsBefore) { transfer.sent(count) }
            Self.read(transfer.newContentStream())
            for count in reports.dropFirst(reportsBefore) { transfer.sent(count) }
            #expect(sink.sent.withLock { $0 } == [60, 100, 60, 100], "after \(reportsBefore) reports")
        }
    }

    /// Reads a stream to its end, as URLSession does.
    private static func read(_ stream: InputStream) {
        stream.open()
        var buffer = [UInt8](repeating: 0, count: 60)
        while stream.read(&buffer, maxLength: buffer.count) > 0 {}
        stream.close()
    }
}
