import Dispatch
import FoundationEssentials
import NetworkStack
import NetworkStackTesting
import Testing

/// A transport that cannot hold back: it delivers chunks until it is cancelled.
private struct EagerTransport: HTTPTransport {
    let capabilities = HTTP.Capabilities(unsupported: [.backPressure: "It delivers what comes."])
    let isCancelled = Gate()

    func start(_ hop: HTTPHop, sink: any HTTPTransferSink<HTTPTransferError>) -> any HTTPTransfer {
        let transfer = EagerTransfer()
        DispatchQueue.global().async {
            sink.head(.init(status: 200, url: hop.request.url))
            while !transfer.isCancelled.withLock({ $0 }) { _ = sink.body(EagerTransfer.chunk) }
            isCancelled.open()
        }
        return transfer
    }
}

private final class EagerTransfer: HTTPTransfer {
    static let chunk = Data(count: 64 * 1024)

    let isCancelled = Lock(false)

    func cancel() { isCancelled.withLock { $0 = true } }
    func resumeSending() {}
    func resumeReceiving() {}
}

private struct EagerStack: HTTPTransportStack {
    let engine: HTTPEngine<EagerTransport>
}

@Suite("An unread stream", .timeLimit(.minutes(1)))
struct UnreadStreamTests {
    @Test("of a transport that cannot hold back fails when more waits than the body limit")
    func limit() async throws {
        let (transport, limit) = (EagerTransport(), 4 << 20)
        var configuration = Network.Configuration()
        configuration.options.limits.body = Int64(limit)
        let stack = EagerStack(engine: HTTPEngine(transport: transport, configuration: configuration))
        let (chunks, _) = try await stack.stream(for: .get("http://a.test/"))
        var read = 0
        try await transport.isCancelled.opened()
        await #expect {
            for try await chunk in chunks { read += chunk.count }
        } throws: {
            "\($0)".contains("\(limit)")
        }
        #expect(read > limit && read <= limit + 2 * EagerTransfer.chunk.count)
    }
}
