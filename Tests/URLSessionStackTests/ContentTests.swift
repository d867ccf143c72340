import Foundation
import FoundationNetworking
import NetworkStack
import NetworkStackTesting
import Testing
import URLSessionStack

@Suite("A body sent through URLSession", .timeLimit(.minutes(1)))
struct ContentTests {
    /// Row 28: URLSession itself would send the rest only and wait forever. A body that is still being sent when the
    /// connection dies may also be a failure, but is never sent in part.
    @Test(
        "arrives whole on a new connection when the keep-alive one has died",
        arguments: [1, 100, 3_000_000],
        ["bytes", "file", "stream"]
    )
    func deadConnection(size: Int, kind: String) async throws {
        let content = Data((0..<size).map { UInt8(truncatingIfNeeded: $0) })
        let folder = try TemporaryDirectory("content")
        let path = folder.file("content")
        try content.write(to: URL(fileURLWithPath: path))
        let body: HTTP.Body =
            switch kind {
            case "bytes": .bytes(content)
            case "file": .file(path: path)
            default:
                .stream(
                    .init(
                        AsyncStream { [content] in
                            $0.yield(content)
                            $0.finish()
                        }
                    )
                )
            }
        let wholes = Lock<[Int]>([])
        let server = try ScriptedServer { index in
            let answer = ScriptedServer.Step.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            // The first connection answers once, takes the next head, and dies.
            if index == 0 { return [.receiveHead, answer, .receiveHead, .reset] }
            return [
                .run { connection in
                    let head = try connection.receiveHead()
                    #expect(head["Content-Length"] == String(size))
                    let request = try connection.receiveBody()
                    wholes.withLock { $0.append(request.bodyCount) }
                }, answer,
            ]
        }
        let network = try Stack(configuration: .init())
        #expect(try await network.fetch(resource: .url(server.url())).text == "ok")
        let request = try URLRequest(HTTP.Request(method: .PUT, url: server.url(), body: body))
        switch await network.outcome(of: .init(baseRequestMaking: .init { $0(.success(request)) })) {
        case .success: #expect(wholes.withLock { $0 } == [size])
        case .failure(.transport): #expect(wholes.withLock { $0 } == [])
        case .failure(let error): Issue.record("\(error)")
        }
    }

    @Test("from the caller's InputStream arrives whole", arguments: [0, 10, 500_000])
    func inputStream(size: Int) async throws {
        let server = try ScriptedServer.responding { .ok(bytes: $0.body) }
        let network = try Stack(configuration: .init())
        var options = HTTP.Options()
        options.allowsEmptyBody = true
        let content = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        for length in [nil, String(size)] {
            let resource = try Stack.Resource.url(server.url(), options: options) {
                $0.httpMethod = "POST"
                $0.httpBodyStream = InputStream(data: content)
                if let length { $0.setValue(length, forHTTPHeaderField: "Content-Length") }
            }
            #expect(try await network.fetch(resource: resource).value == content)
        }
    }

    @Test("from the caller's InputStream is sent once, however often its request is made")
    func inputStreamTwice() async throws {
        let server = try ScriptedServer.responding { .ok("\($0.bodyCount)") }
        let network = try Stack(configuration: .init())
        let stream = InputStream(data: Data(count: 500_000))
        let resource = try Stack.Resource.url(server.url()) {
            $0.httpMethod = "POST"
            $0.httpBodyStream = stream
        }
        #expect(try await network.fetch(resource: resource).text == "500000")
        guard case .failure(.bodyNotReplayable) = await network.outcome(of: resource) else {
            Issue.record("What is left of a stream was sent as the whole")
            return
        }
        #expect(server.requests.count == 1)
    }

    @Test("that a stream makes is spooled to a file, which is removed afterwards")
    func spooling() async throws {
        @Sendable func files() -> [String] {
            let folder = FileManager.default.temporaryDirectory.path
            return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter {
                $0.hasPrefix("network-stack-")
            }
        }
        let (during, gate) = (Lock<[String]>([]), Gate())
        let before = files()
        let server = try ScriptedServer.responding { request in
            during.withLock { $0 = files().filter { !before.contains($0) } }
            return .ok("\(request.bodyCount)")
        }
        let network = try Stack(configuration: .init())
        let pieces = AsyncStream<Data> { continuation in
            for _ in 0..<50 { continuation.yield(Data(repeating: 1, count: 100_000)) }
            continuation.finish()
            gate.open()
        }
        let request = try URLRequest(HTTP.Request(method: .PUT, url: server.url(), body: .stream(.init(pieces))))
        let fetched = try await network.fetch(resource: .init(baseRequestMaking: .init { $0(.success(request)) }))
        #expect(fetched.text == "5000000")
        #expect(server.requests.first?["Content-Length"] == "5000000")
        #expect(during.withLock { $0.count } == 1)
        #expect(try await eventually { files().allSatisfy { before.contains($0) } })
    }

    @Test("comes back whole out of a URLRequest")
    func roundTrip() throws {
        let url = try URLText.parse("http://a.test/x")
        let file = try URLRequest(HTTP.Request(method: .PUT, url: url, body: .file(path: "/etc/hostname")))
            .httpRequest()
        guard case .file(path: "/etc/hostname") = file.body else {
            Issue.record("The file came back as \(file.body)")
            return
        }
        let stream = HTTP.Body.Stream(length: 9) { AsyncStream<Data> { $0.finish() } }
        let streamed = try URLRequest(HTTP.Request(method: .PUT, url: url, body: .stream(stream))).httpRequest()
        guard case .stream(let same) = streamed.body, same.length == 9, same.isReplayable else {
            Issue.record("The stream came back as \(streamed.body)")
            return
        }
        let bytes = try URLRequest(HTTP.Request(method: .PUT, url: url, body: .bytes(Data([1, 2])))).httpRequest()
        guard case .bytes(Data([1, 2])) = bytes.body else {
            Issue.record("The bytes came back as \(bytes.body)")
            return
        }
        guard case .none = try URLRequest(HTTP.Request(url: url)).httpRequest().body else {
            Issue.record("Content came out of nothing")
            return
        }
    }
}
