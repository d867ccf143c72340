import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Streams with interceptors.
    static let streamsIntercepted: [ConformanceCheck] = [
        ConformanceCheck("Interceptors see a stream's success at its head, and vote only before") { subject in
            let attempts = Lock(0)
            let peer = try subject.serve { _ in
                attempts.withLock { attempts in
                    attempts += 1
                    return attempts == 1 ? .status(503, "not yet") : .ok("content")
                }
            }
            let listener = StreamListener()
            let opened = try await subject.streaming().open(peer.url("/"), interceptors: [listener])
            try expectBytes(try await bounded(.seconds(20)) { try await opened.value.collect() }, Data("content".utf8))
            try expectEqual(
                listener.events.withLock { $0 },
                ["scheduled 1", "failed 503", "scheduled 2", "succeeded 0 bytes"],
                "the events"
            )
        },
        ConformanceCheck("A stream that ends during its success event completes after it", needs: [.network]) {
            subject in
            let (isReported, goOn) = (Gate(), Latch())
            let server = try ScriptedServer { _ in
                [
                    .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst"), .wait(for: isReported),
                    .send("later"), .waitForClose,
                ]
            }
            let opened = try await open(server.url(), beside: subject, isReported, goOn)
            try expectBytes(
                try await bounded(.seconds(20)) { try await opened.value.collect() },
                Data("firstlater".utf8)
            )
        },
        ConformanceCheck("A stream that ended during its success event releases its interceptors", needs: [.network]) {
            subject in
            let (isReported, goOn) = (Gate(), Latch())
            let server = try ScriptedServer { _ in
                [.receiveHead, .send(doneReply), .wait(for: isReported), .waitForClose]
            }
            weak var kept: StreamListener?
            let client = try subject.streaming()
            let opened: Network.Value<ErasedStream, HTTP.Response>
            do {
                let listener = StreamListener {
                    isReported.open()
                    _ = goOn.wait(seconds: 0.5)
                }
                kept = listener
                opened = try await client.open(server.url(), interceptors: [listener])
            }
            _ = try await bounded(.seconds(20)) { try await opened.value.collect() }
            try await eventually("the interceptor is gone") { kept == nil }
            withExtendedLifetime(client) {}
        },
        ConformanceCheck("A stream that fails during its success event is delivered, then fails", needs: [.network]) {
            subject in
            let (isReported, goOn) = (Gate(), Latch())
            let server = try ScriptedServer { _ in
                [
                    .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst"), .wait(for: isReported),
                    .close,
                ]
            }
            let opened = try await open(server.url(), beside: subject, isReported, goOn)
            _ = try await streamFailure { _ = try await opened.value.collect() }
        },
    ]

    /// Opens a stream whose interceptor takes long to handle the success: from one gate on, and longer than the server needs for
    /// the rest. Expects that nothing completes meanwhile.
    private static func open(
        _ url: String,
        beside subject: ConformanceSubject,
        _ isReported: Gate,
        _ goOn: Latch
    ) async throws -> Network.Value<ErasedStream, HTTP.Response> {
        let client = try subject.streaming()
        let (hasCompleted, events) = (Lock(false), Lock<[String]>([]))
        let listener = AttemptListener { event, _ in
            guard case .succeeded = event else { return }
            isReported.open()
            _ = goOn.wait(seconds: 0.5)
            let isEarly = hasCompleted.withLock { $0 }
            events.withLock { $0.append(isEarly ? "reported after the completion" : "reported") }
        }
        let opened = try await client.open(url, interceptors: [listener])
        hasCompleted.withLock { $0 = true }
        try expectEqual(events.withLock { $0 }, ["reported"], "the events of the interceptor")
        return opened
    }
}

/// Retries once, and records its events.
final class StreamListener: HTTPResourceInterceptor {
    typealias Request = HTTP.Request
    typealias Response = HTTP.Response

    let events = Lock<[String]>([])
    private let whenSuccessful: @Sendable () -> Void

    init(whenSuccessful: @escaping @Sendable () -> Void = {}) { self.whenSuccessful = whenSuccessful }

    func interceptScheduledTask(withIdentifier identifier: Int, request: Request, retryState: Retry.State) {
        events.withLock { $0.append("scheduled \(retryState.attemptCount)") }
    }

    func interceptSuccessfulTask(
        withIdentifier identifier: Int,
        request: Request,
        data: Data,
        response: Response,
        retryState: Retry.State
    ) {
        events.withLock { $0.append("succeeded \(data.count) bytes") }
        whenSuccessful()
    }

    func interceptFailedTask(
        withIdentifier identifier: Int,
        request: Request?,
        data: Data?,
        response: Response?,
        error: any Error,
        retryState: Retry.State
    ) -> Retry.Action {
        events.withLock { $0.append("failed \(response?.status.rawValue ?? 0)") }
        return retryState.retryCount == 0 ? .retry : .none
    }
}
