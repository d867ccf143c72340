internal import AsyncHTTPClient
internal import FoundationEssentials
internal import NIOCore
internal import NIOFoundationEssentialsCompat
internal import NIOHTTP1
internal import NIOSSL
public import NetworkStack

/// Carries hops with AsyncHTTPClient. Its redirects and timeouts are off; the engine has its own.
public struct AsyncHTTPClientTransport: HTTPTransport {
    /// What AsyncHTTPClient can do, and the reason for each thing that it cannot.
    public var capabilities: HTTP.Capabilities { Self.capabilities }

    private let configuration: Network.Configuration
    private let clients: Clients

    init(_ configuration: Network.Configuration, on loop: any EventLoop) throws(Network.ConfigurationError) {
        try Self.capabilities.require(for: configuration)
        self.configuration = configuration
        let tls = try TLSConfiguration(configuration.tls.loaded())
        clients = Clients(tls, idleAge: configuration.connections.idleAge, on: loop)
    }

    /// Starts a hop.
    public func start(_ hop: HTTPHop, sink: any HTTPTransferSink<Failure>) -> any HTTPTransfer {
        let transfer = RepeatedTransfer(hop, to: sink) { execute($0, of: $1) }
        transfer.begin()
        return transfer
    }

    private func execute(_ transfer: RepeatedTransfer.Attempt, of repeated: RepeatedTransfer) {
        let hop = transfer.hop
        transfer.entered(.connecting)
        do {
            let fields = hop.headers(configuration, decoding: "gzip, deflate")
            let request = try HTTPClient.Request(
                url: hop.url,
                method: HTTPMethod(rawValue: hop.request.method.rawValue),
                headers: HTTPHeaders(fields.map { ($0.name.rawValue, $0.value) }),
                body: transfer.body.map { body in .stream(contentLength: body.length) { send(transfer, $0) } }
            )
            let delegate = ClientDelegate(transfer, of: repeated)
            let client = clients.client(for: hop, repeats: repeated.repeats)
            let task = client.execute(request: request, delegate: delegate)
            transfer.onStop { task.cancel() }
        } catch {
            transfer.failed(.invalidRequest("AsyncHTTPClient does not take the request: \(error)"))
        }
    }

    private typealias Writer = HTTPClient.Body.StreamWriter

    private func send(_ transfer: HTTPReportedTransfer<Failure>, _ writer: Writer) -> EventLoopFuture<Void> {
        let end = clients.loop.makePromise(of: Void.self)
        transfer.sendBody { data, written in
            writer.write(.byteBuffer(ByteBuffer(data: data))).whenSuccess(written)
        } end: { error in
            end.completeWith(error.map { .failure($0) } ?? .success(()))
        }
        return end.futureResult
    }

    /// Closes all connections.
    public func shutDown() async { await clients.shutDown() }

    static let capabilities = HTTP.Capabilities(unsupported: [
        .http2PriorKnowledge: "AsyncHTTPClient negotiates HTTP/2 over TLS only.",
        .connectionLifetime: "AsyncHTTPClient limits the uses of a connection, not its age.",
        .endedAttempts: "AsyncHTTPClient goes on connecting, for later requests.",
        .closesOnExec: "NIO opens sockets without the flag, and does not show their descriptors.",
        .keepAliveTimeouts: "AsyncHTTPClient does not read Keep-Alive.",
        .streamsPerConnection: "AsyncHTTPClient opens as many streams as the server allows.",
        .preconnection: "AsyncHTTPClient opens a connection only for a request.",
        .proxies: "AsyncHTTPClient has one proxy for a client, without exceptions.",
        .unixSockets: "AsyncHTTPClient has Unix domain sockets in URLs of a scheme for them only.",
        .hostOverrides: "AsyncHTTPClient overrides a name for all ports, with one address.",
        .addressFamily: "AsyncHTTPClient tries the addresses of both families.",
        .localAddress: "AsyncHTTPClient takes no interface and no ports.",
        .dnsCacheAge: "AsyncHTTPClient looks a name up for each connection.",
        .expectContinue: "AsyncHTTPClient does not wait for 100 Continue.",
        .informationalResponses: "AsyncHTTPClient drops informational responses.",
        .headLimit: "NIO's parser has limits besides: 256 fields, and 80 KiB.",
        .unknownCodings: "AsyncHTTPClient decodes the first of several codings.",
        .decompressionRatio: "AsyncHTTPClient has one limit for all requests of a client.",
        .publicKeyPinning: "AsyncHTTPClient does not show a server's certificates.",
        .serverPins: "AsyncHTTPClient does not show a server's certificates.",
        .alternativeNames: "NIOSSL reads a name in the subject where there is no other.",
        .tlsFailureDetail: "NIOSSL reports every fault of a certificate with one code.",
        .requestTrailers: "AsyncHTTPClient sends no trailers.",
        .trailers: "AsyncHTTPClient drops trailers.",
        .pathAsIs: "AsyncHTTPClient reads the path from a URL.",
        .nonconformingHeads: "NIO's parser refuses what RFC 9112 does not allow.",
        .connectionEvents: "AsyncHTTPClient does not show its connections.",
        .phaseMetrics: "AsyncHTTPClient does not report when a name is resolved or a connection is open.",
        .digestAuthentication: "AsyncHTTPClient answers no challenges.",
    ])
}
