import FoundationEssentials
import NetworkStack

/// A fetch whose body pauses after its first byte until it is released, so that a server cannot end it earlier.
struct HeldUpload: Sendable {
    /// The whole body.
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

    /// Sends the rest of the body.
    func release() {
        rest.yield(Self.content.dropFirst())
        rest.finish()
    }
}
