import Foundation
import NetworkStack
import NetworkStackTesting
import Testing
import URLSessionStack

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("The shutdown of a URLSession stack")
struct URLSessionShutdownTests {
    @Test("after a while lets what is under way come to its end, and refuses what comes after", .timeLimit(.minutes(1)))
    func afterAWhile() async throws {
        let (mayAnswer, count) = (Gate(), Lock(0))
        let server = try ScriptedServer { _ in
            [
                .receiveHead, .wait(for: mayAnswer),
                .run { connection in
                    while true {
                        let number = count.withLock { count in
                            count += 1
                            return count
                        }
                        try connection.send("HTTP/1.1 \(number > 3 ? 200 : 503) So\r\nContent-Length: 2\r\n\r\nok")
                        _ = try connection.receiveHead()
                    }
                },
            ]
        }
        let stack = try Network.URLSessionNetworkStack(configuration: .init())
        let resource = Network.URLSessionResource(
            baseRequestMaking: .request(try HTTP.Request(url: server.url())),
            interceptors: [Network.URLSessionRetryPolicy.maxRetries(1)]
        )
        let fetches = (0..<3).map { _ in Task { try await stack.fetch(resource: resource).value.count } }
        try await server.waitUntil { $0.requests.count == 3 }
        let ending = Task { await stack.shutdown(after: .seconds(50)) }
        // One that is not refused yet has no request to send.
        var isRefused = false
        while !isRefused {
            do {
                _ = try await stack.fetch(resource: .init(baseRequestMaking: .task { throw CancellationError() }))
            } catch {
                if case .refused(.shutDown) = error { isRefused = true }
            }
        }
        #expect(server.snapshot.open == 3)
        mayAnswer.open()
        for fetching in fetches { #expect(try await fetching.value == 2) }
        await ending.value
    }

    @Test("ends what takes longer than it was given", .timeLimit(.minutes(1)), arguments: [false, true])
    func afterTooLongAWhile(isCancelled: Bool) async throws {
        let server = try ScriptedServer { _ in [.receiveHead, .waitForClose] }
        let stack = try Network.URLSessionNetworkStack(configuration: .init())
        let resource = Network.URLSessionResource(
            baseRequestMaking: .request(try HTTP.Request(url: server.url())),
            interceptors: [Network.URLSessionRetryPolicy.maxRetries(1)]
        )
        let fetching = Task { try await stack.fetch(resource: resource).value.count }
        try await server.waitUntil { $0.requests.count == 1 }
        let ending = Task { await stack.shutdown(after: isCancelled ? .seconds(50) : .milliseconds(100)) }
        if isCancelled { ending.cancel() }
        await ending.value
        await #expect { try await fetching.value } throws: { error in
            if case .refused(.shutDown) = error as? Network.URLSessionError { true } else { false }
        }
    }
}
