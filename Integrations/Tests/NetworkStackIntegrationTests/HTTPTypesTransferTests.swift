import CurlStack
import FoundationEssentials
import HTTPTypes
import NetworkStack
import NetworkStackHTTPTypes
import NetworkStackTesting
import Synchronization
import Testing

@Suite("Fetches with swift-http-types", .timeLimit(.minutes(1)))
struct HTTPTypesTransferTests {
    private static let done = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone"
    private let stack: Network.CurlNetworkStack

    init() throws { stack = try Network.CurlNetworkStack() }

    private static func request(
        _ method: HTTPRequest.Method,
        _ server: ScriptedServer,
        _ path: String = "/",
        _ fields: HTTPFields = [:]
    ) -> HTTPRequest {
        HTTPRequest(method: method, scheme: "http", authority: server.authority, path: path, headerFields: fields)
    }

    @Test("every status is delivered, with its fields and its body", arguments: [200, 204, 304, 404, 503])
    func statuses(_ status: Int) async throws {
        let content = status == 204 || status == 304 ? "" : "body"
        let server = try ScriptedServer.responding { _ in
            .status(status, content, headers: [("X-A", "1"), ("X-B", "2"), ("X-A", "3")])
        }
        let body: HTTP.Body = .bytes(Data("question".utf8))
        let (response, stream) = try await stack.send(Self.request(.post, server, "/x?y=z"), body: body)
        #expect(response.status.code == status)
        let fields = response.headerFields.filter { $0.name.rawName.hasPrefix("X-") }
        #expect(fields.map { "\($0)" } == ["X-A: 1", "X-B: 2", "X-A: 3"])
        #expect(try await stream.collect() == Data(content.utf8))
        #expect(server.requests.map(\.description) == ["POST /x?y=z (connection 0, body 8)"])
        #expect(server.requests.first?.text == "question")
    }

