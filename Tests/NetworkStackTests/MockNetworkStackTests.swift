import Foundation
import NetworkStack
import NetworkStackTesting
import Testing

private enum UserEndpoint: HTTPResourceEndpoint {
    case all
    case get(Int)
    case missing
    case unmocked

    var method: HTTP.Method { .GET }
    var baseURL: URL { URL(string: "https://api.test") ?? URL(filePath: "/") }
    var path: String? {
        switch self {
        case .all: "/users"
        case .get(let id): "/users/\(id)"
        case .missing: "/missing"
        case .unmocked: "/unmocked"
        }
    }
}

extension UserEndpoint: MockEndpoint {
    var mockFilename: String? {
        switch self {
        case .all: "users"
        case .get: "user"
        case .missing: "nowhere"
        case .unmocked: nil
        }
    }
}

private struct User: Codable, Equatable { let id: Int }

private struct Unexpected: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

@Suite("A mock stack", .timeLimit(.minutes(1)))
struct MockNetworkStackTests {
    private typealias Resource = MockNetworkStack.Resource

    private func get(_ path: String, method: HTTP.Method = .GET, body: HTTP.Body = .none) throws -> Resource {
        Resource(
            baseRequestMaking: .request(try HTTP.Request(method: method, url: "https://api.test\(path)", body: body))
        )
    }

    private func resource(_ endpoint: UserEndpoint) -> Resource { Resource(baseRequestMaking: .endpoint(endpoint)) }

    /// The error of a fetch.
    private func failure(_ mock: MockNetworkStack, _ resource: Resource) async throws -> MockNetworkStack.FetchError {
        do throws(MockNetworkStack.FetchError) {
            let value = try await mock.fetch(resource: resource)
            throw .badResponse(value.response)
        } catch { return error }
    }

