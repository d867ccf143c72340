import FoundationEssentials
import NetworkStack

/// One hop of a mock: a task that reads the request's body, gets the reply, waits for its delay, and reports it.
final class MockTransfer: HTTPTransfer {
    private let task: Task<Void, Never>
    private let wakeups: AsyncStream<Void>.Continuation

    init(_ hop: HTTPHop, _ sink: any HTTPTransferSink<any Error>, answering transport: MockTransport) {
        let (stream, wakeups) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.wakeups = wakeups
        task = Task {
            var signals = stream.makeAsyncIterator()
            var metrics = HTTP.Metrics()
            do {
                var request = try await Self.collect(hop, sink, &signals)
                metrics.bytesSent = request.body.length ?? 0
                if let userAgent = transport.userAgent, !request.headers.contains(.userAgent) {
                    request.headers[.userAgent] = userAgent
                }
                sink.entered(.waiting)
                let reply = try transport.reply(to: request)
                if reply.delay > .zero { try await transport.clock.sleep(for: reply.delay.bounded) }
                try await Self.report(reply, to: request, sink, &signals, metrics)
            } catch let failure as HTTPTransferFailure<any Error> {
                sink.failed(failure, metrics: metrics)
            } catch is CancellationError where Task.isCancelled {
                // The cancel was reported already.
            } catch {
                sink.failed(.transport(error), metrics: metrics)
            }
        }
    }

    func cancel() {
        task.cancel()
        wakeups.finish()
    }

    func resumeReceiving() { wakeups.yield() }
    func resumeSending() { wakeups.yield() }

    /// The hop's request with its body as bytes.
    private static func collect(
        _ hop: HTTPHop,
        _ sink: any HTTPTransferSink<any Error>,
        _ signals: inout AsyncStream<Void>.Iterator
    ) async throws -> HTTP.Request {
        sink.entered(.sending)
        var request = hop.request
        guard let source = hop.source else {
            if let length = request.body.length, length > 0 { sink.sent(length) }
            return request
        }
        var content = Data()
        while true {
            switch source.next(upTo: 64 * 1024) {
            case .bytes(let bytes):
                content += bytes
                sink.sent(Int64(content.count))
            case .pending: if await signals.next() == nil { throw CancellationError() }
            case .failed(let error): throw HTTPTransferFailure<any Error>.requestBody(error)
            case .end:
                request.body = .bytes(content)
                return request
            }
        }
    }

    private static func report(
        _ reply: MockReply,
        to request: HTTP.Request,
        _ sink: any HTTPTransferSink<any Error>,
        _ signals: inout AsyncStream<Void>.Iterator,
        _ metrics: HTTP.Metrics
    ) async throws {
        switch reply.outcome {
        case .failure(let error): throw error
        case .silence:
            // Resumes are ignored; only a cancel ends the signals.
            while await signals.next() != nil {}
            throw CancellationError()
        case .response(let status, let headers, let content):
            sink.head(HTTP.Response(status: status, headers: headers, url: request.url))
            let hasContent = request.method != .HEAD && status != .noContent && status != .notModified
            if hasContent, !content.isEmpty, !sink.body(content), await signals.next() == nil {
                throw CancellationError()
            }
            if let cut = reply.cut { throw cut }
            var metrics = metrics
            metrics.bytesReceived = hasContent ? Int64(content.count) : 0
            sink.finished(trailers: nil, metrics: metrics)
        }
    }
}
