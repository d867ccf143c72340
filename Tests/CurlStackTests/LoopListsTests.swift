import CCurl
import FoundationEssentials
import Glibc
import Testing

@testable import CurlStack
@testable import NetworkStack

@Suite("The lists of a loop")
final class LoopListsTests {
    private let context = LoopContext()

    // A context retains the transfers with events, and they retain the context.
    deinit { context.end() }

    /// A body that can be read once, and has no bytes yet.
    private final class Awaited: HTTPBodySource {
        let length: Int64? = nil

        func next(upTo count: Int) -> HTTPBodyChunk { .pending }
        func rewind() -> Bool { false }
        func close() {}
    }

    /// A transfer that no loop runs.
    private func transfer(
        limits: HTTP.Options.Limits = .init(),
        body: HTTP.Body = .none,
        source: (any HTTPBodySource)? = nil
    ) throws -> Transfer {
        var options = HTTP.Options()
        options.limits = limits
        let (request, origin, text, _) = try HTTP.Request(method: .POST, url: "http://127.0.0.1/", body: body).checked()
        let hop = HTTPHop(
            request: request,
            origin: origin,
            urlText: text,
            options: Shared(options),
            trust: .ordinary,
            source: source,
            allowsWithholding: true
        )
        let control = TransferControl(hop: hop, sink: EndSink(), mailbox: Mailbox())
        var queue = ConnectionQueue(limits: .init())
        return Transfer(control, hostQueue: queue.hostQueue(of: hop), context: context, at: .now)
    }

    @Test("a list of informational heads is delivered before it is long")
    func informational() throws {
        let transfer = try transfer()
        for _ in 0..<10_000 {
            let areTaken = ["HTTP/1.1 103 \r\n", "\r\n"].map { transfer.received(headerLine: span($0).span) }
            #expect(areTaken == [true, true] && transfer.response.informational.count < 16)
        }
    }

    @Test("a call costs the bytes it received or sent, and at least a 64th of a turn")
    func shares() throws {
        let (budget, least) = (context.bodies, BodyBudget.perTurn / 64)
        #expect(budget.share == least)
        let transfer = try transfer(body: .bytes(Data(count: 2 * least)))
        var place = [UInt8](repeating: 1, count: 2 * least)
        var span = place.mutableSpan
        var bytes = span.mutableBytes
        _ = transfer.send(into: &bytes)
        #expect(budget.share == least, "Sent bytes count when the response arrives")
        for line in ["HTTP/1.1 200 OK\r\n", "\r\n"] { _ = transfer.received(headerLine: self.span(line).span) }
        #expect(budget.share == 2 * least)
        _ = budget.spend(3 * least)
        #expect(budget.share == 3 * least)
        budget.renew()
        #expect(budget.share == least)
    }

    @Test("a body of which nothing was taken is at its first byte, even if it can be read only once")
    func untaken() throws {
        let chunks = AsyncStream<Data> { $0.finish() }
        let transfer = try transfer(body: .stream(.init(chunks)), source: Awaited())
        var place = [UInt8](repeating: 0, count: 16)
        var span = place.mutableSpan
        var bytes = span.mutableBytes
        guard case .pause = transfer.send(into: &bytes) else {
            Issue.record("The body has bytes.")
            return
        }
        #expect(transfer.rewind() && transfer.stop == nil)
    }

    @Test("a transfer shares an HTTP/2 connection, with a stream or without")
    func sharing() throws {
        let transfer = try transfer()
        #expect(!transfer.isAloneOnConnection)
        transfer.attempt.isConnected = true
        #expect(transfer.isAloneOnConnection)
        transfer.attempt.speaksHTTP2 = true
        #expect(!transfer.isAloneOnConnection)
    }

