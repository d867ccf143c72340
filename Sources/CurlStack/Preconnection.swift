internal import Dispatch
internal import FoundationEssentials
public import NetworkStack

extension Network.CurlNetworkStack {
    /// Opens a connection to an origin, including TLS, and keeps it for a later request. Nothing is sent to the origin.
    ///
    /// While it connects, it counts towards the origin's connection limit. An idle connection to the origin is used as it is.
    /// libcurl 8.0 and newer do not use an HTTP/1.1 connection with unread bytes, and most TLS 1.3 servers send session tickets;
    /// with these versions it helps only for servers with HTTP/2.
    ///
    /// - Parameter origin: Where requests are expected to go.
    /// - Throws: The error of a fetch that could not connect; ``/NetworkStack/HTTPFetchError/cancelled`` if the task is
    ///   cancelled. The queue and connect timeouts apply; where they are not set, the idle timeout does.
    public func preconnect(to origin: HTTP.Origin) async throws(Network.CurlFetchError) {
        var options = engine.options
        let connect = options.timeouts.connect ?? options.timeouts.idle
        options.timeouts.connect = connect
        options.timeouts.queue = options.timeouts.queue ?? options.timeouts.idle
        let hop: HTTPHop
        let context = HTTP.FetchContext(url: "\(origin)/")
        let trust: ServerTrust
        do { trust = try engine.trust(for: origin) } catch { throw .untrusted(error, context) }
        do { hop = try HTTPHop(to: origin, options: options, trust: trust) } catch {
            throw .invalidRequest(error.reason)
        }
        let sink = PreconnectionSink(connect: connect, context)
        let transfer = engine.transport.start(hop, sink: sink, opensOnly: true)
        // However it ends, nothing is kept of the transfer.
        defer { transfer.cancel() }
        try await withTaskCancellationHandler {
            await sink.outcome.take()
        } onCancel: {
            transfer.cancel()
            sink.outcome.fill(.failure(.cancelled))
        }
        .get()
    }
}

/// Waits for a connection, and ignores other events.
private final class PreconnectionSink: HTTPTransferSink {
    let outcome = OneShot<Result<Void, Network.CurlFetchError>>()
    private let connect: Duration
    private let context: HTTP.FetchContext
    private let isTimed = Lock(false)

    init(connect: Duration, _ context: HTTP.FetchContext) { (self.connect, self.context) = (connect, context) }

    /// While another transfer finds out the host's version, libcurl's timeout does not run.
    func entered(_ phase: HTTP.Phase) {
        if isTimed.withLock({ exchange(&$0, with: true) }) { return }
        // A moment later than libcurl's timeout, whose error names the phase.
        let limit = min(connect, .seconds(Int32.max)) + .milliseconds(20)
        DispatchQueue.global().asyncAfter(deadline: .now() + limit.dispatchInterval) { [outcome, context] in
            outcome.fill(.failure(.timedOut(.connect, during: phase, context)))
        }
    }

    func informational(_ response: HTTP.Response) {}
    func head(_ response: HTTP.Response) {}
    func body(_ chunk: Data) -> Bool { true }
    func withheld(_ count: Int64) {}
    func sent(_ total: Int64) {}
    func finished(trailers: HTTP.Headers?, metrics: HTTP.Metrics) { outcome.fill(.success(())) }
    func failed(_ failure: HTTPTransferFailure<CurlError>, metrics: HTTP.Metrics) {
        outcome.fill(.failure(failure.fetchError.typed({ $0 }, in: context)))
    }
}
