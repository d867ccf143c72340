import Dispatch
import FoundationEssentials
import NetworkStack
import Testing

/// A backend whose hops are carried by a closure.
private struct ScriptedTransport: HTTPTransport {
    typealias Carry = @Sendable (HTTPHop, any HTTPTransferSink<HTTPTransferError>) -> any HTTPTransfer

    var capabilities = HTTP.Capabilities()
    let carry: Carry

    func start(_ hop: HTTPHop, sink: any HTTPTransferSink<HTTPTransferError>) -> any HTTPTransfer { carry(hop, sink) }
}

private final class ScriptedStack: HTTPTransportStack {
    let engine: HTTPEngine<HTTPQueuedTransport<ScriptedTransport>>

    init(perHost: Int = 8, lacking: [HTTP.Capability: String] = [:], carry: @escaping ScriptedTransport.Carry) {
        let transport = ScriptedTransport(capabilities: .init(unsupported: lacking), carry: carry)
        engine = HTTPEngine(transport: HTTPQueuedTransport(transport, .init(perHost: perHost)))
    }
}

private final class Idle: HTTPTransfer {
    func cancel() {}
    func resumeSending() {}
    func resumeReceiving() {}
}

private final class CountingTransfer: HTTPTransfer {
    let cancels = Lock(0)

    func cancel() { cancels.withLock { $0 += 1 } }
    func resumeSending() {}
    func resumeReceiving() {}
}

@Suite("Help for authors of backends", .timeLimit(.minutes(1)))
struct BackendHelpTests {
    private static let url = "http://a.test/"

    /// Figures of a hop that the transport has sent again twice by itself.
    private static var metrics: HTTP.Metrics {
        var metrics = HTTP.Metrics()
        metrics.resends = 2
        return metrics
    }

    /// Answers a hop on another thread.
    private static func answer(_ sink: any HTTPTransferSink<HTTPTransferError>, _ url: URL) {
        DispatchQueue.global().async {
            sink.finished(.init(status: 200, url: url), body: Data("ok".utf8), trailers: nil, metrics: metrics)
        }
    }

    private static func lose(_ sink: any HTTPTransferSink<HTTPTransferError>) {
        DispatchQueue.global().async {
            sink.failed(.transport(.init(.empty, during: .waiting, "lost")), metrics: metrics)
        }
    }