    @Test(
        "ignores a GOAWAY while libcurl looks for another connection",
        arguments: ["Connection died", "REFUSED_STREAM"]
    )
    func goAways(_ reason: String) throws {
        let transfer = try transfer()
        let (first, next) = (connection(1), connection(2))
        let goAway = span("received GOAWAY, error=0, last_stream=1\n")
        transfer.attempt.connection = first
        transfer.read(debugText: span("\(reason), retrying a fresh connect (retry count: 1)\n").span)
        transfer.read(debugText: goAway.span)
        #expect(first.lastStream == nil)
        transfer.attempt.connection = next
        transfer.read(debugText: goAway.span)
        #expect(first.lastStream == nil && next.lastStream == 1)
    }

    @Test("a transfer fails if the system cannot watch its socket")
    func unwatched() throws {
        let transfer = try transfer()
        let multi = try #require(MultiHandle(poller: Poller(waker: Waker()), connections: context.connections))
        let easy = try #require(EasyHandle(multi))
        try easy.setCallbacks()
        easy.attach(transfer)
        transfer.easy = easy
        // epoll watches no such file.
        let file = open("/dev/null", O_RDONLY)
        defer { close(file) }
        let pointer = Unmanaged.passUnretained(multi).toOpaque()
        #expect(Callbacks.socket(easy.pointer, file, CURL_POLL_IN, pointer, nil) == 0)
        let (failed, code) = try #require(context.unreportedFailures.first)
        #expect(failed === transfer)
        transfer.finish(code)
        let sink = try #require(transfer.control.sink as? EndSink)
        guard case .transport(let error)? = sink.failure.withLock({ $0 }) else {
            Issue.record("The transfer did not fail")
            return
        }
        #expect(error.code == .outOfMemory && error.message.contains("socket"))
        transfer.easy = nil
    }

    @Test("starting over clears the attempt's state, and keeps the server name of the proxy")
    func startingOver() throws {
        let transfer = try transfer()
        transfer.tlsProxy = TLSPeers.Peer(serverName: "proxy", server: nil)
        transfer.attempt.openedSockets = [1]
        transfer.attempt.handshakes = 2
        transfer.attempt.serverPins = ([], nil)
        transfer.attempt.connection = connection(1)
        (transfer.attempt.isConnected, transfer.attempt.stream, transfer.attempt.restart) = (true, 1, .atOnce)
        transfer.sends.unanswered = 1
        for line in ["HTTP/1.1 417 No\r\n", "A: 1\r\n"] { _ = transfer.received(headerLine: span(line).span) }
        transfer.startOver()
        #expect(transfer.attempt.tlsRecord == nil && transfer.attempt.handshakes == 0)
        #expect(transfer.attempt.serverPins == nil && transfer.attempt.connection == nil)
        #expect(!transfer.attempt.isConnected && transfer.attempt.stream == nil && transfer.attempt.restart == nil)
        #expect(transfer.attempt.openedSockets.isEmpty && !transfer.response.head.hasBegun)
        #expect(transfer.tlsProxy?.serverName == "proxy")
        // The server has answered.
        #expect(transfer.sends.unanswered == 0)
    }

    private func connection(_ number: UInt32) -> Connection {
        Connection(EndpointPair(number: number, slot: 0), descriptor: Int32(number), tlsRecord: nil)
    }

