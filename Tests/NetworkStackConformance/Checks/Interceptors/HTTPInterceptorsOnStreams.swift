import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// HTTPInterceptors around streams.
    static let httpInterceptorsOnStreams: [ConformanceCheck] = [
        ConformanceCheck("An HTTPInterceptor gets a stream's head before its body", needs: [.network]) { subject in
            let (opened, goOn) = (Gate(), Gate())
            let server = try ScriptedServer { _ in
                [
                    .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst"), .wait(for: goOn),
                    .send("later"), .waitForClose,
                ]
            }
            let tagging = AsyncInterceptor { request, next in
                var reply = try await next(request)
                reply.response.headers["X-Seen"] = "yes"
                opened.open()
                return reply
            }
            let stream = try await subject.streaming().open(server.url(), interceptors: [tagging])
            try await opened.opened(within: .seconds(10))
            goOn.open()
            try expectEqual(stream.response.headers["X-Seen"], "yes", "the field")
            try expectBytes(
                try await bounded(.seconds(20)) { try await stream.value.collect() },
                Data("firstlater".utf8)
            )
            try expect(stream.value.metrics != nil, "The stream lost its metrics")
        },
        ConformanceCheck("An HTTPInterceptor replaces a stream piece by piece") { subject in
            let peer = try subject.serve { _ in .ok(bytes: [UInt8](repeating: 7, count: 1 << 20)) }
            let changing = AsyncInterceptor { request, next in
                var reply = try await next(request)
                let body = reply.body
                let chunks = Lock(body.makeAsyncIterator())
                reply.body = .init(unfolding: { () async throws(HTTPFetchError<HTTP.Response, any Error>) in
                    var iterator = chunks.withLock { $0 }
                    return try await iterator.next().map { Data($0.map { $0 + 1 }) }
                })
                return reply
            }
            let stream = try await subject.streaming().open(peer.url("/"), interceptors: [changing])
            let bytes = try await bounded(.seconds(30)) { try await stream.value.collect() }
            try expectEqual(bytes.count, 1 << 20, "the length")
            try expect(bytes.allSatisfy { $0 == 8 }, "The bytes are not the interceptor's")
        },
        ConformanceCheck("A stream whose body an HTTPInterceptor drops is closed and delivered", needs: [.network]) {
            subject in
            let closed = Gate()
            let server = try ScriptedServer { _ in
                [
                    .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nfirst"), .waitForClose,
                    .run { _ in closed.open() },
                ]
            }
            let replacing = AsyncInterceptor { request, next in
                var reply = try await next(request)
                reply.body = .init(Data("other".utf8))
                return reply
            }
            let stream = try await subject.streaming().open(server.url(), interceptors: [replacing])
            try expectBytes(try await bounded(.seconds(20)) { try await stream.value.collect() }, Data("other".utf8))
            try await closed.opened(within: .seconds(10))
        },
        ConformanceCheck("A replaced stream is delivered, however fast the original ends") { subject in
            let peer = try subject.serve { _ in .ok("x") }
            let replacing = AsyncInterceptor { request, next in
                let reply = try await next(request)
                return HTTP.Reply(reply.response, body: Data("other".utf8))
            }
            let client = try subject.streaming()
            for _ in 0..<50 {
                let stream = try await client.open(peer.url("/"), interceptors: [replacing])
                let bytes = try await bounded(.seconds(20)) { try await stream.value.collect() }
                try expectBytes(bytes, Data("other".utf8))
            }
        },
        ConformanceCheck("An HTTPInterceptor provides a stream without the network") { subject in
            let peer = try subject.serve { _ in .ok("x") }
            let local = AsyncInterceptor { request, _ in
                HTTP.Reply(.init(status: .ok, url: request.url), body: Data("local".utf8))
            }
            let listener = StreamListener()
            let stream = try await subject.streaming().open(peer.url("/"), interceptors: [local, listener])
            try expectBytes(try await bounded(.seconds(20)) { try await stream.value.collect() }, Data("local".utf8))
            try expectEqual(listener.events.withLock { $0 }, ["scheduled 1", "succeeded 0 bytes"], "the events")
            try expectEqual(peer.requests().count, 0, "requests on the wire")
        },
        ConformanceCheck("An HTTPInterceptor that rejects a stream ends the fetch") { subject in
            struct Unwanted: Error {}
            let peer = try subject.serve { _ in .ok("x") }
            let rejecting = AsyncInterceptor { request, next in
                _ = try await next(request)
                throw Unwanted()
            }
            let client = try subject.streaming()
            // The rejection, the end of the stream and the end of its reader come in any order.
            for _ in 0..<50 {
                let outcome =
                    try await client
                    .outcome(of: peer.url("/"), interceptors: [rejecting, HTTPRetryPolicy.maxRetries(3)])
                guard case .failure(.interceptor(_ as Unwanted, _)) = outcome else {
                    throw ConformanceFailure("Expected interceptor(Unwanted), saw \(outcome)")
                }
            }
            try expectEqual(peer.requests().count, 50, "requests on the wire")
        },
        ConformanceCheck("The total timeout ends an HTTPInterceptor that hangs on a stream") { subject, scale in
            let (opened, ended, peer) = (Gate(), Gate(), try subject.serve { _ in .ok("x") })
            let hanging = AsyncInterceptor { request, next in
                defer { ended.open() }
                let reply = try await next(request)
                opened.open()
                try await Task.sleep(for: .seconds(60))
                return reply
            }
            let client = try subject.streaming {
                $0.interceptors = [hanging]
                $0.options.timeouts.total = .milliseconds(300) * scale
            }
            let outcome = try await bounded(.seconds(20) * scale) { try await client.outcome(of: peer.url("/")) }
            guard case .failure(.timedOut(.total, _, _)) = outcome else {
                throw ConformanceFailure("Expected the total timeout, saw \(outcome)")
            }
            try await ended.opened()
            try expect(opened.isOpen, "The head of the stream did not arrive in time")
        },
        ConformanceCheck("Listeners see the success of a stream that replaces a cut one", needs: [.network]) {
            subject in
            let (ends, server) = (
                EventLog(),
                try ScriptedServer { _ in
                    [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nfirst"), .close]
                }
            )
            let mending = AsyncInterceptor { request, next in
                var reply = try await next(request)
                if (try? await reply.body.collect()) == nil { reply.body = .init(Data("mended".utf8)) }
                return reply
            }
            let client = try subject.streaming {
                $0.interceptors = [mending]
                $0.listeners = [EndListener(ends)]
            }
            let stream = try await client.open(server.url())
            try expectBytes(try await bounded(.seconds(20)) { try await stream.value.collect() }, Data("mended".utf8))
            try await eventually("the fetch has ended") { !ends.all.isEmpty }
            try expectEqual(ends.all, ["succeeded 200"], "the end")
        },
        ConformanceCheck("An HTTPInterceptor gets all of a stream with a failing status") { subject in
            let peer = try subject.serve { _ in .status(503, "why") }
            let mending = AsyncInterceptor { request, next in
                var reply = try await next(request)
                let why = try await reply.body.collect()
                reply.response.status = .ok
                reply.body = .init(why)
                return reply
            }
            let stream = try await subject.streaming().open(peer.url("/"), interceptors: [mending])
            try expectBytes(try await bounded(.seconds(20)) { try await stream.value.collect() }, Data("why".utf8))
        },
        ConformanceCheck("Listeners see one end of a fetch that an HTTPInterceptor answers") { subject in
            let peer = try subject.serve { _ in .ok("x") }
            let interceptor = AsyncInterceptor { request, next in
                guard request.url.path == "/local" else { return try await next(request) }
                return HTTP.Reply(.init(status: .ok, url: request.url), body: Data("local".utf8))
            }
            let ends = EventLog()
            let client = try subject.streaming {
                $0.interceptors = [interceptor]
                $0.listeners = [EndListener(ends)]
            }
            for path in ["/local", "/x"] {
                let stream = try await client.open(peer.url(path))
                _ = try await bounded(.seconds(20)) { try await stream.value.collect() }
            }
            try await eventually("both have ended") { ends.all.count >= 2 }
            try expectEqual(ends.all, ["succeeded 200", "succeeded 200"], "the ends")
        },
    ]
}

/// Records the end of each fetch.
private struct EndListener: EventListener {
    let log: EventLog

    init(_ log: EventLog) { self.log = log }

    func fetchSucceeded(_ event: FetchEvent, response: HTTP.Response) {
        log.add("succeeded \(response.status.rawValue)")
    }

    func fetchFailed(_ event: FetchEvent, error: any HTTPError, metrics: HTTP.Metrics) {
        log.add("failed \(error.caseName)")
    }

    func fetchCancelled(_ event: FetchEvent, metrics: HTTP.Metrics) { log.add("cancelled") }
}
