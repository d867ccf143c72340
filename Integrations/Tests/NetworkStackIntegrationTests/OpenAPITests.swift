import CurlStack
import FoundationEssentials
import HTTPTypes
import NetworkStack
import NetworkStackTesting
import Testing

@Suite("The transport of the guide \"OpenAPI\"", .timeLimit(.minutes(1)))
struct OpenAPITests {
    private let transport: NetworkStackTransport<Network.CurlNetworkStack>

    init() throws { transport = try NetworkStackTransport(stack: Network.CurlNetworkStack()) }

    /// Sends what the code of a generated client sends: a request with a path only, and the server apart.
    private func call(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: HTTPBody? = nil,
        on server: ScriptedServer
    ) async throws -> (HTTPResponse, HTTPBody?) {
        let request = HTTPRequest(
            method: method,
            scheme: nil,
            authority: nil,
            path: path,
            headerFields: [.contentType: "application/json"]
        )
        let base = try #require(URL(string: server.url("/v1")))
        return try await transport.send(request, body: body, baseURL: base, operationID: "op")
    }

    @Test("an operation reaches its server with its body, and gets the response with its length")
    func operation() async throws {
        let server = try ScriptedServer.responding { .status(201, $0.text) }
        let (response, body) = try await call(.post, "/pets?tag=cat", HTTPBody(#"{"name":"Tom"}"#), on: server)
        #expect(response.status == .created && body?.length == .known(14))
        #expect(try await Data(collecting: #require(body), upTo: 100) == Data(#"{"name":"Tom"}"#.utf8))
        let request = try #require(server.requests.first)
        #expect(request.target == "/v1/pets?tag=cat" && request["Content-Type"] == "application/json")
        #expect(request["Content-Length"] == "14")
    }

    @Test("an undocumented status is a response, and HEAD has no body")
    func statuses() async throws {
        let server = try ScriptedServer.responding { _ in .status(418, "short and stout") }
        let (response, body) = try await call(.get, "/pets", on: server)
        #expect(response.status.code == 418)
        #expect(try await Data(collecting: #require(body), upTo: 100) == Data("short and stout".utf8))
        #expect(try await call(.head, "/pets", on: server).1 == nil)
    }

    @Test("a body that can be read again is sent again, and one that cannot fails the call")
    func replay() async throws {
        let server = try ScriptedServer.responding { request in
            request.path == "/v1/moved" ? .redirect(308, to: "/there") : .ok(request.text)
        }
        let (_, body) = try await call(.put, "/moved", HTTPBody("Tom"), on: server)
        #expect(try await Data(collecting: #require(body), upTo: 100) == Data("Tom".utf8))
        #expect(server.requests.map(\.text) == ["Tom", "Tom"])
        let once = AsyncStream<HTTPBody.ByteChunk> { $0.finish() }
        await #expect(throws: Network.CurlNetworkStack.FetchError.self) {
            try await call(.put, "/moved", HTTPBody(once, length: .unknown), on: server)
        }
    }

    @Test("a response is delivered while it arrives, and a truncated one throws the stack's error")
    func streaming() async throws {
        let goOn = Gate()
        let server = try ScriptedServer { _ in
            [
                .receiveHead, .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n"),
                .wait(for: goOn), .close,
            ]
        }
        let (_, body) = try await call(.get, "/events", on: server)
        var chunks = try #require(body).makeAsyncIterator()
        #expect(body?.length == .unknown)
        #expect(try await chunks.next() == Array("first".utf8)[...])
        goOn.open()
        do {
            while try await chunks.next() != nil {}
            Issue.record("The body ended")
        } catch {
            #expect((error as? any HTTPError)?.transportFailure == .truncated)
        }
    }
}
