import CurlStack
import Foundation
import FoundationNetworking
import NetworkStack
import NetworkStackTesting
import Testing
import URLSessionStack

@Suite("The bridge to Foundation", .timeLimit(.minutes(1)))
struct BridgeTests {
    private static func stacks() throws -> [AnyHTTPNetworkStack<Data>] {
        [
            AnyHTTPNetworkStack(try Network.CurlNetworkStack()),
            AnyHTTPNetworkStack(try Network.URLSessionNetworkStack(configuration: .init())),
        ]
    }

    @Test("carries requests and responses as URLSession does, whatever the status")
    func calls() async throws {
        let server = try ScriptedServer.responding { request in
            request.path == "/missing"
                ? .status(404, "gone") : .ok(request.body.isEmpty ? "ok" : "\(request.body.count)")
        }
        let file = FileManager.default.temporaryDirectory.appending(path: "bridge-\(UUID().uuidString)")
        try Data("12345".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        for stack in try Self.stacks() {
            var put = URLRequest(url: try URLText.parse(server.url("/up")))
            put.httpMethod = "PUT"
            put.setValue("a", forHTTPHeaderField: "X-A")
            let missing = URLRequest(url: try URLText.parse(server.url("/missing")))
            let (body, response) = try await stack.data(for: missing)
            #expect(String(decoding: body, as: UTF8.self) == "gone")
            #expect((response as? HTTPURLResponse)?.statusCode == 404)
            #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Content-Length") == "4")
            #expect(try await stack.upload(for: put, from: Data("123".utf8)).0 == Data("3".utf8))
            #expect(try await stack.upload(for: put, fromFile: file).0 == Data("5".utf8))
            let (loaded, _) = try await stack.download(for: missing)
            #expect(try Data(contentsOf: loaded) == Data("gone".utf8))
            try FileManager.default.removeItem(at: loaded)
            var bytes: [UInt8] = []
            for try await byte in try await stack.bytes(for: missing).0 { bytes.append(byte) }
            #expect(bytes == Array("gone".utf8))
        }
        #expect(server.requests.filter { $0.method == "PUT" }.allSatisfy { $0["x-a"] == "a" })
    }

    @Test("applies the settings of a configuration for URLSession")
    func configuration() async throws {
        let server = try ScriptedServer.responding { _ in .ok(headers: [("Set-Cookie", "a=b")]) }
        let session = URLSessionConfiguration.default
        var converted = try Network.Configuration(session)
        #expect(converted.options.timeouts == HTTP.Options.Timeouts())
        #expect(converted.connections.perHost == session.httpMaximumConnectionsPerHost)
        #expect(converted.headers.isEmpty && converted.cookies != nil)

        session.timeoutIntervalForRequest = 20
        session.timeoutIntervalForResource = 90
        session.httpMaximumConnectionsPerHost = 3
        session.httpAdditionalHeaders = ["User-Agent": "shop/1", "X-A": 1]
        converted = try Network.Configuration(session)
        #expect(converted.options.timeouts.idle == .seconds(20) && converted.options.timeouts.total == .seconds(90))
        #expect(converted.connections.perHost == 3)
        let stack = try Network.CurlNetworkStack(configuration: converted)
        let request = URLRequest(url: try URLText.parse(server.url()))
        for _ in 1...2 { _ = try await stack.data(for: request) }
        #expect(server.requests.map { $0["user-agent"] } == ["shop/1", "shop/1"])
        #expect(server.requests.map { $0["x-a"] } == ["1", "1"])
        #expect(server.requests.map { $0["cookie"] } == [nil, "a=b"])

        session.httpAdditionalHeaders = ["X-API-Key": "k", "X-A": 1]
        let target = try ScriptedServer.responding { _ in .ok() }
        let start = try ScriptedServer.responding { _ in .redirect(to: target.url()) }
        let redirected = URLRequest(url: try URLText.parse(start.url()))
        _ = try await Network.CurlNetworkStack(configuration: .init(session)).data(for: redirected)
        #expect(start.requests.map { $0["x-api-key"] } == ["k"])
        #expect(target.requests.map { $0["x-api-key"] } == [nil] && target.requests.map { $0["x-a"] } == ["1"])

        session.httpShouldSetCookies = false
        #expect(try Network.Configuration(session).cookies == nil)
        session.requestCachePolicy = .returnCacheDataDontLoad
        #expect(throws: Network.ConfigurationError.self) { try Network.Configuration(session) }
        session.requestCachePolicy = .useProtocolCachePolicy
        session.connectionProxyDictionary = ["HTTPProxy": "proxy.test"]
        #expect(throws: Network.ConfigurationError.self) { try Network.Configuration(session) }
    }

    @Test("throws URLError from a truncated body")
    func cutBody() async throws {
        let server = try ScriptedServer { _ in
            [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), .close]
        }
        for stack in try Self.stacks() {
            let (body, _) = try await stack.bytes(for: URLRequest(url: try URLText.parse(server.url())))
            var seen: [UInt8] = []
            do throws(URLError) {
                for try await byte in body { seen.append(byte) }
                Issue.record("The body did not fail.")
            } catch { #expect(error.code == URLError.Code.networkConnectionLost) }
            #expect(seen == Array("half".utf8))
        }
    }

    @Test("throws URLError with the code that URLSession would use, and the stack's error in it")
    func failures() async throws {
        let closed = try ClosedPort.reserve()
        let silent = try ScriptedServer { _ in [.receiveHead, .waitForClose] }
        @Sendable func failure(
            _ stack: AnyHTTPNetworkStack<Data>,
            _ change: @Sendable (inout URLRequest) -> Void
        ) async throws -> URLError {
            var request = URLRequest(url: try URLText.parse(silent.url()))
            change(&request)
            do { _ = try await stack.data(for: request) } catch let error as URLError { return error }
            throw CancellationError()
        }
        for stack in try Self.stacks() {
            let refused = try await failure(stack) { $0.url = URL(string: "http://127.0.0.1:\(closed.port)/") }
            #expect(refused.code == URLError.Code.cannotConnectToHost)
            #expect(refused.userInfo[NSUnderlyingErrorKey] is any HTTPError)
            #expect(
                try await failure(stack) { $0.url = URL(string: "http://name.invalid/") }.code
                    == URLError.Code.cannotFindHost
            )
            #expect(try await failure(stack) { $0.timeoutInterval = 0.3 }.code == URLError.Code.timedOut)
            #expect(
                try await failure(stack) { $0.cachePolicy = .returnCacheDataDontLoad }.code
                    == URLError.Code.resourceUnavailable
            )
            #expect(try await failure(stack) { $0.url = nil }.code == URLError.Code.badURL)
            let cancelled = Task { try await failure(stack) { _ in } }
            cancelled.cancel()
            #expect(try await cancelled.value.code == URLError.Code.cancelled)
        }
    }
}
