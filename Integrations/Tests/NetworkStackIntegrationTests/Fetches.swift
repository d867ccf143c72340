import FoundationEssentials
import NetworkStack
import NetworkStackTesting

/// Waits for the ends of fetches, as the last listener of a stack: those before it have got the same events.
final class Ends: EventListener {
    private let ends = AsyncStream.makeStream(of: Void.self)

    func fetchSucceeded(_ event: FetchEvent, response: HTTP.Response) { ends.continuation.yield() }
    func fetchFailed(_ event: FetchEvent, error: any HTTPError, metrics: HTTP.Metrics) { ends.continuation.yield() }
    func fetchCancelled(_ event: FetchEvent, metrics: HTTP.Metrics) { ends.continuation.yield() }

    /// Returns when so many more fetches have ended.
    func wait(for count: Int = 1) async {
        var iterator = ends.stream.makeAsyncIterator()
        for _ in 0..<count { _ = await iterator.next() }
    }
}

/// Fetches with a secret wherever one can be.
struct SecretFetches {
    static let secret = "s3cret"

    struct Failure: Error, CustomStringConvertible {
        var description: String { "The server said \(secret)" }
    }

    let stack: MockNetworkStack
    private let ends = Ends()

    /// Makes a stack with these listeners that retries once.
    init(_ listeners: [any EventListener] = []) throws {
        var configuration = Network.Configuration()
        configuration.sensitiveHeaders = ["X-API-Key"]
        configuration.listeners = listeners + [ends]
        configuration.interceptors = [HTTPRetryPolicy.maxRetries(1)]
        stack = try MockNetworkStack(configuration: configuration)
        let unavailable = MockReply.status(.serviceUnavailable, body: Data(Self.secret.utf8))
        stack.answer(.POST, "/refused", with: unavailable)
        stack.answer(.POST, "/broken", with: .failure(Failure()))
        let target = "https://other.test/accepted?token=\(Self.secret)"
        let fields: HTTP.Headers = [.location: target, .setCookie: "id=\(Self.secret)"]
        stack.answer(.POST, "/moved", inTurn: unavailable, .status(307, headers: fields))
        stack.answer(.POST, "/accepted", with: .json("\"\(Self.secret)\""))
    }

    /// The same, on the stack itself.
    func runAlone() async throws -> Bool { try await run(on: stack) }

    /// One fetch that succeeds after a retry and a redirect, and two that fail, on the stack or on a view of it.
    ///
    /// - Returns: Whether the secret was sent.
    func run(on stack: some HTTPNetworkStack<Data>) async throws -> Bool {
        for path in ["moved", "refused", "broken"] {
            let request = try HTTP.Request(
                method: .POST,
                url: "https://user:\(Self.secret)@host.test/\(path)?token=\(Self.secret)#\(Self.secret)",
                headers: [
                    .authorization: "Bearer \(Self.secret)", .cookie: "id=\(Self.secret)",
                    "X-API-Key": "\(Self.secret)",
                ],
                body: .bytes(Data(Self.secret.utf8))
            )
            _ = try? await stack.fetch(resource: .init(baseRequestMaking: .request(request)))
        }
        await ends.wait(for: 3)
        return self.stack.requests.contains { $0.headers["X-API-Key"] == Self.secret }
    }
}
