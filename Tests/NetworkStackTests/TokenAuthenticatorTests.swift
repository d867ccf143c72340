import FoundationEssentials
import NetworkStackTesting
import Testing

@testable import NetworkStack

private struct Refused: Error, Equatable {}

/// A clock whose first sleep ends when its gate opens; the others end when they are cancelled.
private final class GatedClock: Clock {
    let gate = Gate()
    private let sleeps = Lock(0)

    var now: ContinuousClock.Instant { .now }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        let isFirst = sleeps.withLock { sleeps in
            sleeps += 1
            return sleeps == 1
        }
        try await (isFirst ? gate : Gate()).opened(within: .seconds(50))
    }
}

@Suite("A token authenticator", .timeLimit(.minutes(1)))
struct TokenAuthenticatorTests {
    private typealias FetchError = HTTPFetchError<HTTP.Response, any Error>

    private let origin: HTTP.Origin
    private let request: HTTP.Request

    init() throws {
        request = try HTTP.Request(url: "https://api.test/items")
        origin = try HTTP.Origin(of: request.url)
    }

    private func authorization(_ authenticator: TokenAuthenticator, _ request: HTTP.Request? = nil) async throws
        -> String?
    {
        try await authenticator.authenticateRequest(request ?? self.request).headers[.authorization]
    }

    private func answer(_ status: HTTP.StatusCode, at url: URL? = nil) -> HTTP.Response {
        HTTP.Response(status: status, url: url ?? request.url)
    }

    /// The vote on a request with this token and response, after a number of equal responses.
    private func vote(
        _ authenticator: TokenAuthenticator,
        token: String?,
        status: HTTP.StatusCode = 401,
        before: Int = 0,
        from url: URL? = nil
    ) -> String {
        var (failed, state) = (request, Retry.State())
        failed.headers[.authorization] = token.map { "Bearer \($0)" }
        let response = answer(status, at: url)
        let error = FetchError.http(status, nil, response)
        state.errors = Array(repeating: error, count: before)
        return authenticator.evaluateFailedRequest(
            failed,
            data: nil,
            response: response,
            error: error,
            retryState: state
        )
        .summary
    }

    @Test("A thousand requests that need a token wait for one refresh")
    func singleFlight() async throws {
        let server = TokenServer(gate: Gate())
        let authenticator = TokenAuthenticator(origins: [origin], refresh: server.refresh)
        let waiting = Lock(0)
        let results = try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 1...1000 {
                group.addTask {
                    waiting.withLock { $0 += 1 }
                    return try await authorization(authenticator)
                }
            }
            try await server.began.opened()
            while waiting.withLock({ $0 }) < 1000 { await Task.yield() }
            server.gate?.open()
            return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
        #expect(results == ["Bearer T1": 1000])
        #expect(server.count == 1)
        #expect(try await authorization(authenticator) == "Bearer T1")
    }

    @Test("The stored token is used, and read once")
    func stored() async throws {
        let server = TokenServer()
        let store = MemoryTokenStore(AccessToken("kept", scheme: "token"))
        let authenticator = TokenAuthenticator(origins: [origin], store: store, refresh: server.refresh)
        #expect(try await authorization(authenticator) == "token kept")
        store.save(AccessToken("other"))
        #expect(try await authorization(authenticator) == "token kept")
        #expect(server.count == 0)
        #expect(try await authenticator.refreshToken().value == "T1")
        #expect(server.given == ["kept"])
        #expect(store.load()?.value == "T1")
    }

