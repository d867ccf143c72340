import Foundation
import NetworkStack
import NetworkStackTesting

/// As much of GitHub as the example needs, on the loopback.
enum FakeGitHub {
    static let server = Result { try ScriptedServer.responding(with: answer) }

    /// Where it is.
    static var url: URL {
        guard let server = try? server.get(), let url = URL(string: server.url()) else { return URL(filePath: "/") }
        return url
    }

    /// How often a path was asked for.
    static func count(_ path: String) -> Int {
        (try? server.get().requests.count { $0.path == path }) ?? 0
    }

    @Sendable
    static func answer(_ request: ReceivedRequest) -> Reply {
        switch request.path {
        case "/repos/Mindera/Alicerce":
            return .json(#"{"name":"Alicerce","full_name":"Mindera/Alicerce","stargazers_count":117}"#)
        case "/repos/Mindera/Flaky":
            // Every third request succeeds.
            return count("/repos/Mindera/Flaky") % 3 == 0
                ? .json(#"{"name":"Flaky","full_name":"Mindera/Flaky","stargazers_count":3}"#) : .status(503)
        case "/repos/Mindera/Alicerce/collaborators":
            return request["authorization"] == "token fresh"
                ? .json(#"[{"login":"ada"},{"login":"alan"}]"#) : .status(401, #"{"message":"Bad credentials"}"#)
        default: return .status(404, #"{"message":"Not Found"}"#)
        }
    }
}
