import FoundationEssentials
import NetworkStack

/// The answers of a mock, and the requests that it received.
final class MockBook: Sendable {
    typealias Answer = @Sendable (HTTP.Request) throws -> MockReply?

    private let state = Lock((answers: [Answer](), requests: [HTTP.Request]()))

    var requests: [HTTP.Request] { state.withLock { $0.requests } }

    func forgetRequests() { state.withLock { $0.requests = [] } }

    func add(_ answer: @escaping Answer) { state.withLock { $0.answers.append(answer) } }

    /// Records a request and returns its reply. The answers are a test's code, so they are called without the lock.
    func reply(to request: HTTP.Request) throws -> MockReply? {
        let answers = state.withLock { state in
            state.requests.append(request)
            return state.answers
        }
        for answer in answers.reversed() {
            if let reply = try answer(request) { return reply }
        }
        return nil
    }

    static func fits(_ request: HTTP.Request, _ method: HTTP.Method, _ path: String) -> Bool {
        guard request.method == method else { return false }
        let (seen, wanted) = (segments(Self.path(of: request)), segments(path))
        return seen.count == wanted.count
            && zip(seen, wanted).allSatisfy { $0 == $1 || $1.hasPrefix("{") && $1.hasSuffix("}") && !$0.isEmpty }
    }

    /// The path as sent.
    static func path(of request: HTTP.Request) -> String {
        let path = request.url.path(percentEncoded: true)
        return path.isEmpty ? "/" : path
    }

    private static func segments(_ path: String) -> [Substring] {
        path.split(separator: "/", omittingEmptySubsequences: false)
    }
}
