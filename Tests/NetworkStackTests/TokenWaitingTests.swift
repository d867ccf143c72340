import FoundationEssentials
import NetworkStackTesting
import Testing

@testable import NetworkStack

/// Records the task of its calls, and whether that is cancelled.
private struct Noting: HTTPResourceInterceptor {
    typealias Request = HTTP.Request
    typealias Response = HTTP.Response

    @TaskLocal static var task = "no task"

    let notes = Lock<[String]>([])

    func interceptMakeRequestResult(
        _ result: Result<HTTP.Request, any Error>,
        handler: @escaping RequestHandler
    ) -> any Cancelable {
        notes.withLock { $0.append(Self.task + (Task.isCancelled ? ", cancelled" : "")) }
        return handler(result)
    }
}

@Suite("Requests that wait for a token", .timeLimit(.minutes(1)))
struct TokenWaitingTests {
    private typealias Resource = HTTPResource<HTTP.Request, HTTP.Response>

    private let origin: HTTP.Origin
    private let request: HTTP.Request

    init() throws {
        request = try HTTP.Request(url: "https://api.test/items")
        origin = try HTTP.Origin(of: request.url)
    }

    @Test("An https-only host's token is refreshed, even if http was bound")
    func strictTransport() async throws {
        let (hosts, url) = (HTTP.StrictTransportHosts(), "http://api.test/items")
        hosts.note(.init(name: "api.test", expires: .distantFuture, includesSubdomains: false))
        let authenticator = TokenAuthenticator(
            origins: [try HTTP.Origin(of: HTTP.Request(url: url).url)],
            store: MemoryTokenStore(AccessToken("T0"))
        ) { _ in AccessToken("T1") }
        var configuration = Network.Configuration()
        (configuration.strictTransport, configuration.interceptors) = (hosts, [authenticator])
        let mock = try MockNetworkStack(configuration: configuration)
        mock.answer { $0.headers[.authorization] == "Bearer T1" ? .json("1") : .status(.unauthorized) }
        _ = try await mock.fetch(resource: .init(baseRequestMaking: .request(HTTP.Request(url: url))))
        #expect(mock.requests.map(\.url.absoluteString) == ["https://api.test/items", "https://api.test/items"])
    }

    @Test("A refresh that requests its token fails at once; a task that outlives it does not")
    func ownToken() async throws {
        let (authenticator, later) = (Lock<TokenAuthenticator?>(nil), Lock<Task<String, any Error>?>(nil))
        let (isOver, count) = (Gate(), Lock(0))
        let made = TokenAuthenticator(origins: [origin]) { _ in
            let own = authenticator.withLock { $0 }
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number == 1 { return try await own?.token() ?? AccessToken("none") }
            later.withLock { later in
                later = Task {
                    try await isOver.opened()
                    return try await own?.token().value ?? "none"
                }
            }
            return AccessToken("T2")
        }
        authenticator.withLock { $0 = made }
        defer { authenticator.withLock { $0 = nil } }
        let start = ContinuousClock.now
        await #expect(throws: TokenAwaitedByItsRefresh.self) { try await made.token() }
        #expect(ContinuousClock.now - start < .seconds(10))
        #expect(try await made.token().value == "T2")
        isOver.open()
        #expect(try await later.withLock { $0 }?.value == "T2")
    }

    @Test(
        "A task that outlives its refresh gets the token; the refresh's requests do not"
    )
    func laterRequest() async throws {
        let (place, later, isOver) = (Lock<InMemoryStack?>(nil), Lock<Task<Data, any Error>?>(nil), Gate())
        let resource = Resource(baseRequestMaking: .request(request))
        let made = TokenAuthenticator(origins: [origin]) { _ in
            let stack = try #require(place.withLock { $0 })
            later.withLock { later in
                later = Task {
                    try await isOver.opened()
                    return try await stack.fetch(resource: resource).value
                }
            }
            return AccessToken(String(decoding: try await stack.fetch(resource: resource).value, as: UTF8.self))
        }
        let stack = try stack([made])
        place.withLock { $0 = stack }
        defer { place.withLock { $0 = nil } }
        #expect(try await made.token().value == "none")
        isOver.open()
        let credentials = try await later.withLock { $0 }?.value
        #expect(credentials == Data("Bearer none".utf8))
    }

    /// A stack whose server answers with the credentials that it was sent.
    private func stack(_ interceptors: Resource.Interceptors) throws -> InMemoryStack {
        var configuration = Network.Configuration()
        configuration.interceptors = interceptors
        return try InMemoryStack(configuration) { _ in
            { request in
                (HTTP.Response(status: 200, url: request.url), Data((request.headers[.authorization] ?? "none").utf8))
            }
        }
    }

    @Test("continue without the task-local values and the cancellation of the first requester")
    func strangers() async throws {
        let (server, noting, ended) = (TokenServer(gate: Gate()), Noting(), [Gate(), Gate()])
        let stack = try stack([TokenAuthenticator(origins: [origin], refresh: server.refresh), noting])
        for (task, gate) in zip(["first", "second"], ended) {
            Noting.$task.withValue(task) {
                _ = stack.fetch(resource: Resource(baseRequestMaking: .request(request))) { _ in gate.open() }
            }
        }
        server.gate?.open()
        for gate in ended { try await gate.opened() }
        #expect(noting.notes.withLock { $0 } == ["no task", "no task"])
    }

    @Test("count as part of a refresh if they are, and only then")
    func ownRequests() async throws {
        let (server, place) = (TokenServer(gate: Gate()), Lock<InMemoryStack?>(nil))
        let resource = Resource(baseRequestMaking: .request(request))
        let outer = TokenAuthenticator(origins: [origin], refresh: server.refresh)
        let inner = TokenAuthenticator(origins: [origin], clock: VirtualClock()) { _ in
            let stack = try #require(place.withLock { $0 })
            let credentials = try await stack.fetch(resource: resource).value
            return AccessToken("asked with \(String(decoding: credentials, as: UTF8.self))")
        }
        let stack = try stack([outer, inner])
        place.withLock { $0 = stack }
        defer { place.withLock { $0 = nil } }
        let asking = Task { try await inner.token().value }
        try await server.began.opened()
        // It waits for the same token as the request for the inner one.
        let (credentials, ended) = (Lock<String?>(nil), Gate())
        stack.fetch(resource: resource) { result in
            credentials.withLock { $0 = (try? result.get()).map { String(decoding: $0.value, as: UTF8.self) } }
            ended.open()
        }
        server.gate?.open()
        try await ended.opened()
        #expect(credentials.withLock { $0 } == "Bearer asked with Bearer T1")
        #expect(try await asking.value == "asked with Bearer T1")
    }
}
