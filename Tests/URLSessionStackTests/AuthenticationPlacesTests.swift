import Foundation
import FoundationNetworking
import NetworkStack
import NetworkStackTesting
import Testing
import URLSessionStack

/// A challenge that waits for its answer occupies no connection of the host, and its fetch queues again.
@Suite("A Basic challenge with few connections", .timeLimit(.minutes(1)))
struct AuthenticationPlacesTests {
    private static let credential = URLCredential(user: "user", password: "right", persistence: .none)

    /// A server with something private, something public, and something that waits for a gate.
    private static func server(_ gate: Gate) throws -> ScriptedServer {
        let expected = "Basic " + Data("user:right".utf8).base64EncodedString()
        return try ScriptedServer.responding { request in
            switch request.path {
            case "/private":
                request["Authorization"] == expected
                    ? .ok("welcome") : .status(401, "who", headers: [("WWW-Authenticate", "Basic realm=\"test\"")])
            case "/busy": .steps([.wait(for: gate), .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbusy")])
            default: .ok("right")
            }
        }
    }

    /// A stack with one connection per host, and its own session with one in all.
    private static func stack(_ handler: ClosureHandler, isInjected: Bool) throws -> Stack {
        if isInjected {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpMaximumConnectionsPerHost = 1
            return Stack.injected(handler: handler, configuration: configuration)
        }
        var configuration = Network.Configuration()
        configuration.connections.perHost = 1
        configuration.connections.total = 1
        return try Stack(configuration: configuration, authenticationChallengeHandler: handler)
    }

    @Test("may be answered with a fetch on the same stack and one connection", arguments: [false, true])
    func fetching(isInjected: Bool) async throws {
        let server = try Self.server(Gate())
        let stack = Lock<Stack?>(nil)
        let token = try Stack.Resource.url(server.url("/token"))
        let network = try Self.stack(
            ClosureHandler { _, completion in
                stack.withLock { $0 }?.fetch(resource: token) { result in
                    guard case .success(let fetched) = result else { return completion(.performDefaultHandling, nil) }
                    completion(.useCredential, URLCredential(user: "user", password: fetched.text, persistence: .none))
                }
            },
            isInjected: isInjected
        )
        stack.withLock { $0 = network }
        let outcomes = Lock<[String]>([])
        for _ in 1...8 {
            network.fetch(resource: try .url(server.url("/private"))) { result in
                outcomes.withLock { $0.append(result.summary) }
            }
        }
        #expect(try await eventually { outcomes.withLock { $0.count } == 8 })
        #expect(outcomes.withLock { $0 } == Array(repeating: "success welcome", count: 8))
        #expect(server.connections.count == 1)
        stack.withLock { $0 = nil }
        await network.shutdown()
    }

    @Test(
        "that was answered queues, where it can be cancelled and times out",
        arguments: ["cancelled", "timed out: queue", "shut down", "success welcome"]
    )
    func inLine(ending: String) async throws {
        let gate = Gate()
        // URLSession keeps a limit per host itself, but none over all hosts.
        let (server, other) = (try Self.server(gate), try Self.server(gate))
        let answers = Lock<[ClosureHandler.CompletionHandlerClosure]>([])
        let network = try Self.stack(
            ClosureHandler { _, completion in answers.withLock { $0.append(completion) } },
            isInjected: false
        )
        var options = HTTP.Options()
        if ending == "timed out: queue" { options.timeouts.queue = .milliseconds(100) }
        if ending == "success welcome" { options.timeouts.idle = .seconds(1) }
        let (outcome, busy) = (Lock<String?>(nil), Lock<String?>(nil))
        let fetching = network.fetch(resource: try .url(server.url("/private"), options: options)) { result in
            outcome.withLock { $0 = result.summary }
        }
        #expect(try await eventually { answers.withLock { $0.count } == 1 })
        network.fetch(resource: try .url(other.url("/busy"))) { result in busy.withLock { $0 = result.summary } }
        try await other.waitUntil { $0.requests.count == 1 }
        answers.withLock { $0.removeFirst() }(.useCredential, Self.credential)
        // The idle timeout does not run in the queue.
        try await Task.sleep(for: .milliseconds(ending == "success welcome" ? 1300 : 20))
        #expect(server.requests.count == 1)
        switch ending {
        case "cancelled": fetching.cancel()
        case "shut down": await network.shutdown()
        default: break
        }
        if ending == "success welcome" { gate.open() }
        #expect(try await eventually { outcome.withLock { $0 } != nil })
        #expect(outcome.withLock { $0 } == ending)
        gate.open()
        guard ending != "shut down" else { return }
        #expect(try await eventually { busy.withLock { $0 } == "success busy" })
        #expect(await network.outcome(of: try .url(server.url("/next"))).summary == "success right")
        #expect(server.requests.count { $0.path == "/private" } == (ending == "success welcome" ? 2 : 1))
        #expect(other.requests.count == 1)
        await network.shutdown()
    }
}
