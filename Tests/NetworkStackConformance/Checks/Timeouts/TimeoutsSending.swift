import Dispatch
import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    private static let anywhere: Set<HTTP.Phase> = [
        .making, .queued, .resolving, .connecting, .securing, .sending, .waiting,
    ]

    /// Timeouts while a body is sent or prefetched.
    static let sendingTimeouts: [ConformanceCheck] = [
        ConformanceCheck(
            "The first-byte timeout stops at the head, even during the upload",
            needs: [.network]
        ) { subject, scale in
            var serverOptions = ScriptedServer.Options()
            serverOptions.receiveBuffer = 32 * 1024
            let server = try ScriptedServer(serverOptions) { _ in
                [
                    .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf"),
                    .pause(.milliseconds(200) * scale),
                    .receiveBody, .pause(.milliseconds(1500) * scale), .send("half"),
                ]
            }
            let body = HTTP.Body.bytes(Data(count: 16 << 20))
            let options = HTTP.Options.clocks(firstByte: .milliseconds(500) * scale)
            let observation = try subject.stack().observe(server.url(), method: .POST, body: body, options: options)
            let text = try await observation.onlyOutcome().text()
            try expectEqual(text, "halfhalf", "the body")
        },
        ConformanceCheck(
            "A slow release of a timed-out upload delays no other timeout",
            needs: [.network, .streamedRequestBody]
        ) { subject in
            let server = try ScriptedServer { _ in [.receiveHead, .waitForClose] }
            let (stack, slow) = (try subject.stack(), SlowEnding())
            let body = HTTP.Body.stream(.init(slow.endless))
            let short = HTTP.Options.clocks(total: .milliseconds(300))
            let upload = try stack.observe(server.url(), method: .POST, body: body, options: short)
            try await upload.onlyOutcome().expectTimeout(.total, during: anywhere)
            try await stack.observe(server.url(), options: short).onlyOutcome().expectTimeout(.total, during: anywhere)
            try await slow.end()
        },
        ConformanceCheck("A slow release of a maker delays no other timeout", needs: [.network]) {
            subject in
            final class Making: Cancelable {
                let mayEnd = DispatchSemaphore(value: 0)
                let delayedNothing = OneShot<Bool>()
                func cancel() { delayedNothing.fill(mayEnd.wait(timeout: .now() + 5) == .success) }
            }
            let server = try ScriptedServer { _ in [.receiveHead, .waitForClose] }
            let (stack, making) = (try subject.stack(), Making())
            let short = HTTP.Options.clocks(total: .milliseconds(300))
            let resource = ConformanceSubject.Stack.Resource(
                baseRequestMaking: .init { _ in making },
                options: short.replacing
            )
            try await stack.observe(resource).onlyOutcome().expectTimeout(.total, during: anywhere)
            try await stack.observe(server.url(), options: short).onlyOutcome().expectTimeout(.total, during: anywhere)
            making.mayEnd.signal()
            try expect(await making.delayedNothing.take(), "The timeout waited for the release of the maker")
        },
        ConformanceCheck(
            "A queued request with a prefetched stream is reported as unsent",
            needs: [.network, .queueTimeout]
        ) {
            subject in
            let server = try ScriptedServer { _ in [.receiveHead, .waitForClose] }
            let stack = try subject.stack { $0.connections.perHost = 1 }
            let first = try stack.observe(server.url())
            try await server.sees("the first request") { $0.requests.count == 1 }
            let arrived = Lock<[Bool]>([])
            let spy = Spy("spy").with { spy in
                spy.vote = { event in
                    arrived.withLock { $0.append(event.state.requestMayHaveArrived) }
                    return .none
                }
            }
            for body in [HTTP.Body.bytes(Data("x".utf8)), .stream(.init { AsyncStream([Data("x".utf8)]) })] {
                let request = try HTTP.Request(method: .POST, url: server.url(), body: body)
                let resource = ConformanceSubject.Stack.Resource(
                    baseRequestMaking: .request(request),
                    interceptors: [spy],
                    options: { $0.timeouts.queue = .milliseconds(200) }
                )
                try await stack.observe(resource).onlyOutcome().expectTimeout(.queue, during: [.queued])
            }
            try expectEqual(arrived.withLock { $0 }, [false, false], "whether the request may have arrived")
            first.cancel()
            _ = try await first.onlyOutcome()
        },
    ]
}
