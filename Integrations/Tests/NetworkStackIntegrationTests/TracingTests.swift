import FoundationEssentials
import InMemoryTracing
import NetworkStack
import NetworkStackTesting
import NetworkStackTracing
import Testing
import Tracing

@Suite("Spans of fetches")
struct TracingTests {
    private let tracer = InMemoryTracer()

    private static func text(of attributes: SpanAttributes) -> [String] {
        var lines: [String] = []
        func add(_ name: String, _ value: SpanAttribute) { lines.append("\(name)=\(value)") }
        attributes.forEach(add)
        return lines.sorted()
    }

    @Test("a fetch is one span below its caller's, with its retry and its redirect as events")
    func span() async throws {
        let fetches = try SecretFetches()
        try await tracer.withSpan("caller") { _ in _ = try await fetches.run(on: fetches.stack.traced(by: tracer)) }
        let spans = tracer.finishedSpans
        #expect(spans.map(\.operationName) == ["POST", "POST", "POST", "caller"])
        let span = try #require(spans.first)
        #expect(span.kind == .client && span.parentSpanID == spans.last?.spanID && span.traceID == spans.last?.traceID)
        #expect(span.attributes.get("http.request.method") == "POST")
        #expect(span.attributes.get("url.full") == "https://host.test/moved?…")
        #expect(span.attributes.get("server.address") == "host.test")
        #expect(span.attributes.get("server.port") == 443)
        #expect(span.attributes.get("http.response.status_code") == 200)
        #expect(span.attributes.get("network.protocol.version") == "1.1")
        #expect(span.attributes.get("error.type") == nil && span.status == nil && span.errors.isEmpty)
        #expect(span.events.map(\.name) == ["http.retry", "http.redirect"])
        let (retry, redirect) = (span.events[0], span.events[1])
        #expect(Self.text(of: retry.attributes).count == 2)
        #expect(retry.attributes.get("http.request.resend_count") == 1)
        #expect(retry.attributes.get("error.type") == "503")
        #expect(redirect.attributes.get("http.response.status_code") == 307)
        #expect(redirect.attributes.get("url.full") == "https://host.test/moved?…")
        let times = [
            span.startInstant.nanosecondsSinceEpoch, retry.nanosecondsSinceEpoch, redirect.nanosecondsSinceEpoch,
            span.endInstant.nanosecondsSinceEpoch,
        ]
        #expect(times == times.sorted(), "\(times)")
    }

    @Test("a failure has the type of its error, and its status is an error")
    func failures() async throws {
        let fetches = try SecretFetches()
        _ = try await fetches.run(on: fetches.stack.traced(by: tracer))
        let spans = tracer.finishedSpans.dropFirst()
        #expect(spans.map { $0.attributes.get("error.type") } == ["503", "transport"])
        #expect(spans.map { $0.attributes.get("http.response.status_code") } == [503, nil])
        #expect(spans.map { $0.status?.code } == [.error, .error])
        #expect(spans.map { $0.events.map(\.name) } == [["http.retry"], ["http.retry"]])
    }

    @Test("every attempt sends the span's context once, also after a redirect")
    func injection() async throws {
        let fetches = try SecretFetches()
        let stack = fetches.stack.with { $0.timeouts.total = .seconds(10) }.traced(by: tracer)
        let (key, stale) = (HTTP.HeaderName(InMemoryTracer.spanIDKey), "span-of-another")
        let request = HTTP.RequestBuilder.post("https://host.test/moved", body: .none).header(key, stale)
        _ = try await stack.send(request.header("X-Kept", "x"))
        let span = try #require(tracer.finishedSpans.first)
        let sent = fetches.stack.requests
        #expect(sent.map(\.url.path) == ["/moved", "/moved", "/accepted"])
        for request in sent {
            #expect(request.headers.filter { $0.name == key }.map(\.value) == [span.spanID])
            #expect(request.headers["X-Kept"] == "x")
        }
        #expect(tracer.performedContextInjections.count == 2, "once for each attempt")
    }

    @Test("a cancelled fetch is no error, and a span ends once")
    func cancel() async throws {
        let mock = try MockNetworkStack()
        mock.answer(.GET, "/", with: .silence)
        let stack = mock.traced(by: tracer)
        let fetching = Task { try await stack.data(for: .get("https://host.test/")) }
        while mock.requests.isEmpty { await Task.yield() }
        #expect(tracer.activeSpans.count == 1)
        fetching.cancel()
        _ = await fetching.result
        #expect(tracer.activeSpans.isEmpty && tracer.finishedSpans.count == 1)
        #expect(tracer.finishedSpans.first?.attributes.get("error.type") == "cancelled")
        #expect(tracer.finishedSpans.first?.status == nil)
    }

    @Test("the span of a stream ends with the response's head")
    func stream() async throws {
        let mock = try MockNetworkStack()
        mock.answer(.GET, "/", with: .json("[]"))
        let (body, _) = try await mock.traced(by: tracer).stream(for: .get("https://host.test/"))
        #expect(tracer.finishedSpans.first?.attributes.get("http.response.status_code") == 200)
        #expect(try await body.collect() == Data("[]".utf8))
    }

    @Test("a fetch within a fetch has its span below that fetch's")
    func nesting() async throws {
        let mock = try MockNetworkStack()
        mock.answer(.GET, "/", with: .json("[]"))
        let stack = mock.traced(by: tracer)
        let request = try HTTP.Request(url: "https://host.test/")
        let making = Network.BaseRequestMaking<HTTP.Request>.task {
            _ = try await stack.data(for: .get("https://login.test/"))
            return request
        }
        _ = try await stack.fetch(resource: .init(baseRequestMaking: making))
        let spans = tracer.finishedSpans
        #expect(spans.map { $0.attributes.get("server.address") } == ["login.test", "host.test"])
        #expect(spans.first?.parentSpanID == spans.last?.spanID)
    }

    @Test("no attribute, event or status has a secret")
    func secrets() async throws {
        let fetches = try SecretFetches()
        #expect(try await fetches.run(on: fetches.stack.traced(by: tracer)))
        #expect(tracer.finishedSpans.count == 3)
        for span in tracer.finishedSpans {
            #expect(span.errors.isEmpty)
            let texts =
                [span.operationName, span.status?.message ?? ""] + Self.text(of: span.attributes)
                + span.events.flatMap { [$0.name] + Self.text(of: $0.attributes) }
            #expect(texts.count > 10)
            for text in texts { #expect(!text.contains(SecretFetches.secret), "\(text)") }
        }
    }
}
