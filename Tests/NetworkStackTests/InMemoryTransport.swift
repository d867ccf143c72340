import Dispatch
import FoundationEssentials
import NetworkStack

/// A third transport, written on nothing but the public waist: hosts are closures.
struct InMemoryTransport: HTTPTransport {
    typealias Request = HTTP.Request
    typealias Response = HTTP.Response
    typealias Handler = @Sendable (HTTP.Request) throws -> (HTTP.Response, Data)

    struct Failure: HTTPTransportError {
        let kind: HTTP.FailureKind
        let phase: HTTP.Phase?
    }

    let capabilities = HTTP.Capabilities(unsupported: InMemoryTransport.lacking)
    let userAgent: String?
    let handlers: @Sendable (HTTP.Origin) -> Handler?

    func start(_ hop: HTTPHop, sink: any HTTPTransferSink<Failure>) -> any HTTPTransfer {
        let transfer = InMemoryTransfer(hop, sink, userAgent)
        transfer.queue.async {
            do throws(Network.ConfigurationError) {
                if hop.options.timeouts.queue != nil { try capabilities.require(.queueTimeout) }
                if !hop.options.digestCredentials.isEmpty { try capabilities.require(.digestAuthentication) }
                if hop.options.timeouts.connect != nil { try capabilities.require(.connectTimeout) }
                if hop.options.version == .http2PriorKnowledge { try capabilities.require(.http2PriorKnowledge) }
                if hop.options.expectContinue != nil { try capabilities.require(.expectContinue) }
                if hop.options.limits.decompressionRatio != nil { try capabilities.require(.decompressionRatio) }
                if hop.options.onInformational != nil { try capabilities.require(.informationalResponses) }
                transfer.send(to: handlers(hop.origin))
            } catch { transfer.fail(.init(error)) }
        }
        return transfer
    }

    func response(_ response: HTTP.Response) -> HTTP.Response { response }
}

/// One hop. Its queue keeps the events one at a time and in order.
final class InMemoryTransfer: HTTPTransfer {
    let queue = DispatchQueue(label: "in-memory transfer")
    private let hop: HTTPHop
    private let sink: any HTTPTransferSink<InMemoryTransport.Failure>
    private let userAgent: String?
    private let goOn = DispatchSemaphore(value: 0)

    init(_ hop: HTTPHop, _ sink: any HTTPTransferSink<InMemoryTransport.Failure>, _ userAgent: String?) {
        (self.hop, self.sink, self.userAgent) = (hop, sink, userAgent)
    }

    // Events after a cancel are ignored, so a handler may end; a wait for a body must end.
    func cancel() { goOn.signal() }
    func resumeSending() { goOn.signal() }
    func resumeReceiving() {}

    func send(to handler: InMemoryTransport.Handler?) {
        guard let handler else { return fail(.transport(.init(kind: .dns, phase: .resolving))) }
        sink.entered(.sending)
        var request = hop.request
        if let userAgent, !request.headers.contains(.userAgent) { request.headers[.userAgent] = userAgent }
        if let source = hop.source {
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
        } else if let length = request.body.length, length > 0 {
            sink.sent(length)
        }
        sink.entered(.waiting)
        do {
            let (response, content) = try handler(request)
            sink.finished(response, body: content, trailers: nil, metrics: .init())
        } catch { fail(.transport(.init(kind: .other, phase: .waiting))) }
    }

    func fail(_ failure: HTTPTransferFailure<InMemoryTransport.Failure>) { sink.failed(failure, metrics: .init()) }
}

/// The stack over it: everything but these lines comes from the engine.
struct InMemoryStack: HTTPTransportStack {
    let engine: HTTPEngine<InMemoryTransport>

    init(
        _ configuration: Network.Configuration = .init(),
        handlers: @escaping @Sendable (HTTP.Origin) -> InMemoryTransport.Handler?
    ) throws {
        do { try configuration.validate() } catch { throw Network.ConfigurationError(error) }
        let transport = InMemoryTransport(userAgent: configuration.userAgent, handlers: handlers)
        if configuration.connections.total != nil { try transport.capabilities.require(.totalConnectionLimit) }
        try transport.capabilities.requireConnections(of: configuration)
        if configuration.connections.idleAge != nil { try transport.capabilities.require(.idleConnectionAge) }
        if configuration.tls.trustRoots != .system { try transport.capabilities.require(.customTrustRoots) }
        engine = HTTPEngine(transport: transport, configuration: configuration)
    }
}
