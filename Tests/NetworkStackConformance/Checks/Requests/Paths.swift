import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Segments of dots in a path, and bytes in the path of a redirect.
    static let paths: [ConformanceCheck] = [
        ConformanceCheck("Interceptors see the path as it is sent") { subject in
            let peer = try subject.serve { _ in .ok("x") }
            for path in ["/bucket/a/../b", "/./bucket/b?c=/../d", "/bucket/b/.", "/..", "/bucket/.b/..c/..."] {
                try await expectSentAsSeen(path, subject, peer)
            }
        },
        ConformanceCheck("Escaped dots of a path are sent as interceptors see them") { subject in
            try await expectSentAsSeen("/a/%2e%2e/b#/../d", subject, subject.serve { _ in .ok("x") })
        },
        ConformanceCheck("An interceptor's path is seen by the next one and sent") { subject in
            let peer = try subject.serve { _ in .ok("x") }
            let seen = Lock<[String]>([])
            let changing = Watcher(seen, adding: "/c/../d")
            let resource = try ConformanceSubject.Stack.Resource.intercepted(
                peer.url("/a"),
                by: [changing, Watcher(seen)]
            )
            _ = try await subject.stack().observe(resource).onlyOutcome().text()
            let sent = try target(of: peer.requests().last)
            try expect(sent.hasSuffix("/a/d"), "The target is \(sent)")
            try expectEqual(seen.withLock { $0 }.filter { $0 != sent }.count, 1, "paths other than the sent one")
        },
        ConformanceCheck("An as-is path is sent unchanged", needs: [.pathAsIs]) { subject in
            let peer = try subject.serve { _ in .ok("x") }
            let stack = try subject.stack { $0.options.pathAsIs = true }
            for path in ["/bucket/a/../b", "/./b?c=/../d", "/bucket/..", "/bucket/.?e=%2f", "/%2e%2E/x"] {
                let seen = Lock<[String]>([])
                let resource = try ConformanceSubject.Stack.Resource.intercepted(peer.url(path), by: [Watcher(seen)])
                _ = try await stack.observe(resource).onlyOutcome().text()
                let sent = try target(of: peer.requests().last)
                try expect(sent.hasSuffix(path), "The target of \(path) is \(sent)")
                try expectEqual(seen.withLock { $0 }, [sent, sent], "the paths that interceptors received")
            }
            let other = try ConformanceSubject.Stack.Resource.get(peer.url("/a/../b"), options: HTTP.Options())
            _ = try await stack.observe(other).onlyOutcome().text()
            try expect(try target(of: peer.requests().last).hasSuffix("/b"), "the last target")
        },
        ConformanceCheck(
            "A redirect's bytes that are not UTF-8 are escaped as received",
            needs: [.network]
        ) { subject in
            let server = try ScriptedServer.responding { request in
                guard request.path == "/start" else { return .ok("there") }
                var reply = Reply.redirect(302, to: "/top?")
                let end = reply.head.firstRange(of: Array("/top?".utf8))?.upperBound ?? 0
                reply.head.insert(contentsOf: [0xFF, 0xC3, 0xBC], at: end)
                return reply
            }
            let outcome = try await subject.client().outcome(of: HTTP.Request(url: server.url("/start")))
            // Or the redirect is refused.
            if !subject.capabilities.supports(.nonconformingHeads), case .failure = outcome {
                return try expectEqual(server.requests.count, 1, "requests")
            }
            try expectBytes(outcome.value().value, "there".utf8)
            try expectEqual(server.requests.map(\.target), ["/start", "/top?%FF%C3%BC"], "the targets")
        },
    ]

    /// Expects two interceptors to get the path of a request as it is sent, before and after a change.
    private static func expectSentAsSeen(_ path: String, _ subject: ConformanceSubject, _ peer: ConformancePeer)
        async throws
    {
        let seen = Lock<[String]>([])
        let (first, last) = (Watcher(seen), Watcher(seen))
        let resource = try ConformanceSubject.Stack.Resource.intercepted(peer.url(path), by: [first, last])
        _ = try await subject.stack().observe(resource).onlyOutcome().text()
        let sent = try target(of: peer.requests().last)
        try expectEqual(seen.withLock { $0 }, Array(repeating: sent, count: 4), "the targets of \(path)")
    }

    private static func target(of request: ReceivedRequest?) throws -> String {
        guard let request else { throw ConformanceFailure("no request") }
        return request.target
    }

    /// Records the target of each request, and may append to its path.
    private struct Watcher: HTTPResourceInterceptor {
        typealias Request = HTTP.Request
        typealias Response = HTTP.Response

        let seen: Lock<[String]>
        let addition: String

        init(_ seen: Lock<[String]>, adding addition: String = "") { (self.seen, self.addition) = (seen, addition) }

        private func note(_ request: HTTP.Request) {
            let text = request.url.absoluteString.prefix { $0 != "#" }
            let path = text.drop { $0 != ":" }.dropFirst(3).drop { $0 != "/" }
            seen.withLock { $0.append(String(path)) }
        }

        func interceptMakeRequestResult(
            _ result: Result<Request, any Error>,
            handler: @escaping RequestHandler
        ) -> any Cancelable {
            guard case .success(var request) = result else { return handler(result) }
            note(request)
            if !addition.isEmpty, let url = URL(string: request.url.absoluteString + addition) { request.url = url }
            return handler(.success(request))
        }

        func interceptScheduledTask(withIdentifier identifier: Int, request: Request, retryState: Retry.State) {
            note(request)
        }
    }
}
