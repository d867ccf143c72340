import CurlStack
import FoundationEssentials
import NetworkStack
import NetworkStackTesting
import Testing

@Suite("The events of a hop")
struct EventOrderTests {
    /// Forwards the events, and records those that come after the end.
    final class Sink: HTTPTransferSink {
        private let state = Lock((events: [String](), ends: 0, late: [String]()))
        private let base: any HTTPTransferSink<CurlError>

        init(_ base: any HTTPTransferSink<CurlError>) { self.base = base }

        var late: [String] { state.withLock { $0.late } }
        var ends: Int { state.withLock { $0.ends } }

        private func note(_ event: String, isEnd: Bool = false) {
            state.withLock { state in
                if state.ends > 0 { state.late.append(event) }
                if isEnd { state.ends += 1 }
            }
        }

        func entered(_ phase: HTTP.Phase) {
            note("entered \(phase)")
            base.entered(phase)
        }
        func informational(_ response: HTTP.Response) {
            note("informational")
            base.informational(response)
        }
        func head(_ response: HTTP.Response) {
            note("head")
            base.head(response)
        }
        func body(_ chunk: Data) -> Bool {
            note("body")
            return base.body(chunk)
        }
        func withheld(_ count: Int64) {
            note("withheld")
            base.withheld(count)
        }
        func sent(_ total: Int64) {
            note("sent")
            base.sent(total)
        }
        func finished(trailers: HTTP.Headers?, metrics: HTTP.Metrics) {
            note("finished", isEnd: true)
            base.finished(trailers: trailers, metrics: metrics)
        }
        func finished(_ response: HTTP.Response, body: Data, trailers: HTTP.Headers?, metrics: HTTP.Metrics) {
            note("finished at once", isEnd: true)
            base.finished(response, body: body, trailers: trailers, metrics: metrics)
        }
        func failed(_ failure: HTTPTransferFailure<CurlError>, metrics: HTTP.Metrics) {
            note("failed", isEnd: true)
            base.failed(failure, metrics: metrics)
        }
    }

    /// The curl transport, with recorded events.
    struct Overheard: HTTPTransport {
        typealias Request = HTTP.Request
        typealias Response = HTTP.Response

        let base: CurlTransport
        let sinks = Lock<[Sink]>([])

        var capabilities: HTTP.Capabilities { base.capabilities }

        func start(_ hop: HTTPHop, sink: any HTTPTransferSink<CurlError>) -> any HTTPTransfer {
            let sink = Sink(sink)
            sinks.withLock { $0.append(sink) }
            return base.start(hop, sink: sink)
        }

        func response(_ response: HTTP.Response) -> HTTP.Response { base.response(response) }
    }

    struct Stack: HTTPTransportStack {
        typealias Request = HTTP.Request
        typealias Response = HTTP.Response

        let engine: HTTPEngine<Overheard>
    }

    @Test("end with the end of the hop", arguments: ["ok", "chunked", "cut"])
    func last(how: String) async throws {
        let server = try ScriptedServer.responding { _ in
            switch how {
            case "chunked": .chunked(["some", "content"])
            case "cut": .steps([.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"), .close])
            default: .ok("content")
            }
        }
        let transport = Overheard(base: try Network.CurlNetworkStack().engine.transport)
        let stack = Stack(engine: HTTPEngine(transport: transport))
        // Events that follow an end are reported before the next transfer ends.
        for _ in 1...3 {
            _ = try? await stack.fetch(resource: .init(baseRequestMaking: .request(HTTP.Request(url: server.url("/")))))
        }
        let sinks = transport.sinks.withLock { $0 }
        #expect(sinks.count == 3)
        for sink in sinks { #expect(sink.ends == 1 && sink.late == []) }
    }
}
