internal import Dispatch
internal import FoundationEssentials
public import NetworkStack

extension Network.CurlNetworkStack {
    /// Opens a connection to an origin, TLS included, and keeps it for a request to come. Nothing is sent to the origin.
    ///
    /// It takes a place among the origin's connections while it opens one. A connection that is there already serves.
    /// libcurl 8.0 and newer use no connection of HTTP/1.1 on which bytes wait, and the session tickets of most servers of
    /// TLS 1.3 do: there, it is worth its while before servers of HTTP/2 alone.
    ///
    /// - Parameter origin: Where requests are expected to go.
    /// - Throws: What a fetch would fail with that could not connect; ``/NetworkStack/HTTPFetchError/cancelled`` if the task
    ///   is cancelled. The queue and connect timeouts count, or in want of one the idle timeout.
    public func preconnect(to origin: HTTP.Origin) async throws(Network.CurlFetchError) {
        var options = engine.options
        options.timeouts.connect = options.timeouts.connect ?? options.timeouts.idle
        options.timeouts.queue = options.timeouts.queue ?? options.timeouts.idle
        let hop: HTTPHop
        let context = HTTP.FetchContext(url: "\(origin)/")
        let trust: ServerTrust
        do { trust = try engine.trust(for: origin) } catch { throw .untrusted(error, context) }
        do { hop = try HTTPHop(to: origin, options: options, trust: trust) } catch {
            throw .invalidRequest(error.reason)
        }
        let sink = PreconnectionSink(connect: options.timeouts.connect ?? options.timeouts.idle)
        let transfer = engine.transport.start(hop, sink: sink, opensOnly: true)
        // However it ends, nothing is left of it.
        defer { transfer.cancel() }
        let outcome = await withTaskCancellationHandler {
            await sink.outcome.take()
        } onCancel: {
            transfer.cancel()
            sink.outcome.fill(.cancelled)
        }
        switch outcome {
        case .opened: return
        case .cancelled: throw .cancelled
        case .failed(let failure):
            throw .init(failure.mapTransport { $0 }, context) { $0 }
        }
    }
}

/// Waits for a connection, and hears of nothing else.
private final class PreconnectionSink: HTTPTransferSink {
    enum Outcome {
        case opened
        case cancelled
        case failed(HTTPTransferFailure<CurlError>)
    }

    let outcome = Handover<Outcome>()
    private let connect: Duration
    private let isTimed = Lock(false)

    init(connect: Duration) { self.connect = connect }

    /// While another transfer finds out what the host speaks, libcurl's own clock does not run.
    func entered(_ phase: HTTP.Phase) {
        let isFirst = isTimed.withLock { isTimed in
            defer { isTimed = true }
            return !isTimed
        }
        guard isFirst else { return }
        // A moment later, so that where libcurl's clock runs, it says what it was at.
        let limit = min(connect, .seconds(Int32.max)) + .milliseconds(20)
        DispatchQueue.global().asyncAfter(deadline: .now() + limit.dispatchInterval) { [outcome] in
            outcome.fill(.failed(.timedOut(.connect, during: phase)))
        }
    }

    func informational(_ response: HTTP.Response) {}
    func head(_ response: HTTP.Response) {}
    func body(_ chunk: Data) -> Bool { true }
    func withheld(_ count: Int64) {}
    func sent(_ total: Int64) {}
    func finished(trailers: HTTP.Headers?, metrics: HTTP.Metrics) { outcome.fill(.opened) }
    func failed(_ failure: HTTPTransferFailure<CurlError>, metrics: HTTP.Metrics) { outcome.fill(.failed(failure)) }
}