    @Test("chunks are sent while they are made, and again after a redirect if they can be made again")
    func chunks() async throws {
        let server = try ScriptedServer.responding { request in
            request.path == "/moved" ? .redirect(307, to: "/") : .ok(request.text)
        }
        let pieces: [ArraySlice<UInt8>] = [Array("one ".utf8)[...], Array("two".utf8)[...]]
        let replayable = HTTP.Body.chunks { AsyncStream(of: pieces) }
        let (_, echo) = try await stack.send(Self.request(.put, server, "/moved"), body: replayable)
        #expect(try await echo.collect() == Data("one two".utf8))
        #expect(server.requests.map { $0["Transfer-Encoding"] } == ["chunked", "chunked"])

        let sized = HTTP.Body.chunks(AsyncStream(of: pieces), length: 7)
        _ = try await stack.send(Self.request(.put, server), body: sized)
        #expect(server.requests.last?["Content-Length"] == "7" && server.requests.last?.text == "one two")

        let once = HTTP.Body.chunks(AsyncStream(of: pieces))
        await #expect {
            _ = try await stack.send(Self.request(.put, server, "/moved"), body: once)
        } throws: { error in
            if case .bodyNotReplayable? = error as? Network.CurlNetworkStack.FetchError { true } else { false }
        }
    }

    @Test("trailers are sent after a body, and received after one")
    func trailers() async throws {
        let server = try ScriptedServer.responding { _ in
            .chunked(["body"], trailers: [("X-Sum", "2"), ("X-Sum", "3")])
        }
        let name = try #require(HTTPField.Name("X-Sum"))
        let body = HTTP.Body.chunks(AsyncStream(of: [[1, 2, 3]]), trailers: .init([name]) { [name: "1"] })
        let (_, stream) = try await stack.send(Self.request(.post, server), body: body)
        _ = try await stream.collect()
        #expect(server.requests.first?.trailers.map { "\($0.name): \($0.value)" } == ["X-Sum: 1"])
        #expect(try stream.trailers.map { try HTTPFields($0) }?[values: name] == ["2", "3"])
    }

    @Test("a slow reader stops the server, and loses nothing")
    func slowReader() async throws {
        let length = 48 << 20
        var options = ScriptedServer.Options()
        options.patience = .seconds(50)
        let server = try ScriptedServer(options) { _ in
            [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n"), .sendPattern(length)]
        }
        let (_, stream) = try await stack.send(Self.request(.get, server))
        var chunks = stream.makeAsyncIterator()
        var count = try await chunks.next()?.count ?? 0
        // The server is stuck when what it has sent does not change any more.
        var sent = -1
        while let now = server.connections.first?.sentCount, now != sent {
            sent = now
            try await Task.sleep(for: .milliseconds(1250))
        }
        #expect(sent < 24 << 20, "The server could send \(sent) bytes ahead of the reader")
        while let chunk = try await chunks.next() { count += chunk.count }
        #expect(count == length)
    }

    @Test("a slow server stops the maker of the body")
    func slowServer() async throws {
        let (piece, count) = (65_536, 768)
        let (made, ahead) = (Counter(), Counter())
        var options = ScriptedServer.Options()
        options.receiveBuffer = 65_536
        options.recordLimit = 0
        let server = try ScriptedServer(options) { _ in
            [
                // The server takes nothing meanwhile. A faster machine only makes a fault run further ahead.
                .receiveHead, .pause(.milliseconds(300)), .run { _ in ahead.add(made.value) }, .receiveBody,
                .send(Self.done),
            ]
        }
        let chunks = AsyncStream<[UInt8]> {
            made.add(piece) > piece * count ? nil : Array(repeating: 7, count: piece)
        }
        _ = try await stack.send(Self.request(.put, server), body: .chunks(chunks))
        #expect(server.requests.first?.bodyCount == piece * count)
        // The kernel's own buffers hold some 3 MiB on loopback; the stack itself may add one.
        #expect(ahead.value < 8 << 20, "\(ahead.value) bytes were made while the server took none")
    }

    @Test("a cancel ends the fetch, its connection and the body's sequence")
    func cancel() async throws {
        let server = try ScriptedServer { _ in [.receiveHead, .waitForClose] }
        let isMade = Gate()
        let chunks = AsyncThrowingStream<[UInt8], any Error> {
            do { try await Task.sleep(for: .seconds(3600)) } catch {
                isMade.open()
                throw error
            }
            return nil
        }
        let fetching = Task {
            do throws(Network.CurlNetworkStack.FetchError) {
                _ = try await stack.send(Self.request(.put, server), body: .chunks(chunks))
                return "no error"
            } catch {
                return error.caseName
            }
        }
        try await server.waitUntil { !$0.requests.isEmpty }
        fetching.cancel()
        #expect(await fetching.value == "cancelled")
        try await isMade.opened()
        try await server.waitUntil { $0.connections.first?.state != .open }
    }

    @Test("a stream that is released closes its connection")
    func release() async throws {
        let server = try ScriptedServer { _ in
            [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nsome"), .waitForClose]
        }
        _ = try await stack.send(Self.request(.get, server))
        try await server.waitUntil { $0.connections.first?.state != .open }
    }

    @Test("a field that is never indexed does not follow a redirect to another origin")
    func secrets() async throws {
        let other = try ScriptedServer.responding { _ in .ok("there") }
        let server = try ScriptedServer.responding { _ in .redirect(to: other.url("/there")) }
        let (plain, secret) = (try #require(HTTPField.Name("X-Plain")), try #require(HTTPField.Name("X-Own")))
        var fields: HTTPFields = [plain: "1", secret: "2"]
        fields[fields: secret][0].indexingStrategy = .disallow
        let waits = HTTP.Options.Change?.some { $0.timeouts.total = .seconds(20) }
        let (response, _) = try await stack.send(Self.request(.get, server, "/", fields), options: waits)
        #expect(response.status == .ok)
        #expect(server.requests.map { [$0["X-Plain"], $0["X-Own"]] } == [["1", "2"]])
        #expect(other.requests.map { [$0["X-Plain"], $0["X-Own"]] } == [["1", nil]])
    }

    @Test("a request that cannot be converted is not sent")
    func refusal() async throws {
        let request = HTTPRequest(method: .get, scheme: "http", authority: nil, path: "/")
        do throws(Network.CurlNetworkStack.FetchError) {
            _ = try await stack.send(request)
            Issue.record("It was sent")
        } catch {
            guard case .noRequest(let fault) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(fault as? HTTPTypesConversionError == .missing(":authority"))
        }
    }
}

/// Counts, from several threads.
private final class Counter: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .relaxed) }

    /// Adds, and returns the sum.
    @discardableResult
    func add(_ number: Int) -> Int { count.add(number, ordering: .relaxed).newValue }
}

extension AsyncStream where Element: Sendable {
    /// Yields the elements, and ends.
    fileprivate init(of elements: [Element]) {
        self.init { continuation in
            for element in elements { continuation.yield(element) }
            continuation.finish()
        }
    }
}
