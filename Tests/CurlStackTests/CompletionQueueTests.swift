import CurlStack
import Dispatch
import FoundationEssentials
import NetworkStack
import NetworkStackTesting
import Testing

private struct Listener: HTTPResourceInterceptor {
    typealias Request = HTTP.Request
    typealias Response = HTTP.Response
}

@Suite("A cancel on the completion queue")
struct CompletionQueueTests {
    @Test("precedes a completion that has not been called", .timeLimit(.minutes(1)), arguments: [false, true])
    func beforeCompletion(isIntercepted: Bool) async throws {
        let server = try ScriptedServer.responding { _ in .ok("x") }
        let queue = DispatchQueue(label: "main of the test")
        let stack = try Network.CurlNetworkStack(queue: queue)
        let request = try HTTP.Request(url: server.url())
        let (summary, done) = (Lock(""), Gate())
        queue.async {
            let fetching = stack.fetch(
                resource: .init(baseRequestMaking: .request(request), interceptors: isIntercepted ? [Listener()] : [])
            ) { result in
                summary.withLock { $0 = "\(result)" }
                done.open()
            }
            // The response has arrived by then, and the completion waits for this queue.
            _ = DispatchSemaphore(value: 0).wait(timeout: .now() + 0.5)
            fetching.cancel()
        }
        try await done.opened()
        #expect(summary.withLock { $0 }.contains("cancelled"))
        #expect(server.requests.count == 1)
    }
}
