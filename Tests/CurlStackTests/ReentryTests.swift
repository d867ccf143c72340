import CurlStack
import Dispatch
import Foundation
import NetworkStack
import NetworkStackTesting
import Testing

/// Cancels its fetch when its last reference is released, as is usual. An attempt may fail with it.
private final class Owner: Error {
    let fetching = Lock<(any Cancelable)?>(nil)
    let isGone: Gate

    init(_ isGone: Gate) { self.isGone = isGone }

    deinit {
        fetching.withLock { $0 }?.cancel()
        isGone.open()
    }
}

@Suite("The release of user values", .serialized, .timeLimit(.minutes(1)))
struct ReentryTests {
    /// A server that sends a body only after a completion was called and has returned.
    private static func server(waitingFor isCompleted: Gate) throws -> ScriptedServer {
        try ScriptedServer { _ in
            [
                .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"), .wait(for: isCompleted),
                .pause(.milliseconds(100)), .send("some"), .waitForClose,
            ]
        }
    }

    @Test("may cancel its fetch when a stream ends that its completion retained")
    func streamEnds() async throws {
        let (isCompleted, isGone, stream) = (Gate(), Gate(), Lock<ByteStream<Network.CurlFetchError>?>(nil))
        let server = try Self.server(waitingFor: isCompleted)
        let stack = try Network.CurlNetworkStack()
        let request = try HTTP.Request(url: server.url())
        do {
            let owner = Owner(isGone)
            let fetching = stack.streaming.fetch(resource: .init(baseRequestMaking: .request(request))) { result in
                withExtendedLifetime(owner) { stream.withLock { $0 = try? result.get().value } }
                isCompleted.open()
            }
            owner.fetching.withLock { $0 = fetching }
        }
        try await isGone.opened(within: .seconds(5))
        withExtendedLifetime((stream, server)) {}
    }

    @Test("may cancel its fetch when a stream ends whose first attempt failed with such a value")
    func streamEndsAfterFailure() async throws {
        let (isCompleted, isGone, stream) = (Gate(), Gate(), Lock<ByteStream<Network.CurlFetchError>?>(nil))
        let server = try Self.server(waitingFor: isCompleted)
        let stack = try Network.CurlNetworkStack()
        let request = try HTTP.Request(url: server.url())
        do {
            let owner = Owner(isGone)
            let failure = Lock<Owner?>(owner)
            let making = Network.BaseRequestMaking<HTTP.Request> { handler in
                handler(failure.withLock { $0.take() }.map { .failure($0) } ?? .success(request))
            }
            let retrying = Network.CurlNetworkStack.Resource(
                baseRequestMaking: making,
                interceptors: [HTTPRetryPolicy.maxRetries(1).adapted()]
            )
            let fetching = stack.streaming.fetch(resource: retrying) { result in
                stream.withLock { $0 = try? result.get().value }
                isCompleted.open()
            }
            owner.fetching.withLock { $0 = fetching }
        }
        try await isGone.opened(within: .seconds(5))
        withExtendedLifetime((stream, server, stack)) {}
    }

    @Test("may cancel its fetch when its request has been made")
    func madeRequest() async throws {
        final class Making: Cancelable {
            let handler: Network.BaseRequestMaking<HTTP.Request>.Handler
            let isGone: Gate
            init(_ handler: @escaping Network.BaseRequestMaking<HTTP.Request>.Handler, _ isGone: Gate) {
                (self.handler, self.isGone) = (handler, isGone)
            }
            func cancel() { _ = handler(.failure(CancellationError())) }
            deinit {
                cancel()
                isGone.open()
            }
        }
        let server = try ScriptedServer.responding { _ in .ok("some") }
        let stack = try Network.CurlNetworkStack()
        let request = try HTTP.Request(url: server.url())
        let (isGone, isDone) = (Gate(), Gate())
        let making = Network.BaseRequestMaking<HTTP.Request> { handler in
            let making = Making(handler, isGone)
            DispatchQueue.global().asyncAfter(deadline: .now() + 0.1) { _ = handler(.success(request)) }
            return making
        }
        stack.fetch(resource: .init(baseRequestMaking: making)) { _ in isDone.open() }
        try await isGone.opened(within: .seconds(5))
        try await isDone.opened(within: .seconds(5))
    }
}