    @Test("A token is refreshed a margin before it expires, at most half its life")
    func expiration() async throws {
        let time = Lock(Date(timeIntervalSince1970: 0))
        let now: @Sendable () -> Date = { time.withLock { $0 } }
        let server = TokenServer(lifetime: 100, now: now)
        let stored = AccessToken("T0", expirationDate: now().addingTimeInterval(100))
        let authenticator = TokenAuthenticator(
            origins: [origin],
            store: MemoryTokenStore(stored),
            options: .init(margin: .seconds(30)),
            now: now,
            refresh: server.refresh
        )
        func after(_ seconds: TimeInterval) async throws -> String? {
            time.withLock { $0 = Date(timeIntervalSince1970: seconds) }
            return try await authorization(authenticator)
        }
        #expect(try await after(69) == "Bearer T0")
        #expect(try await after(70) == "Bearer T1")
        #expect(try await after(139) == "Bearer T1")
        #expect(try await after(140) == "Bearer T2")
        let short = TokenServer(lifetime: 10, now: now)
        let impatient = TokenAuthenticator(
            origins: [origin],
            options: .init(margin: .seconds(30)),
            now: now,
            refresh: short.refresh
        )
        for second in [0.0, 4, 4.9] {
            time.withLock { $0 = Date(timeIntervalSince1970: 1000 + second) }
            #expect(try await authorization(impatient) == "Bearer T1")
        }
        time.withLock { $0 = Date(timeIntervalSince1970: 1005) }
        #expect(try await authorization(impatient) == "Bearer T2")
    }

    @Test("A failed refresh fails all waiting requests, and the next request tries again")
    func failedRefresh() async throws {
        let server = TokenServer()
        server.fail(with: Refused())
        let authenticator = TokenAuthenticator(origins: [origin], refresh: server.refresh)
        await #expect(throws: Refused()) { try await authorization(authenticator) }
        await #expect(throws: Refused()) { try await authenticator.token() }
        server.fail(with: nil)
        #expect(try await authorization(authenticator) == "Bearer T3")
    }

    @Test("A cancelled request leaves the refresh to the others, and its completion is not called")
    func cancelledWaiter() async throws {
        let server = TokenServer(gate: Gate())
        let authenticator = TokenAuthenticator(origins: [origin], refresh: server.refresh)
        let wasCalled = Lock(false)
        let cancelled = authenticator.authenticateRequest(request) { _ in
            wasCalled.withLock { $0 = true }
            return EmptyCancelable()
        }
        let task = Task { try await authenticator.token() }
        let other = Task { try await authorization(authenticator) }
        try await server.began.opened()
        cancelled.cancel()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        server.gate?.open()
        #expect(try await other.value == "Bearer T1")
        #expect(!wasCalled.withLock { $0 })
        #expect(server.count == 1)
    }

    @Test("A slow refresh fails the waiting requests; its late token is still used")
    func timeout() async throws {
        let (server, clock) = (TokenServer(gate: Gate()), GatedClock())
        let authenticator = TokenAuthenticator(origins: [origin], clock: clock) { old in
            // It ignores its cancellation.
            try await Task { try await server.refresh(old) }.value
        }
        let waiting = Task { try await authorization(authenticator) }
        try await server.began.opened()
        clock.gate.open()
        await #expect(throws: TokenRefreshTimedOut()) { try await waiting.value }
        server.gate?.open()
        // The late token counts until a token arrives that was requested before it.
        #expect(["Bearer T1", "Bearer T2"].contains(try await authorization(authenticator)))
        #expect(server.count <= 2)
    }

    @Test("The late result of an abandoned refresh is ignored after a newer token")
    func lateRefresh() {
        var state = TokenState()
        let waiter = TokenWaiter { _ in EmptyCancelable() }
        _ = state.request(waiter, now: .now)
        let abandoned = state.end(1).0
        _ = state.request(waiter, now: .now)
        let counts = [(2, "T2"), (1, "T1")].map { number, token in
            state.adopt(AccessToken(token), from: number, margin: .zero, now: .now)
        }
        #expect(abandoned.count == 1)
        #expect(counts == [true, false])
        #expect(state.token == AccessToken("T2"))
    }

