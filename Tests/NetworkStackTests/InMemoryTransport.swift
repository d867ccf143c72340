import Dispatch
import FoundationEssentials
import NetworkStack

/// A third transport, written with the public protocols only: hosts are closures.
struct InMemoryTransport: HTTPTransport {
    typealias Handler = @Sendable (HTTP.Request) throws -> (HTTP.Response, Data)

    let capabilities = HTTP.Capabilities(unsupported: InMemoryTransport.lacking)
    let userAgent: String?
    let handlers: @Sendable (HTTP.Origin) -> Handler?

    func start(_ hop: HTTPHop, sink: any HTTPTransferSink<HTTPTransferError>) -> any HTTPTransfer {
        let transfer = InMemoryTransfer(hop, sink, userAgent)
        transfer.queue.async {
            do throws(Network.ConfigurationError) {
                try capabilities.require(for: hop)
                transfer.send(to: handlers(hop.origin))
            } catch { transfer.fail(.init(error)) }
        }
        return transfer
    }
}

/// One hop. Its queue keeps the events one at a time and in order.
final class InMemoryTransfer: HTTPTransfer {
    let queue = DispatchQueue(label: "in-memory transfer")
    private let hop: HTTPHop
    private let sink: any HTTPTransferSink<HTTPTransferError>
    private let userAgent: String?
    private let goOn = DispatchSemaphore(value: 0)

    init(_ hop: HTTPHop, _ sink: any HTTPTransferSink<HTTPTransferError>, _ userAgent: String?) {
        (self.hop, self.sink, self.userAgent) = (hop, sink, userAgent)
    }

    // Events after a cancel are ignored, so a handler may end; a wait for a body must end.
    func cancel() { goOn.signal() }
    func resumeSending() { goOn.signal() }
    func resumeReceiving() {}

    func send(to handler: InMemoryTransport.Handler?) {
        guard let handler else { return fail(.transport(.init(.dns, during: .resolving, "There is no such host."))) }
        sink.entered(.sending)
        var request = hop.request
        if let userAgent, !request.headers.contains(.userAgent) { request.headers[.userAgent] = userAgent }
        if let source = hop.openBody() {
            var content = Data()
            reading: while true {
                switch source.next(upTo: 64 * 1024) {
                case .bytes(let bytes): content += bytes
                case .pending: goOn.wait()
                case .end: break reading
                case .failed(let error): return fail(.requestBody(error))
                }
                sink.sent(Int64(content.count))
            }
            request.body = .bytes(content)
        }
        sink.entered(.waiting)
        do {
            let (response, content) = try handler(request)
            var metrics = HTTP.Metrics()
            metrics.bytesReceived = Int64(content.count)
            sink.finished(response, body: content, trailers: nil, metrics: metrics)
        } catch { fail(.transport(.init(.other, during: .waiting, "The handler failed."))) }
    }

    func fail(_ failure: HTTPTransferFailure<HTTPTransferError>) { sink.failed(failure, metrics: .init()) }
}

/// The stack over it: everything but these lines comes from the engine.
struct InMemoryStack: HTTPTransportStack {
    let engine: HTTPEngine<InMemoryTransport>

    init(
        _ configuration: Network.Configuration = .init(),
        handlers: @escaping @Sendable (HTTP.Origin) -> InMemoryTransport.Handler?
    ) throws {
        let transport = InMemoryTransport(userAgent: configuration.userAgent, handlers: handlers)
        try transport.capabilities.require(for: configuration)
        engine = HTTPEngine(transport: transport, configuration: configuration)
    }
}
