@testable import NetworkStack

/// A delegate without interceptors.
extension FetchDelegate {
    var interceptsAttempts: Bool { false }

    func intercept(_ request: HTTP.Request, _ last: HTTP.Next) async throws -> HTTP.Reply {
        try await last(request)
    }

    func keep(_ sent: HTTP.Request, of attempt: Int) {}

    func reply(to ending: Ending) -> Result<HTTP.Reply, any Error> { .failure(streamError(of: ending)) }
}
