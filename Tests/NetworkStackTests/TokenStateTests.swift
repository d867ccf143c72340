import FoundationEssentials
import NetworkStackTesting
import Testing

@testable import NetworkStack

/// A store that counts how often it is read.
private final class CountingStore: TokenStore {
    private let state = Lock(0)

    var loads: Int { state.withLock { $0 } }

    func load() -> AccessToken? {
        state.withLock { $0 += 1 }
        return nil
    }

    func save(_ token: AccessToken?) {}
}

/// Records its cancel.
private final class Noticing: Cancelable {
    let cancelled = Gate()

    func cancel() { cancelled.open() }
}

/// Never authenticates, and records its cancel.
private struct Stuck: RequestAuthenticator {
    typealias Request = HTTP.Request
    typealias Response = HTTP.Response

    let noticing = Noticing()
    let began = Gate()

    func authenticateRequest(_ request: HTTP.Request, handler: @escaping AuthenticationHandler) -> any Cancelable {
        began.open()
        return noticing
    }

    func evaluateFailedRequest(
        _ request: HTTP.Request,
        data: Data?,
        response: HTTP.Response?,
        error: any Error,
        retryState: Retry.State
    ) -> Retry.Action { .none }
}

@Suite("Overlapping refreshes, and the effects of those that have ended", .timeLimit(.minutes(1)))
struct TokenStateTests {
    private let waiter = TokenWaiter { _ in EmptyCancelable() }
    private let origin: HTTP.Origin
    private let request: HTTP.Request

    init() throws {
        request = try HTTP.Request(url: "https://api.test/items")
        origin = try HTTP.Origin(of: request.url)
    }

    /// Whether a request for a token waits for a current refresh.
    private func waits(_ state: inout TokenState) -> Bool {
        if case .wait(begins: nil) = state.request(waiter, now: .now) { true } else { false }
    }

    @Test("The result of a refresh that a sign-out interrupted is dropped")
    func signedOut() {
        var state = TokenState()
        _ = state.request(waiter, now: .now)
        _ = state.forget()
        let countsLate = state.adopt(AccessToken("T1"), from: 1, margin: .zero, now: .now)
        #expect(!countsLate)
        #expect(state.token == nil)
        _ = state.request(waiter, now: .now)
        // A margin beyond the range of a duration in seconds.
        let forever = Duration.seconds(Int64.max) * 2
        let counts = state.adopt(AccessToken("T2", expirationDate: .now), from: 2, margin: forever, now: .now)
        #expect(counts, "the token of the next refresh is new")
    }

    @Test("The end of an abandoned refresh does not end the next")
    func lateEnd() {
        var state = TokenState()
        _ = state.request(waiter, now: .now)
        let first = state.end(1).0.count
        _ = state.request(waiter, now: .now)
        let late = state.end(1).0.count
        let isUnderWay = waits(&state)
        let last = state.end(2).0.count
        #expect((first, late, isUnderWay, last) == (1, 0, true, 2))
    }

    @Test("While a valid token is replaced, new requests wait for the new one")
    func whileForced() {
        var state = TokenState()
        state.load(AccessToken("good"), margin: .zero)
        _ = state.request(waiter, forced: true, now: .now)
        let isWaiting = waits(&state)
        let ended = state.endAsLoaded(1, now: .now)?.0
        #expect(isWaiting)
        #expect(ended == nil, "the old token ends neither wait")
    }

    @Test("Of many requests rejected with one new token, only its refresher fails")
    func refusedAtOnce() {
        var state = TokenState()
        _ = state.adopt(AccessToken("T1"), from: 1, margin: .zero, now: .now)
        let votes = [0, 1].map { state.judge(rejected: "Bearer T1", rejections: $0).summary }
        #expect(votes == ["retry", "retry"], "the token is already being replaced")
    }

    @Test("Only rejections of a token count: after other failures, the first is repeated")
    func otherFailures() async throws {
        let authenticator = TokenAuthenticator(origins: [origin], refresh: TokenServer().refresh)
        let credentials = try await authenticator.token().credentials
        let unavailable = HTTP.Response(status: 503, url: request.url)
        let refused = HTTP.Response(status: 401, url: request.url)
        var (sent, state) = (request, Retry.State())
        sent.headers[.authorization] = credentials
        state.errors = [
            HTTPFetchError<HTTP.Response, any Error>.http(503, nil, unavailable),
            HTTPFetchError<HTTP.Response, any Error>.transport(CancellationError()), CancellationError(),
        ]
        let vote = authenticator.evaluateFailedRequest(
            sent,
            data: nil,
            response: refused,
            error: HTTPFetchError<HTTP.Response, any Error>.http(401, nil, refused),
            retryState: state
        )
        #expect(vote.summary == "retry")
    }

    @Test("The store is read once, and the timer of a refresh ends with it")
    func leftovers() async throws {
        let (store, clock, server) = (CountingStore(), VirtualClock(), TokenServer(gate: Gate()))
        let authenticator = TokenAuthenticator(
            origins: [origin],
            store: store,
            clock: clock,
            refresh: server.refresh
        )
        let waiting = Task { try await authenticator.token() }
        try await clock.sleepers(1)
        server.gate?.open()
        _ = try await waiting.value
        for _ in 1...3 { try await authenticator.refreshToken() }
        #expect(store.loads == 1)
        let deadline = ContinuousClock.now + .seconds(10)
        while clock.sleeperCount > 0, ContinuousClock.now < deadline { await Task.yield() }
        #expect(clock.sleeperCount == 0)
    }

    @Test("Cancelling a request that waited for a token cancels its later work")
    func cancelledAfterwards() async throws {
        let (noticing, followed) = (Noticing(), Gate())
        let authenticator = TokenAuthenticator(origins: [origin], refresh: TokenServer().refresh)
        let waiting = authenticator.authenticateRequest(request) { _ in
            followed.open()
            return noticing
        }
        try await followed.opened()
        waiting.cancel()
        try await noticing.cancelled.opened()
    }

    @Test("A cancelled task waits for no authenticator, and cancels its work")
    func cancelledTask() async throws {
        let (stuck, request) = (Stuck(), request)
        let waiting = Task { try await stuck.authenticateRequest(request) }
        try await stuck.began.opened()
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        try await stuck.noticing.cancelled.opened()
    }

    @Test("Parts of a second count in a margin")
    func fractions() {
        #expect(Duration.milliseconds(1500).seconds == 1.5)
        #expect(Duration.milliseconds(-250).seconds == -0.25)
    }
}
