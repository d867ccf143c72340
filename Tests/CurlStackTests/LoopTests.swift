import FoundationEssentials
import NetworkStackTesting
import Testing

@testable import CurlStack
@testable import NetworkStack

/// How a loop handles commands that are there together. It runs on the test's thread until it ends.
@Suite("Loop", .timeLimit(.minutes(1)))
struct LoopTests {
    /// Records what a sink receives, and calls a function at the first informational head, and one at a failure.
    private final class Sink: HTTPTransferSink {
        private let log = Lock<[String]>([])
        private let atFirstHead: @Sendable () -> Void
        private let atFailure: @Sendable () -> Void

        init(atFirstHead: @escaping @Sendable () -> Void = {}, atFailure: @escaping @Sendable () -> Void = {}) {
            (self.atFirstHead, self.atFailure) = (atFirstHead, atFailure)
        }

        var events: [String] { log.withLock { $0 } }

        private func note(_ event: String) { log.withLock { $0.append(event) } }

        func entered(_ phase: HTTP.Phase) { note("entered \(phase)") }
        func informational(_ response: HTTP.Response) {
            if !events.contains("informational") { atFirstHead() }
            note("informational")
        }
        func head(_ response: HTTP.Response) { note("head") }
        func body(_ chunk: Data) -> Bool {
            note("body")
            return true
        }
        func withheld(_ count: Int64) { note("withheld") }
        func sent(_ total: Int64) { note("sent") }
        func finished(trailers: HTTP.Headers?, metrics: HTTP.Metrics) { note("finished") }
        func failed(_ failure: HTTPTransferFailure<CurlError>, metrics: HTTP.Metrics) {
            note("failed")
            atFailure()
        }
    }

    private func control(_ server: ScriptedServer, _ sink: Sink, _ mailbox: Mailbox) throws -> TransferControl {
        let origin = try HTTP.Origin(of: HTTP.Request(url: server.url()).url)
        let hop = try HTTPHop(to: origin, options: .init(), trust: .ordinary)
        return TransferControl(hop: hop, sink: sink, mailbox: mailbox)
    }

    private func run(_ mailbox: Mailbox, total: Int? = nil) throws {
        var configuration = Network.Configuration()
        configuration.connections.total = total
        var loop = Loop(mailbox: mailbox, configuration: configuration, authorities: .loadedByCurl)
        loop.run()
    }

    @Test("a waiter gets a free place before later ones, whatever their hosts")
    func places() throws {
        let (mailbox, order) = (Mailbox(), Lock<[Int]>([]))
        let servers = try (0..<3).map { number in
            try ScriptedServer.responding { _ in
                order.withLock { $0.append(number) }
                return .ok("done")
            }
        }
        defer { withExtendedLifetime(servers) {} }
        let sinks = servers.map { _ in Sink() }
        let controls = try zip(servers, sinks).map { try control($0, $1, mailbox) }
        for command in [Mailbox.Command.start(controls[0]), .start(controls[1]), .cancel(controls[0])] {
            mailbox.post(command)
        }
        mailbox.post(.start(controls[2]))
        mailbox.post(.stop)
        try run(mailbox, total: 1)
        #expect(order.withLock { $0 } == [1, 2])
        #expect(sinks.map(\.events.last) == [nil, "finished", "finished"])
    }

    @Test("nothing is delivered after a shutdown has ended a hop, even from the same turn")
    func shutdown() throws {
        let mailbox = Mailbox()
        let hints = String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: 20)
        let server = try ScriptedServer { _ in
            [.receiveHead, .send(hints + "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nsome"), .waitForClose]
        }
        let sink = Sink(atFirstHead: { mailbox.post(.shutDown) })
        mailbox.post(.start(try control(server, sink, mailbox)))
        try run(mailbox)
        #expect(sink.events.count { $0 == "informational" } == 16)
        #expect(sink.events.last == "failed")
    }

    @Test("nothing is delivered after a cancel, even from the same turn")
    func cancel() throws {
        let mailbox = Mailbox()
        let hints = String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: 20)
        let server = try ScriptedServer { _ in
            [.receiveHead, .send(hints + "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nsome"), .waitForClose]
        }
        let started = Lock<TransferControl?>(nil)
        let sink = Sink(atFirstHead: {
            if let control = started.withLock({ $0 }) { mailbox.post(.cancel(control)) }
            mailbox.post(.stop)
        })
        let control = try control(server, sink, mailbox)
        started.withLock { $0 = control }
        defer { started.withLock { $0 = nil } }
        mailbox.post(.start(control))
        try run(mailbox)
        #expect(sink.events.count { $0 == "informational" } == 16)
        #expect(sink.events.last == "informational")
    }

    /// A loop that stops fails what is started, and each failure starts the same hop again. So every turn has a command.
    @Test("sockets are read while commands keep coming")
    func flood() throws {
        let mailbox = Mailbox()
        let server = try ScriptedServer { _ in
            // Until then, libcurl's timers for connecting are over. At those, it reads the socket unasked.
            [.receiveHead, .pause(.milliseconds(500)), .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")]
        }
        let (sink, end, repeated) = (Sink(), ContinuousClock.now + .seconds(20), Lock<TransferControl?>(nil))
        let refused = Sink(atFailure: {
            guard sink.events.last != "finished", .now < end, let control = repeated.withLock({ $0 }) else { return }
            mailbox.post(.start(control))
        })
        let control = try control(server, refused, mailbox)
        repeated.withLock { $0 = control }
        defer { repeated.withLock { $0 = nil } }
        mailbox.post(.start(try self.control(server, sink, mailbox)))
        mailbox.post(.stop)
        mailbox.post(.start(control))
        try run(mailbox)
        #expect(sink.events.last == "finished" && .now < end)
        #expect(refused.events.count > 1)
    }

    @Test("a hop that asks for a new connection gets one")
    func newConnection() async throws {
        let server = try ScriptedServer.responding { _ in .ok("done") }
        let transport = try Network.CurlNetworkStack().engine.transport
        let request = try HTTP.Request(url: server.url())
        for needsNewConnection in [false, true, false] {
            let hop = HTTPHop(
                request: request,
                origin: try HTTP.Origin(of: request.url),
                urlText: server.url(),
                options: Shared(HTTP.Options()),
                trust: .ordinary,
                source: nil,
                allowsWithholding: true,
                needsNewConnection: needsNewConnection
            )
            let sink = EndSink()
            let transfer = transport.start(hop, sink: sink)
            try await sink.ended.opened()
            withExtendedLifetime(transfer) {}
        }
        #expect(server.connections.map(\.requests.count).sorted() == [1, 2])
    }

    @Test("a hop that a stack refuses is released, however it was cancelled")
    func refused() async throws {
        var configuration = Network.Configuration()
        configuration.connections.perHost = 0
        let transport = Network.CurlNetworkStack(orRefusing: configuration).engine.transport
        let origin = try HTTP.Origin(of: HTTP.Request(url: "http://127.0.0.1:9/").url)
        let hop = try HTTPHop(to: origin, options: .init(), trust: .ordinary)
        let sink = EndSink()
        weak var released: TransferControl?
        do {
            let transfer = try #require(transport.start(hop, sink: sink) as? TransferControl)
            released = transfer
            transfer.resumeReceiving()
            transfer.cancel()
        }
        try await sink.ended.opened()
        // The block that reported the failure may be about to return.
        for _ in 0..<5000 where released != nil { try await Task.sleep(for: .milliseconds(1)) }
        #expect(released == nil)
    }
}
