import FoundationEssentials
import NetworkStackTesting
import Testing

@testable import NetworkStack

/// A store whose functions wait for gates, and that counts concurrent calls.
private final class GatedStore: TokenStore {
    private struct State {
        var token: AccessToken?
        var saved: [String?] = []
        var running = 0
        var mostRunning = 0
    }

    private let state = Lock(State())
    let (loading, saving) = (Gate(), Gate())
    let (loads, saves): (Gate?, Gate?)
    private let stored: AccessToken

    init(
        _ stored: AccessToken = AccessToken("stored", expirationDate: .distantPast),
        loads: Gate? = nil,
        saves: Gate? = nil
    ) { (self.stored, self.loads, self.saves) = (stored, loads, saves) }

    var token: AccessToken? { state.withLock { $0.token } }
    var saved: [String?] { state.withLock { $0.saved } }
    var mostRunning: Int { state.withLock { $0.mostRunning } }

    func load() async throws -> AccessToken? {
        begin()
        defer { end() }
        loading.open()
        try await loads?.opened()
        return stored
    }

    func save(_ token: AccessToken?) async throws {
        begin()
        defer { end() }
        saving.open()
        try await saves?.opened()
        state.withLock { state in
            state.token = token
            state.saved.append(token?.value)
        }
    }

    private func begin() {
        state.withLock { state in
            state.running += 1
            state.mostRunning = max(state.mostRunning, state.running)
        }
    }

    private func end() { state.withLock { $0.running -= 1 } }
}

@Suite("The state of a token authenticator", .timeLimit(.minutes(1)))
struct TokenKeepingTests {
    private let origin: HTTP.Origin
    private let request: HTTP.Request

    init() throws {
        request = try HTTP.Request(url: "https://api.test/items")
        origin = try HTTP.Origin(of: request.url)
    }

    private func rejected(_ authenticator: TokenAuthenticator, credentials: String) -> String {
        var failed = request
        failed.headers[.authorization] = credentials
        let response = HTTP.Response(status: 401, url: request.url)
        return authenticator.evaluateFailedRequest(
            failed,
            data: nil,
            response: response,
            error: HTTPFetchError<HTTP.Response, any Error>.http(401, nil, response),
            retryState: .init()
        )
        .summary
    }

    @Test("A sign-out while a token is being saved is the store's final state")
    func signOutWhileSaving() async throws {
        let (server, store) = (TokenServer(), GatedStore(saves: Gate()))
        let authenticator = TokenAuthenticator(origins: [origin], store: store, refresh: server.refresh)
        let waiting = Task { try await authenticator.token() }
        try await store.saving.opened()
        let leaving = Task { try await authenticator.signOut() }
        await #expect(throws: CancellationError.self) { try await waiting.value }
        store.saves?.open()
        try await leaving.value
        #expect(store.token == nil)
        #expect(store.saved.last == .some(nil))
        #expect(store.mostRunning == 1)
    }

    @Test("A late result of an abandoned refresh leaves the newest token in the store")
    func lateSave() async throws {
        let store = GatedStore(saves: Gate())
        let serial = SerialTokenStore(store)
        let current = Lock(AccessToken("T1"))
        let first = Task { try await serial.save { current.withLock { $0 } } }
        try await store.saving.opened()
        current.withLock { $0 = AccessToken("T2") }
        let others = (0..<5).map { _ in Task { try await serial.save { current.withLock { $0 } } } }
        store.saves?.open()
        for save in [first] + others { try await save.value }
        #expect(store.saved == ["T1", "T2", "T2", "T2", "T2", "T2"])
        #expect(store.mostRunning == 1)
    }

    @Test("A store is read by one request at a time")
    func turns() async throws {
        let store = GatedStore()
        let serial = SerialTokenStore(store)
        await withTaskGroup(of: Void.self) { group in
            for _ in 1...4 {
                group.addTask { for _ in 1...10_000 { try? await serial.save { AccessToken("T") } } }
            }
        }
        #expect(store.saved.count == 40_000)
        #expect(store.mostRunning == 1)
    }

    @Test("After a sign-out during the store's read, no token is requested")
    func signOutWhileLoading() async throws {
        let (server, store) = (TokenServer(), GatedStore(loads: Gate()))
        let authenticator = TokenAuthenticator(origins: [origin], store: store, refresh: server.refresh)
        let waiting = Task { try await authenticator.token() }
        try await store.loading.opened()
        let leaving = Task { try await authenticator.signOut() }
        await #expect(throws: CancellationError.self) { try await waiting.value }
        store.loads?.open()
        try await leaving.value
        #expect(server.count == 0)
        #expect(store.mostRunning == 1)
        #expect(try await authenticator.token().value == "T1")
        #expect(server.given == [nil], "the stored token was removed, too")
    }

    @Test("A refresh may sign out, which fails the waiting requests")
    func signOutInside() async throws {
        let store = MemoryTokenStore(AccessToken("old", expirationDate: .distantPast))
        let (place, left) = (Lock<TokenAuthenticator?>(nil), Gate())
        let authenticator = TokenAuthenticator(origins: [origin], store: store) { _ in
            try await place.withLock { $0 }?.signOut()
            left.open()
            throw TokenRejected()
        }
        place.withLock { $0 = authenticator }
        defer { place.withLock { $0 = nil } }
        await #expect(throws: CancellationError.self) { try await authenticator.token() }
        try await left.opened()
        #expect(store.load() == nil)
    }