    @Test("A queued transport starts no more hops than allowed, in order")
    func limit() async throws {
        let hops = Lock<[(HTTPHop, any HTTPTransferSink<HTTPTransferError>)]>([])
        let stack = ScriptedStack(perHost: 1) { hop, sink in
            hops.withLock { $0.append((hop, sink)) }
            return Idle()
        }
        let done = (1...3).map { number in
            Task { try await stack.data(for: .get("\(Self.url)\(number)")).0 }
        }
        for number in 1...3 {
            while hops.withLock({ $0.count }) < number { try await Task.sleep(for: .milliseconds(2)) }
            try await Task.sleep(for: .milliseconds(20))
            let (hop, sink) = try hops.withLock { hops throws in
                #expect(hops.count == number)
                return try #require(hops.last)
            }
            Self.answer(sink, hop.request.url)
        }
        for task in done { #expect(try await task.value == Data("ok".utf8)) }
    }

    @Test("A cancel ends a hop that gets its place at the same moment")
    func cancelAtItsTurn() async throws {
        for _ in 0..<500 {
            let started = Lock<[(sink: any HTTPTransferSink<HTTPTransferError>, transfer: CountingTransfer)]>([])
            let stack = ScriptedStack(perHost: 1) { hop, sink in
                let transfer = CountingTransfer()
                started.withLock { $0.append((sink, transfer)) }
                return transfer
            }
            let resource = ScriptedStack.Resource(baseRequestMaking: .request(try HTTP.Request(url: Self.url)))
            let (first, second) = (stack.fetch(resource: resource) { _ in }, stack.fetch(resource: resource) { _ in })
            let ends = DispatchGroup()
            DispatchQueue.global().async(group: ends) { first.cancel() }
            DispatchQueue.global().async(group: ends) { second.cancel() }
            await withCheckedContinuation { done in ends.notify(queue: .global()) { done.resume() } }
            #expect(started.withLock { $0.allSatisfy { $0.transfer.cancels.withLock { $0 } == 1 } })
        }
    }

    @Test("A shutdown starts no hop that waits")
    func shutdown() async throws {
        let starts = Lock(0)
        let stack = ScriptedStack(perHost: 1) { _, _ in
            starts.withLock { $0 += 1 }
            return Idle()
        }
        let resource = ScriptedStack.Resource(baseRequestMaking: .request(try HTTP.Request(url: Self.url)))
        let ends = Lock(0)
        for _ in 0..<20 { stack.fetch(resource: resource) { _ in ends.withLock { $0 += 1 } } }
        await stack.shutdown()
        while ends.withLock({ $0 }) < 20 { try await Task.sleep(for: .milliseconds(2)) }
        #expect(starts.withLock { $0 } == 1)
    }

    @Test("A GET lost with a keep-alive connection is repeated on a new one, a POST is not")
    func repeats() async throws {
        let starts = Lock<[(method: HTTP.Method, isNew: Bool)]>([])
        let stack = ScriptedStack { hop, sink in
            let count = starts.withLock { starts in
                starts.append((hop.request.method, hop.needsNewConnection))
                return starts.count
            }
            if count == 1 || hop.needsNewConnection { Self.answer(sink, hop.request.url) } else { Self.lose(sink) }
            return Idle()
        }
        _ = try await stack.data(for: .get(Self.url))
        let (_, response) = try await stack.data(for: .get(Self.url))
        #expect(response.metrics.resends == 2 + 1 + 2)
        await #expect(throws: (any Error).self) { try await stack.data(for: .post(Self.url, body: .bytes(Data([1])))) }
        let seen = starts.withLock { $0 }
        #expect(seen.map(\.method) == [.GET, .GET, .GET, .POST])
        #expect(seen.map(\.isNew) == [false, false, true, false])
    }

    @Test("A GET lost with the first connection to a host is not repeated")
    func first() async {
        let starts = Lock(0)
        let stack = ScriptedStack { _, sink in
            starts.withLock { $0 += 1 }
            Self.lose(sink)
            return Idle()
        }
        await #expect(throws: (any Error).self) { try await stack.data(for: .get(Self.url)) }
        #expect(starts.withLock { $0 } == 1)
    }

    @Test("A repeat that is lost on its new connection is not repeated")
    func repeatedOnce() async throws {
        let starts = Lock<[Bool]>([])
        let stack = ScriptedStack { hop, sink in
            let count = starts.withLock { starts in
                starts.append(hop.needsNewConnection)
                return starts.count
            }
            if count == 1 { Self.answer(sink, hop.request.url) } else { Self.lose(sink) }
            return Idle()
        }
        _ = try await stack.data(for: .get(Self.url))
        await #expect(throws: (any Error).self) { try await stack.data(for: .get(Self.url)) }
        #expect(starts.withLock { $0 } == [false, false, true])
    }

    /// Failures of a repeat, and whether the loss before it is reported instead.
    static let failuresOfRepeats: [(HTTPTransferFailure<HTTPTransferError>, hides: Bool)] = [
        (.headTooLarge(limit: 9), false), (.badResponse, false),
        (.transport(.init(.tls, during: .securing, "refused")), false),
        (.transport(.init(.receive, during: .waiting, "broken")), false),
        (.timedOut(.firstByte, during: .waiting), false),
        (.transport(.init(.dns, during: .resolving, "unknown")), true),
        (.transport(.init(.connect, during: .connecting, "refused")), true),
        (.transport(.init(.proxy, during: .connecting, "refused")), true),
        (.timedOut(.connect, during: .connecting), true),
    ]

    @Test("A repeat's failure is reported, unless it means that nothing was sent", arguments: failuresOfRepeats)
    func failedRepeat(_ failure: HTTPTransferFailure<HTTPTransferError>, hides: Bool) async throws {
        let count = Lock(0)
        let stack = ScriptedStack { hop, sink in
            let number = count.withLock { count in
                count += 1
                return count
            }
            switch number {
            case 1: Self.answer(sink, hop.request.url)
            case 2: Self.lose(sink)
            default: DispatchQueue.global().async { sink.failed(failure, metrics: .init()) }
            }
            return Idle()
        }
        _ = try await stack.data(for: .get(Self.url))
        do {
            _ = try await stack.data(for: .get(Self.url))
            Issue.record("The request did not fail")
        } catch {
            #expect(error.description.contains("lost") == hides, "\(error)")
        }
    }

    @Test("A queued transport refuses what the transport behind it lacks")
    func refuses() async {
        let stack = ScriptedStack(lacking: [.trailers: "There are none."]) { _, _ in
            Issue.record("The hop was started")
            return Idle()
        }
        do {
            _ = try await stack.data(for: .get(Self.url).header("TE", "trailers"))
            Issue.record("The request was not refused")
        } catch {
            guard case .unsupported(.trailers, _) = error else {
                Issue.record("\(error)")
                return
            }
        }
    }

    /// A stack over a reported transfer, whose library is a closure.
    private func reported(_ library: @escaping @Sendable (HTTPReportedTransfer<HTTPTransferError>) -> Void)
        -> ScriptedStack
    {
        ScriptedStack { hop, sink in
            let transfer = HTTPReportedTransfer(hop, to: sink, decoding: ["gzip"])
            DispatchQueue.global().async { library(transfer) }
            return transfer
        }
    }

    @Test("A body is sent in chunks, one after the other", arguments: [true, false])
    func body(isWrittenLater: Bool) async throws {
        let (sent, open) = (Lock(Data()), Lock(0))
        let stack = reported { transfer in
            transfer.sendBody(pieceSize: 1000) { data, written in
                open.withLock { open in
                    open += 1
                    #expect(open == 1)
                }
                sent.withLock { $0 += data }
                let end = { @Sendable in
                    open.withLock { $0 -= 1 }
                    written()
                }
                if isWrittenLater { DispatchQueue.global().async(execute: end) } else { end() }
            } end: { error in
                #expect(error == nil)
                transfer.head(204, .http1_1, [])
                transfer.finished()
            }
        }
        let content = Data((0..<50_000).map { UInt8(truncatingIfNeeded: $0) })
        _ = try await stack.upload(.bytes(content), to: Self.url)
        #expect(sent.withLock { $0 } == content)
    }

    @Test("A head above its limit fails the hop and stops the library")
    func head() async throws {
        let isStopped = Lock(false)
        let stack = reported { transfer in
            transfer.onStop { isStopped.withLock { $0 = true } }
            let value = String(repeating: "x", count: 300_000)
            transfer.head(200, .http1_1, [.init(name: "X-Long", value: value)])
        }
        do {
            _ = try await stack.data(for: .get(Self.url))
            Issue.record("The head was accepted")
        } catch {
            guard case .headTooLarge = error else {
                Issue.record("\(error)")
                return
            }
        }
        // Right after the failure was reported; the test's time limit bounds the wait.
        while !isStopped.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(2)) }
    }

    @Test("The first byte of a body in an unknown coding fails the hop")
    func coding() async {
        let stack = reported { transfer in
            transfer.head(200, .http1_1, [.init(name: "Content-Encoding", value: "secret")])
            transfer.body(Data([1])) {}
        }
        do {
            _ = try await stack.data(for: .get(Self.url))
            Issue.record("The body was accepted")
        } catch {
            guard case .unknownCoding("secret", _) = error else {
                Issue.record("\(error)")
                return
            }
        }
    }
}
