import CurlStack
import FoundationEssentials

@testable import NetworkStack

/// A stack on libcurl that ignores a part of its options or of a response, and reports no failure.
struct LyingStack: HTTPTransportStack {
    let engine: HTTPEngine<LyingTransport>

    init(_ configuration: Network.Configuration, _ omission: Omission) throws {
        var followed = configuration
        omission.configuration(&followed)
        let transport = LyingTransport(
            base: try Network.CurlNetworkStack(configuration: followed).engine.transport,
            omission: omission
        )
        engine = HTTPEngine(transport: transport, configuration: configuration)
    }
}

/// What a lying stack leaves out. By default, nothing.
struct Omission: Sendable {
    /// Changes the configuration that the transport follows; the engine keeps the caller's.
    var configuration: @Sendable (inout Network.Configuration) -> Void = { _ in }
    /// Changes a hop before it is sent.
    var hop: @Sendable (HTTPHop) throws -> HTTPHop = { $0 }
    /// Changes the head of a response.
    var head: @Sendable (inout HTTP.Response) -> Void = { _ in }
    /// Changes the metrics of a hop.
    var metrics: @Sendable (inout HTTP.Metrics) -> Void = { _ in }
    /// Changes the error of a failure; `nil` reports the response as complete instead.
    var failure: @Sendable (CurlError) -> CurlError? = { $0 }
    var dropsInformational = false
    var dropsTrailers = false
    /// Reports neither connections nor the phases in which they are opened.
    var hidesConnections = false
    var ignoresBackPressure = false
    var ignoresCancels = false
}

/// The transport of a lying stack.
struct LyingTransport: HTTPTransport {
    typealias Failure = CurlError

    let base: CurlTransport
    let omission: Omission

    var capabilities: HTTP.Capabilities { HTTP.Capabilities() }
    var enforcesServerTrust: Bool { true }

    func start(_ hop: HTTPHop, sink: any HTTPTransferSink<CurlError>) -> any HTTPTransfer {
        let changed = (try? omission.hop(hop)) ?? hop
        let transfer = base.start(changed.withoutWithholding(), sink: LyingSink(sink, omission))
        return omission.ignoresCancels ? EndlessTransfer(transfer) : transfer
    }

    func shutDown() async { await base.shutDown() }
}

/// Forwards a hop's events, except those that are left out.
private final class LyingSink: HTTPTransferSink {
    private let base: any HTTPTransferSink<CurlError>
    private let omission: Omission

    init(_ base: any HTTPTransferSink<CurlError>, _ omission: Omission) {
        (self.base, self.omission) = (base, omission)
    }

    func entered(_ phase: HTTP.Phase) {
        if !omission.hidesConnections || !HTTP.Phase.opening.contains(phase) { base.entered(phase) }
    }

    func entered(_ phase: HTTP.Phase, on connection: HTTP.Connection, isReused: Bool) {
        if omission.hidesConnections { return base.entered(phase) }
        base.entered(phase, on: connection, isReused: isReused)
    }

    func informational(_ response: HTTP.Response) {
        if !omission.dropsInformational { base.informational(response) }
    }

    func head(_ response: HTTP.Response) {
        var response = response
        omission.head(&response)
        base.head(response)
    }

    func body(_ chunk: Data) -> Bool { base.body(chunk) || omission.ignoresBackPressure }
    func withheld(_ count: Int64) { base.withheld(count) }
    func sent(_ total: Int64) { base.sent(total) }
    func mismatched(_ report: ServerTrustReport) { base.mismatched(report) }

    func finished(trailers: HTTP.Headers?, metrics: HTTP.Metrics) {
        base.finished(trailers: omission.dropsTrailers ? nil : trailers, metrics: changed(metrics))
    }

    func failed(_ failure: HTTPTransferFailure<CurlError>, metrics: HTTP.Metrics) {
        guard case .transport(let error) = failure else { return base.failed(failure, metrics: changed(metrics)) }
        guard let error = omission.failure(error) else { return finished(trailers: nil, metrics: metrics) }
        base.failed(.transport(error), metrics: changed(metrics))
    }

    private func changed(_ metrics: HTTP.Metrics) -> HTTP.Metrics {
        var metrics = metrics
        omission.metrics(&metrics)
        return metrics
    }
}

extension HTTP.Phase {
    fileprivate static let opening: Set<HTTP.Phase> = [.resolving, .connecting, .securing]
}

/// A transfer that goes on after a cancel.
private final class EndlessTransfer: HTTPTransfer {
    private let base: any HTTPTransfer

    init(_ base: any HTTPTransfer) { self.base = base }

    func cancel() {}
    func resumeReceiving() { base.resumeReceiving() }
    func resumeSending() { base.resumeSending() }
}

extension HTTPHop {
    /// Returns the hop with another request, options, trust or source.
    func changed(
        trust: ServerTrust? = nil,
        source: (any HTTPBodySource)? = nil,
        options change: (inout HTTP.Options) -> Void = { _ in },
        request edit: (inout HTTP.Request) -> Void = { _ in }
    ) throws -> HTTPHop {
        var (options, request) = (options, request)
        change(&options)
        edit(&request)
        let (checked, origin, text, _) = try request.checked(pathAsIs: options.pathAsIs)
        return HTTPHop(
            request: checked,
            origin: origin,
            urlText: text,
            options: Shared(options),
            trust: trust ?? self.trust,
            source: request.body.isNone ? nil : source ?? self.source,
            allowsWithholding: false,
            needsNewConnection: needsNewConnection
        )
    }
}

/// A body that is read to its end before its first byte is sent.
final class HoardedSource: HTTPBodySource {
    private let base: any HTTPBodySource
    private let content = Lock((bytes: Data(), sent: 0, isComplete: false))

    init(_ base: any HTTPBodySource) { self.base = base }

    var length: Int64? { base.length }
    var trailers: HTTP.Headers? { base.trailers }

    func next(upTo count: Int) -> HTTPBodyChunk {
        content.withLock { content in
            while !content.isComplete {
                switch base.next(upTo: 64 * 1024) {
                case .bytes(let more): content.bytes.append(more)
                case .end: content.isComplete = true
                case let other: return other
                }
            }
            let piece = content.bytes[content.sent...].prefix(count)
            content.sent += piece.count
            return piece.isEmpty ? .end : .bytes(Data(piece))
        }
    }

    func rewind() -> Bool {
        content.withLock { $0 = (Data(), 0, false) }
        return base.rewind()
    }

    func close() { base.close() }
}
