import FoundationEssentials
import InMemoryLogging
import Logging
import NetworkStack
import NetworkStackLogging
import NetworkStackTesting
import Testing

@Suite("Logs of fetches")
struct LoggingTests {
    private let handler: InMemoryLogHandler
    private let logger: Logger

    init() {
        let handler = InMemoryLogHandler()
        self.handler = handler
        var logger = Logger(label: "test") { _ in handler }
        logger.logLevel = .trace
        self.logger = logger
    }

    private var lines: [String] { handler.entries.map { "\($0.level) \($0.message)" } }

    @Test("a retry, a redirect, a success and a failure have their levels and metadata")
    func levels() async throws {
        _ = try await SecretFetches([LoggingListener(logger)]).runAlone()
        #expect(
            lines == [
                "info Attempt failed; another follows", "debug Redirect followed", "debug Fetch succeeded",
                "info Attempt failed; another follows", "warning Fetch failed",
                "info Attempt failed; another follows", "warning Fetch failed",
            ]
        )
        let entries = handler.entries
        #expect(entries[0].metadata["error.type"] == "503")
        #expect(entries[0].metadata["attempt"] == "1")
        #expect(entries[1].metadata["http.response.status_code"] == "307")
        #expect(entries[1].metadata["url.full"] == "https://host.test/moved?…")
        #expect(entries[2].metadata["url.full"] == "https://other.test/accepted?…")
        #expect(entries[2].metadata["http.request.method"] == "POST")
        #expect(entries[2].metadata["http.response.status_code"] == "200")
        #expect(entries[2].metadata["attempt"] == "2")
        #expect(entries[2].metadata["http.response.body.size"] == "8")
        #expect(entries[4].metadata["error.type"] == "503")
        #expect(entries[6].metadata["error.type"] == "transport")
        #expect(Set(entries.map { "\($0.metadata["fetch"] ?? "none")" }).count == 3)
    }

    @Test("levels can be changed, and an event without one is omitted")
    func changedLevels() async throws {
        var levels = LoggingListener.Levels()
        (levels.attempt, levels.redirect, levels.retry, levels.success) = (.trace, nil, nil, .notice)
        levels.failure = { $0.statusCode == .serviceUnavailable ? .error : nil }
        let listener = LoggingListener(logger, levels: levels)
        #expect(listener.observesSteps)
        _ = try await SecretFetches([listener]).runAlone()
        let attempt = "trace Attempt started"
        #expect(
            lines == [
                attempt, attempt, "notice Fetch succeeded", attempt, attempt, "error Fetch failed", attempt, attempt,
            ]
        )
        levels.attempt = nil
        #expect(!LoggingListener(logger, levels: levels).observesSteps)
    }

    @Test("a cancel is logged, and so are connections and discarded events")
    func otherEvents() {
        var levels = LoggingListener.Levels()
        levels.connection = .trace
        let listener = LoggingListener(logger, levels: levels)
        listener.fetchCancelled(FetchEvent(fetch: 1), metrics: HTTP.Metrics())
        let connection = HTTP.Connection(remoteAddress: "127.0.0.1", remotePort: 443)
        listener.connectionOpened(connection, at: .now)
        listener.connectionClosed(connection, reason: .remote, at: .now)
        listener.eventsDropped(7)
        #expect(
            lines == [
                "debug Fetch cancelled", "trace Connection opened", "trace Connection closed",
                "warning Events were discarded, because listeners are too slow",
            ]
        )
        #expect(handler.entries[2].metadata["reason"] == "remote")
        #expect(handler.entries[3].metadata["count"] == "7")
    }

    @Test("no line has a secret")
    func secrets() async throws {
        var levels = LoggingListener.Levels()
        (levels.attempt, levels.connection) = (.trace, .trace)
        #expect(try await SecretFetches([LoggingListener(logger, levels: levels)]).runAlone())
        #expect(handler.entries.count == 13)
        for entry in handler.entries { #expect(!"\(entry)".contains(SecretFetches.secret), "\(entry)") }
    }
}