    /// Files as in an app, in a temporary folder.
    private func withFiles(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "mock-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(#"[{"id":1},{"id":2}]"#.utf8).write(to: folder.appending(path: "users.json"))
        try Data(#"{"id":7}"#.utf8).write(to: folder.appending(path: "user.json"))
        try await body(folder)
    }

    @Test("answers an endpoint from its JSON file without configuration")
    func files() async throws {
        try await withFiles { folder in
            let mock = try MockNetworkStack(files: .init(folder: folder))
            let users = try await mock.fetchAndDecode(resource: resource(.all), decoding: .json([User].self))
            #expect(users.value == [User(id: 1), User(id: 2)])
            #expect(users.response.headers.contentType == .json)
            let user = try await mock.fetchAndDecode(resource: resource(.get(10)), decoding: .json(User.self))
            #expect(user.value == User(id: 7))
            #expect(mock.requests.map(\.url.absoluteString) == ["https://api.test/users", "https://api.test/users/10"])
        }
    }

    @Test("answers from a bundle, and through an erased stack")
    func bundles() async throws {
        try await withFiles { folder in
            let bundle = try #require(Bundle(path: folder.path))
            let mock = AnyHTTPNetworkStack(try MockNetworkStack(files: .init(bundle: bundle)))
            let users = try await mock.fetchAndDecode(resource: resource(.all), decoding: .json([User].self))
            #expect(users.value.count == 2)
        }
    }

    @Test("numbers attempts apart, whether a file answers or not")
    func identifiers() async throws {
        try await withFiles { folder in
            let seen = Lock<[Int]>([])
            var configuration = Network.Configuration()
            configuration.interceptors = [
                AttemptListener { event, _ in
                    if case .started(let attempt) = event { seen.withLock { $0.append(attempt.identifier) } }
                }
            ]
            let mock = try MockNetworkStack(configuration: configuration, files: .init(folder: folder))
            mock.answer(.GET, "/", with: .json("{}"))
            for resource in try [resource(.all), resource(.get(1)), get("/"), resource(.all)] {
                _ = try await mock.fetch(resource: resource)
            }
            #expect(seen.withLock { $0 } == [1, 2, 3, 4])
        }
    }

    @Test("ends and counts fetches of endpoints with its own")
    func sharedLife() async throws {
        try await withFiles { folder in
            let mock = try MockNetworkStack(files: .init(folder: folder))
            mock.answer(.GET, "/users", with: .silence)
            let fetching = Task { try await mock.fetch(resource: resource(.all)) }
            while mock.requests.isEmpty { await Task.yield() }
            #expect(await mock.gauges.fetches == 1)
            await mock.shutdown()
            await #expect(throws: HTTPFetchError<HTTP.Response, any Error>.self) { _ = try await fetching.value }
            guard case .shutDown = try await failure(mock, resource(.get(1))) else {
                throw Unexpected("a fetch after the shutdown")
            }
            #expect(mock.requests.count == 1)
        }
    }

    @Test("reports an unmocked endpoint, and a missing file of a mock")
    func missing() async throws {
        try await withFiles { folder in
            let mock = try MockNetworkStack(files: .init(folder: folder))
            guard
                case .transport(MockError.mockDataMissing(file: "nowhere.json"), _) = try await failure(
                    mock,
                    resource(.missing)
                )
            else { throw Unexpected("a missing file") }
            guard
                case .transport(MockError.endpointNotMocked(.GET, "/unmocked"), _) = try await failure(
                    mock,
                    resource(.unmocked)
                )
            else { throw Unexpected("an endpoint without a file") }
            guard
                case .transport(MockError.endpointNotMocked(.GET, "/other"), _) = try await failure(
                    mock,
                    get("/other?a=b")
                )
            else { throw Unexpected("a request without an answer") }
        }
        guard case .transport(MockError.endpointNotMocked, _) = try await failure(MockNetworkStack(), resource(.all))
        else { throw Unexpected("no files at all") }
    }

    @Test("prefers the latest reply to a file")
    func precedence() async throws {
        try await withFiles { folder in
            let mock = try MockNetworkStack(files: .init(folder: folder))
            mock.answer(.GET, "/users", with: .json("[]"))
            #expect(try await mock.fetchAndDecode(resource: resource(.all), decoding: .json([User].self)).value.isEmpty)
            mock.answer(.GET, "/users", with: .json(#"[{"id":3}]"#))
            #expect(
                try await mock.fetchAndDecode(resource: resource(.all), decoding: .json([User].self)).value.count == 1
            )
            mock.answer { _ in nil }
            #expect(
                try await mock.fetchAndDecode(resource: resource(.all), decoding: .json([User].self)).value.count == 1
            )
        }
    }

    @Test("matches method and path, whatever the query, and any segment in braces")
    func fitting() async throws {
        let mock = try MockNetworkStack()
        mock.answer(.GET, "/users/{id}/orders", with: .status(200, body: Data("orders".utf8)))
        mock.answer(.GET, "/", with: .status(200, body: Data("root".utf8)))
        #expect(try await mock.fetch(resource: get("/users/7/orders?a=b")).value == Data("orders".utf8))
        #expect(try await mock.fetch(resource: get("")).value == Data("root".utf8))
        for other in ["/users//orders", "/users/7/orders/", "/users/7", "/users/7/8/orders"] {
            guard case .transport(is MockError, _) = try await failure(mock, get(other)) else {
                Issue.record("\(other) fits")
                continue
            }
        }
        guard case .transport(is MockError, _) = try await failure(mock, get("/", method: .DELETE)) else {
            throw Unexpected("another method matches")
        }
    }

    @Test("returns the answers of a sequence in order, once each")
    func sequences() async throws {
        let mock = try MockNetworkStack()
        mock.answer(.GET, "/a", inTurn: .status(503), .failure(.connect, during: .connecting), .json("1"))
        guard case .http(503, _, _) = try await failure(mock, get("/a")) else { throw Unexpected("the first") }
        let second = try await failure(mock, get("/a"))
        guard case .transport(let error as MockFailure, _) = second, error.kind == .connect, second.isRetryable else {
            throw Unexpected("the second")
        }
        #expect(try await mock.fetchAndDecode(resource: get("/a"), decoding: .json(Int.self)).value == 1)
        guard case .transport(MockError.sequenceExhausted(.GET, "/a"), _) = try await failure(mock, get("/a")) else {
            throw Unexpected("the fourth")
        }
    }

    @Test("fails like a backend or the library")
    func failures() async throws {
        struct Down: Error {}
        let mock = try MockNetworkStack()
        mock.answer(.GET, "/a", with: .failure(Down()))
        mock.answer(.GET, "/b", with: .failure(HTTPTransferFailure<any Error>.timedOut(.idle, during: .receiving)))
        mock.answer { request in if request.url.path == "/c" { throw Down() } else { nil } }
        guard case .transport(is Down, _) = try await failure(mock, get("/a")) else { throw Unexpected("a failure") }
        #expect(try await failure(mock, get("/b")).isTimeout)
        guard case .transport(is Down, _) = try await failure(mock, get("/c")) else { throw Unexpected("a throw") }
    }

    @Test("records requests with their bodies")
    func recording() async throws {
        let mock = try MockNetworkStack()
        mock.answer { _ in .json("{}") }
        let stream = HTTP.Body.Stream(
            AsyncStream {
                $0.yield(Data("streamed".utf8))
                $0.finish()
            }
        )
        let first = try await mock.fetch(resource: get("/a", method: .PUT, body: .stream(stream)))
        let second = try await mock.fetch(resource: get("/b", method: .POST, body: .bytes(Data("bytes".utf8))))
        #expect([first, second].map(\.response.metrics.bytesSent) == [8, 5])
        let contents = mock.requests.map { request -> String in
            if case .bytes(let data) = request.body { String(decoding: data, as: UTF8.self) } else { "none" }
        }
        #expect(contents == ["streamed", "bytes"])
        #expect(mock.requests.map(\.method) == [.PUT, .POST])
        mock.forgetRequests()
        #expect(mock.requests.isEmpty)
    }

    @Test("follows redirects and decodes errors, as every stack does")
    func engine() async throws {
        struct Refused: Error, Codable, Equatable { let why: String }
        let mock = try MockNetworkStack()
        mock.answer(.GET, "/from", with: .status(302, headers: [.location: "/to"]))
        mock.answer(.GET, "/to", with: .json("1"))
        mock.answer(.GET, "/refused", with: try .json(encoding: Refused(why: "no"), status: 403))
        let fetched = try await mock.fetch(resource: get("/from"))
        #expect(fetched.response.redirects.count == 1)
        let refused = Resource(
            baseRequestMaking: .request(try HTTP.Request(url: "https://api.test/refused")),
            errorDecoding: .json(Refused.self)
        )
        guard case .http(403, let why as Refused, _) = try await failure(mock, refused) else {
            throw Unexpected("an API's error")
        }
        #expect(why == Refused(why: "no"))
    }

    @Test("delays on its clock, and a cancel ends the wait")
    func delays() async throws {
        let clock = VirtualClock()
        let mock = try MockNetworkStack(clock: clock)
        mock.answer(.GET, "/slow", with: .json("1").delayed(by: .seconds(3600)))
        mock.answer(.GET, "/never", with: .silence)
        let slow = try get("/slow")
        async let fetched = mock.fetch(resource: slow)
        try await clock.sleepers(1)
        clock.advance(by: .seconds(3599))
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .seconds(1))
        #expect(try await fetched.value == Data("1".utf8))
        for path in ["/slow", "/never"] {
            let resource = try get(path)
            let task = Task { try await failure(mock, resource) }
            while mock.requests.last?.url.path != path || mock.requests.count < 2 { await Task.yield() }
            task.cancel()
            guard case .cancelled = try await task.value else { throw Unexpected("\(path) was not cancelled") }
        }
    }

    @Test("accepts a valid configuration of an app")
    func configurations() async throws {
        var configuration = Network.Configuration()
        configuration.connections.total = 3
        configuration.tls.trustRoots = .file(path: "/nonexistent")
        configuration.userAgent = "App/1"
        let mock = try MockNetworkStack(configuration: configuration)
        mock.answer(.GET, "/a", with: .json("1"))
        _ = try await mock.fetch(resource: get("/a"))
        #expect(mock.requests.first?.headers[.userAgent] == "App/1")
        configuration.connections.total = 0
        #expect(throws: Network.ConfigurationError.self) { try MockNetworkStack(configuration: configuration) }
    }
}
