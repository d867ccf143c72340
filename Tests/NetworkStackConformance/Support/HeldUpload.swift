import FoundationEssentials
import NetworkStack

/// A fetch whose content stops after its first byte until it is let go: no server can end it before.
struct HeldUpload: Sendable {
    /// All of the content.
    static let content = Data("hi".utf8)

    let fetch: Observation
    private let rest: AsyncStream<Data>.Continuation

    init(_ client: BoundedClient, to url: String) throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Data.self)
        continuation.yield(Self.content.prefix(1))
        rest = continuation
        let body = HTTP.Body.stream(.init(stream, length: Int64(Self.content.count)))
        fetch = try client.stack.observe(url, method: .POST, body: body)
    }

    /// Sends the rest of the content.
    func letGo() {
        rest.yield(Self.content.dropFirst())
        rest.finish()
    }
}
