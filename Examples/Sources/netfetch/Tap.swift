import Foundation
import NetworkStack

/// A transport that reports what passes to a reception: every hop's request, every head, and the body as it comes.
///
/// The library's engine decides everything, from redirects to timeouts; it gets the number of bytes, and does not collect
/// them.
struct Tap<Base: HTTPTransport>: HTTPTransport {
    typealias Request = HTTP.Request
    typealias Response = HTTP.Response
    typealias Failure = Base.Failure

    let base: Base
    let reception: Reception

    var capabilities: HTTP.Capabilities { base.capabilities }

    var enforcesServerTrust: Bool { base.enforcesServerTrust }

    func start(_ hop: HTTPHop, sink: any HTTPTransferSink<Base.Failure>) -> any HTTPTransfer {
        let hop = hop.withoutWithholding()
        let number = reception.begin(hop)
        let transfer = base.start(hop, sink: TapSink(reception, hop: number, sink))
        reception.hold(transfer, hop: number)
        return transfer
    }

    func response(_ response: HTTP.Response) -> HTTP.Response { response }
}

/// Reports what a transport sends to the engine's sink, for one hop.
private final class TapSink<Failure: Error>: HTTPTransferSink {
    private let reception: Reception
    private let hop: Int
    private let sink: any HTTPTransferSink<Failure>

    init(_ reception: Reception, hop: Int, _ sink: any HTTPTransferSink<Failure>) {
        self.reception = reception
        self.hop = hop
        self.sink = sink
    }

    func entered(_ phase: HTTP.Phase) {
        reception.entered(phase, hop: hop)
        sink.entered(phase)
    }

    func entered(_ phase: HTTP.Phase, on connection: HTTP.Connection, isReused: Bool) {
        reception.entered(phase, hop: hop)
        sink.entered(phase, on: connection, isReused: isReused)
    }

    func informational(_ response: HTTP.Response) {
        reception.received(informational: response, hop: hop)
        sink.informational(response)
    }

    func head(_ response: HTTP.Response) {
        reception.received(head: response, hop: hop)
        sink.head(response)
    }

    func body(_ chunk: Data) -> Bool {
        let (total, goesOn) = reception.received(body: chunk, hop: hop)
        sink.withheld(total)
        return goesOn
    }

    func withheld(_ count: Int64) { sink.withheld(count) }
    func sent(_ total: Int64) { sink.sent(total) }

    func mismatched(_ report: ServerTrustReport) { sink.mismatched(report) }

    func finished(trailers: HTTP.Headers?, metrics: HTTP.Metrics) {
        sink.finished(trailers: trailers, metrics: metrics)
    }

    func failed(_ failure: HTTPTransferFailure<Failure>, metrics: HTTP.Metrics) {
        reception.failed(metrics, hop: hop)
        sink.failed(failure, metrics: metrics)
    }
}