    @Test("A forced refresh replaces a valid token, and a sign-out stops a cooperative refresh")
    func forcedAndStopped() async throws {
        let server = TokenServer(gate: Gate())
        let authenticator = TokenAuthenticator(
            origins: [origin],
            store: MemoryTokenStore(AccessToken("good")),
            refresh: server.refresh
        )
        #expect(try await authenticator.token().value == "good")
        let forced = Task { try await authenticator.refreshToken() }
        try await server.began.opened()
        server.gate?.open()
        #expect(try await forced.value.value == "T1")
        #expect(server.given == ["good"])

        let (began, stopped) = (Gate(), Gate())
        let listening = TokenAuthenticator(origins: [origin]) { _ in
            began.open()
            do { try await Gate().opened() } catch {
                stopped.open()
                throw error
            }
            return AccessToken("late")
        }
        let waiting = Task { try await listening.token() }
        try await began.opened()
        try await listening.signOut()
        try await stopped.opened(within: .seconds(5))
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test("A forced refresh that joins a store's read brings a new token")
    func forcedWhileLoading() async throws {
        let (server, store) = (TokenServer(), GatedStore(AccessToken("good"), loads: Gate()))
        let authenticator = TokenAuthenticator(origins: [origin], store: store, refresh: server.refresh)
        let waiting = Task { try await authenticator.token() }
        try await store.loading.opened()
        let forced = Task { try await authenticator.refreshToken() }
        // Long enough for it to join; if it comes later, it starts another refresh.
        for _ in 1...100 { await Task.yield() }
        store.loads?.open()
        #expect(try await forced.value.value == "T1")
        #expect(["good", "T1"].contains(try await waiting.value.value))
        #expect(server.given == ["good"])
    }

    @Test("No request joins a refresh that ends with the stored token")
    func endedAsLoaded() {
        var state = TokenState()
        let waiter = TokenWaiter { _ in EmptyCancelable() }
        _ = state.request(waiter, now: .now)
        state.load(AccessToken("good"), margin: .zero)
        #expect(state.endAsLoaded(1, now: .now)?.0 == AccessToken("good"))
        guard case .wait(begins: 2) = state.request(waiter, forced: true, now: .now) else {
            Issue.record("no other refresh started")
            return
        }
        #expect(state.endAsLoaded(2, now: .now)?.0 == nil, "a new token was requested")
    }

    @Test("A refresh may take any time")
    func endless() async throws {
        let server = TokenServer(gate: Gate())
        let options = TokenAuthenticator.Options(margin: .seconds(Int64.max), timeout: .seconds(Int64.max))
        let authenticator = TokenAuthenticator(origins: [origin], options: options, refresh: server.refresh)
        let waiting = Task { try await authenticator.token() }
        try await server.began.opened()
        // Long enough for the timer to start, and to crash the process if it could.
        for _ in 1...100 { await Task.yield() }
        server.gate?.open()
        #expect(try await waiting.value.value == "T1")
    }

    @Test("Refreshes that need each other's stacks do not wait for each other")
    func mutual() async throws {
        let other = try HTTP.Request(url: "https://other.test/token")
        let (request, place) = (request, Lock<TokenAuthenticator?>(nil))
        let second = TokenAuthenticator(origins: [try HTTP.Origin(of: other.url)]) { _ in
            let first = place.withLock { $0 }
            let made = try await first?.authenticateRequest(request)
            return AccessToken("second, asked with \(made?.headers[.authorization] ?? "nothing")")
        }
        let first = TokenAuthenticator(origins: [origin], clock: VirtualClock()) { _ in
            let made = try await second.authenticateRequest(other)
            return AccessToken("first, asked with \(made.headers[.authorization] ?? "nothing")")
        }
        place.withLock { $0 = first }
        defer { place.withLock { $0 = nil } }
        let asking = Task { try await first.token().value }
        let watchdog = Task {
            try await Task.sleep(for: .seconds(20))
            asking.cancel()
        }
        defer { watchdog.cancel() }
        #expect(try await asking.value == "first, asked with Bearer second, asked with nothing")
    }

    @Test("Only requests with its token are evaluated")
    func ownCredentials() async throws {
        let server = TokenServer()
        let exempt = Lock(false)
        let authenticator = TokenAuthenticator(
            origins: [origin],
            options: .init(isExempt: { _ in exempt.withLock { $0 } }),
            refresh: server.refresh
        )
        for _ in 1...3 { try await authenticator.refreshToken() }
        #expect(rejected(authenticator, credentials: "Basic dTpw") == "none")
        #expect(rejected(authenticator, credentials: "Bearer T9") == "none")
        #expect(rejected(authenticator, credentials: "Bearer T1") == "retry", "an older one")
        exempt.withLock { $0 = true }
        #expect(rejected(authenticator, credentials: "Bearer T3") == "none")
        exempt.withLock { $0 = false }
        #expect(rejected(authenticator, credentials: "Bearer T3") == "retry")
        for _ in 1...50 { try await authenticator.refreshToken() }
        #expect(rejected(authenticator, credentials: "Bearer T1") == "none", "old tokens are dropped")
    }
}
