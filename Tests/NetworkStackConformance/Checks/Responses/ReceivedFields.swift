import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Malformed fields of servers, and their interpretation by the library.
    static let receivedFields: [ConformanceCheck] = [
        ConformanceCheck("A malformed Content-Type parameter is dropped; the type remains") { subject in
            let rows = [
                ("text/html; charset=", "text/html"), ("application/json; charset = utf-8", "application/json"),
                ("text/html;charset;a=b", "text/html; a=b"), ("text/html; charset=\"gbk", "text/html; charset=gbk"),
                ("text/html;=x; charset=utf-8", "text/html; charset=utf-8"),
                ("text/html; charset=utf-8; charset=gbk", "text/html; charset=utf-8"),
            ]
            let peer = try subject.serve { request in
                let index = Int(request.path.dropFirst().split(separator: "/").last ?? "") ?? 0
                return .ok("x", headers: [("Content-Type", rows[index].0)])
            }
            for (index, (sent, expected)) in rows.enumerated() {
                let response = try await subject.client().get(peer.url("/\(index)")).response
                try expectEqual(response.headers[.contentType], sent, "the field")
                try expectEqual(response.headers.contentType?.description, expected, "the type of \(sent)")
            }
        },
        ConformanceCheck("A malformed challenge is dropped; the others remain") { subject in
            let sent = #""x", Digest realm="r", qop=, nonce="n" , algorithm = MD5, Basic realm="open"#
            let peer = try subject.serve { _ in .status(401, "who?", headers: [("WWW-Authenticate", sent)]) }
            let outcome = try await subject.stack().observe(peer.url("/")).onlyOutcome()
            guard case .failure(.http(401, _, let response)) = outcome else {
                throw ConformanceFailure("Expected a 401, saw \(outcome.summary)")
            }
            let challenges = response.headers.challenges
            try expectEqual(challenges.map(\.scheme), [.digest, .basic], "the schemes")
            let parameters = ["realm": "r", "nonce": "n", "algorithm": "MD5"]
            try expectEqual(challenges.first?.parameters, parameters, "the parameters")
        },
        ConformanceCheck("A Retry-After over the limit ends the retries") { subject in
            let clock = VirtualClock(keepsUp: true)
            let peer = try subject.serve { _ in .status(503, headers: [("Retry-After", "31")]) }
            let policy = HTTPRetryPolicy.maxRetries(3).respectingRetryAfter(upTo: 30)
            let stack = try subject.stack { $0.retryClock = clock }
            let outcome = try await stack.observe(.intercepted(peer.url("/"), by: [policy])).onlyOutcome()
            guard case .failure(.retry(.custom(let reason), let state)) = outcome else {
                throw ConformanceFailure("Expected the end of the retries, saw \(outcome.summary)")
            }
            let expected = Retry.RetryAfterTooLong(delay: 31, limit: 30)
            try expectEqual(reason as? Retry.RetryAfterTooLong, expected, "the reason")
            try expectEqual(state.errors.count, 1, "failures")
            try expectEqual(peer.requests().count, 1, "requests on the wire")
            try expectEqual(clock.sleeps, [], "the delays")
        },
        ConformanceCheck("An event stream of another type fails with a readable body") { subject in
            let problem = #"{"error":"quota"}"#
            let peer = try subject.serve { request in
                request.path.hasSuffix("/typed") ? .json(problem) : .ok(problem)
            }
            let client = try subject.streaming()
            for (path, type) in [("/typed", "application/json"), ("/untyped", nil)] {
                let error = try await bounded(.seconds(30)) {
                    do {
                        for try await _ in try events(await client.open(peer.url(path))) {}
                        throw ConformanceFailure("The stream of \(path) did not fail")
                    } catch let error as NotAnEventStream { return error }
                }
                try expectEqual(error.contentType?.description, type, "the type")
                let content = try await bounded(.seconds(30)) { try await error.body(upTo: 1 << 16) }
                try expectBytes(content, problem.utf8)
            }
        },
        ConformanceCheck("An event stream of another type is read on request") { subject in
            let peer = try subject.serve { _ in .ok("data: a\n\n", headers: [("Content-Type", "text/plain")]) }
            let opened = try await subject.streaming().open(peer.url("/"))
            try expectEqual(try await data(events(opened, options: .anyContentType)), ["a"], "the events")
        },
        ConformanceCheck("An event without its blank line is delivered on request") { subject in
            let peer = try subject.serve { _ in
                .ok("data: a\n\ndata: b", headers: [("Content-Type", "text/event-stream")])
            }
            let client = try subject.streaming()
            for (options, expected) in [([], ["a"]), (.unfinishedEvent, ["a", "b"])]
                as [(ServerSentEventOptions, [String])]
            {
                let events = try await events(client.open(peer.url("/")), options: options)
                try expectEqual(try await data(events), expected, "the events")
            }
        },
        ConformanceCheck("Comments of an event stream are reported on request, in order") { subject in
            let peer = try subject.serve { _ in
                .ok(": one\ndata: a\n\n:two\n\n", headers: [("Content-Type", "text/event-stream")])
            }
            let log = EventLog()
            let opened = try await subject.streaming().open(peer.url("/"))
            try await bounded(.seconds(30)) {
                for try await event in try events(opened, onComment: { log.add($0) }) { log.add("event \(event.data)") }
            }
            try expectEqual(log.all, ["one", "event a", "two"], "comments and events")
        },
    ]

    private static func events(
        _ opened: Network.Value<ErasedStream, HTTP.Response>,
        options: ServerSentEventOptions = [],
        onComment: (@Sendable (String) -> Void)? = nil
    ) throws -> ServerSentEventStream<BoundedClient.FetchError> {
        let decoding = ModelDecoding<ServerSentEventStream<BoundedClient.FetchError>, ErasedStream, HTTP.Response>
            .serverSentEvents(options: options, onComment: onComment)
        return try opened.mapValue(decoding.decode).value
    }

    private static func data(_ events: ServerSentEventStream<BoundedClient.FetchError>) async throws -> [String] {
        try await bounded(.seconds(30)) {
            var data: [String] = []
            for try await event in events { data.append(event.data) }
            return data
        }
    }
}
