import Foundation
import NetworkStack
import NetworkStackTesting
import Testing

@Suite("A mock's streams", .timeLimit(.minutes(1)))
struct MockStreamTests {
    /// A download as an app may write it: the missing part is requested after a truncation.
    private func download(_ url: String, via stack: some HTTPNetworkStack<Data>) async throws -> Data {
        var content = Data()
        while true {
            do {
                var request = try HTTP.Request(url: url)
                if !content.isEmpty { request.headers[.range] = "bytes=\(content.count)-" }
                let opened = try await stack.streaming.fetch(resource: .init(baseRequestMaking: .request(request)))
                for try await chunk in opened.value { content += chunk }
                return content
            } catch let failure as any HTTPError where failure.isTransient {}
        }
    }

    @Test("a stream is delivered whole to a reader that begins late")
    func streams() async throws {
        let mock = try MockNetworkStack()
        let content = Data(repeating: 7, count: 1_000_000)
        mock.answer(.GET, "/stream", with: .status(200, body: content))
        let request = try HTTP.Request(url: "https://api.test/stream")
        let stream = try await mock.streaming.fetch(resource: .init(baseRequestMaking: .request(request))).value
        await Task.yield()
        #expect(try await stream.collect() == content)
    }

    @Test("an endless delay lasts until its fetch is cancelled")
    func endlessDelay() async throws {
        let mock = try MockNetworkStack()
        mock.answer(.GET, "/", with: .json("{}").delayed(by: .seconds(Int64.max)))
        let fetching = Task { try await mock.data(for: .get("https://api.test/")) }
        while mock.requests.isEmpty { await Task.yield() }
        try await Task.sleep(for: .milliseconds(50))  // A cancel before the wait would skip it.
        fetching.cancel()
        await #expect(throws: (any Error).self) { try await fetching.value }
    }

    @Test("a truncated reply delivers its body, and fails")
    func cut() async throws {
        let mock = try MockNetworkStack()
        mock.answer(
            .GET,
            "/file",
            inTurn: .status(.ok, body: Data("half".utf8)).cut(),
            .status(.partialContent, body: Data("rest".utf8))
        )
        #expect(try await download("https://api.test/file", via: mock) == Data("halfrest".utf8))
        #expect(mock.requests.map { $0.headers[.range] } == [nil, "bytes=4-"])
    }

    @Test("a buffered fetch of a truncated reply fails with the given kind")
    func buffered() async throws {
        let mock = try MockNetworkStack()
        mock.answer(.GET, "/file", with: .status(.ok, body: Data("half".utf8)).cut(by: .receive))
        let resource = MockNetworkStack.Resource(
            baseRequestMaking: .request(try HTTP.Request(url: "https://api.test/file"))
        )
        let error = await #expect(throws: HTTPFetchError<HTTP.Response, any Error>.self) {
            try await mock.fetch(resource: resource)
        }
        #expect(error?.transportFailure == .receive)
    }

    @Test("the body of a failed stream is cut at its limit", arguments: [1 << 20, (1 << 20) + 1, 3 << 20])
    func longFailure(size: Int) async throws {
        let mock = try MockNetworkStack()
        mock.answer(.GET, "/", with: .status(.internalServerError, body: Data(count: size)))
        let resource = MockNetworkStack.Resource(
            baseRequestMaking: .request(try HTTP.Request(url: "https://api.test/"))
        )
        let error = await #expect(throws: HTTPFetchError<HTTP.Response, any Error>.self) {
            _ = try await mock.streaming.fetch(resource: resource)
        }
        #expect(error?.body?.count == 1 << 20)
    }

    /// In a separate process, which a clock that traps would end.
    @Test("an event source waits for any time")
    func longReconnection() async {
        await #expect(processExitsWith: .success) {
            let mock = try MockNetworkStack()
            mock.answer { _ in
                .status(200, headers: [.contentType: "text/event-stream"], body: Data("data: a\n\n".utf8))
            }
            let isFirst = Gate()
            let source = try await mock.events(
                from: "https://api.test/",
                reconnection: .init(delay: .seconds(Int64.max), longestDelay: .seconds(Int64.max))
            )
            let reading = Task { for try await _ in source { isFirst.open() } }
            try await isFirst.opened()
            try await Task.sleep(for: .milliseconds(200))
            reading.cancel()
            _ = await reading.result
        }
    }
}