    private func span(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test("finds each active transfer, whichever others have left")
    func active() throws {
        var active = ActiveTransfers()
        let all = try (0..<5).map { _ in try transfer() }
        for transfer in all { active.insert(transfer) }
        for (place, left) in [1, 4, 0].enumerated() {
            active.remove(all[left])
            active.remove(all[left])
            #expect(active.all.count == 4 - place)
            for transfer in all {
                #expect(active[transfer.control] === (active.contains(transfer) ? transfer : nil))
                #expect(active.contains(transfer) == active.all.contains { $0 === transfer })
            }
        }
        #expect(Set(active.removeAll().map(\.id)) == [all[2].id, all[3].id])
        #expect(active.isEmpty && active[all[2].control] == nil && !active.contains(all[3]))
    }

    @Test("releases a following transfer once, and never after it has left")
    func followers() throws {
        var active = ActiveTransfers()
        let (first, second) = try (transfer(), transfer())
        for transfer in [first, second] {
            active.insert(transfer)
            active.follow(transfer)
        }
        active.remove(second)
        #expect(active.takeFollower(first.id) === first)
        #expect(active.takeFollower(first.id) == nil && active.takeFollower(second.id) == nil)
    }

    @Test("delivers events in order, once, and later events after them")
    func touched() throws {
        let all = try (0..<3).map { _ in try transfer() }
        for transfer in [all[0], all[1], all[0], all[1]] { transfer.touch() }
        #expect(context.nextTouched() === all[0])
        all[2].touch()
        all[0].touch()
        #expect(context.nextTouched() === all[1])
        #expect(context.nextTouched() === all[2])
        #expect(context.nextTouched() === all[0])
        #expect(context.nextTouched() == nil)
        all[1].touch()
        #expect(context.nextTouched() === all[1])
    }

    @Test("an agenda gives out what is due, in order, once, and nothing that was dropped")
    func agenda() throws {
        var agenda = Agenda()
        let (first, second) = try (transfer(), transfer())
        func moment(_ second: UInt64) -> MonotonicTime { MonotonicTime(nanoseconds: second * 1_000_000_000) }
        func taken(at second: UInt64) -> [String] {
            agenda.takeDue(at: moment(second)).map { "\($0.transfer === first ? 1 : 2) \($0.task)" }
        }
        agenda.add(.startOver, for: first, at: moment(5))
        agenda.add(.send, for: second, at: moment(3))
        agenda.add(.receive, for: first, at: moment(3))
        #expect(agenda.nextMoment == moment(3) && taken(at: 2).isEmpty)
        #expect(taken(at: 3) == ["2 send", "1 receive"] && taken(at: 4).isEmpty)
        #expect(agenda.nextMoment == moment(5))
        agenda.add(.sendUnasked, for: first, at: moment(4))
        agenda.add(.sendUnasked, for: second, at: moment(4))
        agenda.add(.connect(socket: nil), for: second, at: moment(4))
        agenda.drop(.sendUnasked, of: first)
        #expect(taken(at: 4) == ["2 sendUnasked", "2 connect(socket: nil)"])
        agenda.drop(of: first)
        #expect(agenda.isEmpty && agenda.nextMoment == nil)
    }

    @Test("gives a transfer's reader to the next, empty, with the next one's limits")
    func readers() throws {
        var first: Transfer? = try transfer(limits: .init(head: 100))
        let head = try #require(first?.response.head)
        for line in ["HTTP/1.1 200 OK\r\n", "Content-Length: 1\r\n"] { _ = head.read(span(line).span) }
        first = nil
        let next = try transfer(limits: .init(head: 300))
        #expect(next.response.head === head)
        #expect(
            !next.response.head.hasBegun && next.response.head.status == nil && next.response.head.contentLength == nil
        )
        #expect(next.response.head.read(span("HTTP/1.1 404 Not Found\r\n").span) == .more)
        #expect(next.response.head.read(span("A: \(String(repeating: "a", count: 200))\r\n").span) == .more)
        #expect(next.response.head.read(span("\r\n").span) == .final)
        #expect(next.response.head.headers.count == 1 && next.response.head.status == .notFound)
        #expect(
            next.response.head.read(span("B: \(String(repeating: "b", count: 100))\r\n").span) == .refused(.tooLong)
        )
        #expect(try transfer().response.head !== head, "while the other transfer has the reader")
    }

    @Test("keeps no reader of long heads, and none of unread bodies")
    func largeReaders() throws {
        for keepsContent in [true, false] {
            var first: Transfer? = try transfer()
            let head = try #require(first?.response.head)
            if keepsContent {
                #expect(first?.response.body.append(span("content").span, expecting: 0) ?? false)
            } else {
                _ = head.read(span("HTTP/1.1 200 OK\r\n").span)
                _ = head.read(span("A: \(String(repeating: "a", count: 5000))\r\n").span)
            }
            first = nil
            #expect(try transfer().response.head !== head)
        }
    }
}