    @Test("A failure with the current token is repeated with a new one, once")
    func votes() async throws {
        let server = TokenServer()
        let authenticator = TokenAuthenticator(origins: [origin], refresh: server.refresh)
        #expect(try await authorization(authenticator) == "Bearer T1")
        #expect(vote(authenticator, token: "T0") == "none", "not from here")
        #expect(try await authorization(authenticator) == "Bearer T1")
        // Many at once: the first refreshes the token, the others only repeat.
        for _ in 1...3 { #expect(vote(authenticator, token: "T1") == "retry") }
        #expect(try await authorization(authenticator) == "Bearer T2")
        #expect(vote(authenticator, token: "T1") == "retry")
        let rejected = "no retry: The server rejected a token that had just been refreshed."
        #expect(vote(authenticator, token: "T2", before: 1) == rejected)
        #expect(try await authorization(authenticator) == "Bearer T2")
        #expect(vote(authenticator, token: "T1", before: 2) == "retry")
        #expect(vote(authenticator, token: "T1", before: 3) == rejected)
        #expect(server.count == 2)
    }

    @Test("A failure unrelated to the token is ignored")
    func unrelated() async throws {
        let server = TokenServer()
        let authenticator = TokenAuthenticator(origins: [origin], refresh: server.refresh)
        #expect(try await authorization(authenticator) == "Bearer T1")
        #expect(vote(authenticator, token: "T1", status: 403) == "none")
        #expect(vote(authenticator, token: "T1", status: 500) == "none")
        #expect(vote(authenticator, token: nil) == "none")
        let elsewhere = try #require(URL(string: "https://other.test/"))
        #expect(vote(authenticator, token: "T1", from: elsewhere) == "none")
        let dead = authenticator.evaluateFailedRequest(
            request,
            data: nil,
            response: nil,
            error: FetchError.cancelled,
            retryState: .init()
        )
        #expect(dead.summary == "none")
        #expect(try await authorization(authenticator) == "Bearer T1")
    }

    @Test(
        "A token is not sent to another origin",
        arguments: [
            "http://api.test/items", "https://api.test:8443/items", "https://other.test/", "https://api.test.evil/",
            "https://sub.api.test/", "https://api.test@evil.test/",
        ]
    )
    func otherOrigins(url: String) async throws {
        let (server, elsewhere) = (TokenServer(), try HTTP.Request(url: url))
        let authenticators: [any RequestAuthenticator<HTTP.Request, HTTP.Response>] = [
            TokenAuthenticator(origins: [origin], refresh: server.refresh),
            try BasicAuthenticator(user: "u", password: "p", origins: [origin]),
            try BearerAuthenticator(token: "T", origins: [origin]),
        ]
        for authenticator in authenticators {
            #expect(try await authenticator.authenticateRequest(elsewhere).headers[.authorization] == nil)
            #expect(try await authenticator.authenticateRequest(request).headers[.authorization] != nil)
        }
        #expect(server.count == 1)
    }

    @Test("Signing out drops the token, also one that a refresh returns later")
    func signOut() async throws {
        let (server, store) = (TokenServer(gate: Gate()), MemoryTokenStore())
        let authenticator = TokenAuthenticator(origins: [origin], store: store, refresh: server.refresh)
        let waiting = Task { try await authorization(authenticator) }
        try await server.began.opened()
        try await authenticator.signOut()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        server.gate?.open()
        #expect(try await authorization(authenticator) == "Bearer T2")
        #expect(store.load()?.value == "T2")
        #expect(server.given == [nil, nil])
        try await authenticator.signOut()
        #expect(store.load() == nil)
    }

    @Test("A store that cannot save the token is reported, and delays nothing")
    func brokenStore() async throws {
        struct Full: TokenStore {
            func load() -> AccessToken? { nil }
            func save(_ token: AccessToken?) throws { throw Refused() }
        }
        let (server, failures) = (TokenServer(), Lock(0))
        let authenticator = TokenAuthenticator(
            origins: [origin],
            store: Full(),
            options: .init(storeFailure: { _ in failures.withLock { $0 += 1 } }),
            refresh: server.refresh
        )
        #expect(try await authorization(authenticator) == "Bearer T1")
        #expect(failures.withLock { $0 } == 1)
    }
}
