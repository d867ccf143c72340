import Foundation
import FoundationNetworking
import NetworkStack
import NetworkStackTesting
import Testing
import URLSessionStack

/// Answers challenges with a closure.
struct ClosureHandler: AuthenticationChallengeHandler {
    let answer: @Sendable (URLAuthenticationChallenge, @escaping CompletionHandlerClosure) -> Void

    func handle(_ challenge: URLAuthenticationChallenge, completionHandler: @escaping CompletionHandlerClosure) {
        answer(challenge, completionHandler)
    }
}

@Suite("A Basic challenge", .timeLimit(.minutes(1)))
struct AuthenticationTests {
    private static let right = URLCredential(user: "user", password: "right", persistence: .none)
    private static let wrong = URLCredential(user: "user", password: "wrong", persistence: .none)

    private static func server() throws -> ScriptedServer {
        let expected = "Basic " + Data("user:right".utf8).base64EncodedString()
        return try ScriptedServer.responding { request in
            request["Authorization"] == expected
                ? .ok("welcome \(request.method) \(request.text)")
                : .status(401, "who are you", headers: [("WWW-Authenticate", "Basic realm=\"test\"")])
        }
    }

    private static func stack(
        _ answer:
            @escaping @Sendable (URLAuthenticationChallenge, @escaping ClosureHandler.CompletionHandlerClosure) -> Void
    ) throws -> Stack {
        try Stack(configuration: .init(), authenticationChallengeHandler: ClosureHandler(answer: answer))
    }

    /// The body of a 401.
    private static func content(of server: ScriptedServer, on stack: Stack) async throws -> String? {
        let content = Lock<String?>(nil)
        let resource = Stack.Resource(
            baseRequestMaking: try Stack.Resource.url(server.url("/private")).baseRequestMaking,
            errorDecoding: .init { payload, _ in
                content.withLock { $0 = payload.map { String(decoding: $0, as: UTF8.self) } }
                return nil
            }
        )
        #expect(await stack.outcome(of: resource).summary == "http 401")
        return content.withLock { $0 }
    }

    @Test("is an ordinary 401 without an answer", arguments: [false, true])
    func unanswered(isInjected: Bool) async throws {
        let server = try Self.server()
        let network = isInjected ? Stack.injected() : try Stack(configuration: .init())
        for _ in 1...3 { #expect(try await Self.content(of: server, on: network) == "who are you") }
        #expect(server.requests.count == 3)
        #expect(server.connections.count == 1)
        // No task remains that a shutdown would wait for.
        await network.shutdown()
    }

    @Test("is answered with a credential, and the body is sent again", arguments: [false, true])
    func credential(isInjected: Bool) async throws {
        let server = try Self.server()
        let handler = ClosureHandler { challenge, completion in
            #expect(challenge.protectionSpace.realm == "test")
            DispatchQueue.global().async { completion(.useCredential, Self.right) }
        }
        let network =
            isInjected
            ? Stack.injected(handler: handler)
            : try Stack(configuration: .init(), authenticationChallengeHandler: handler)
        for size in [4, 300_000] {
            let body = Data(repeating: UInt8(ascii: "b"), count: size)
            let fetched = try await network.fetch(
                resource: .url(server.url("/private")) { ($0.httpMethod, $0.httpBody) = ("POST", body) }
            )
            #expect(fetched.text == "welcome POST " + String(decoding: body, as: UTF8.self))
        }
        #expect(try await network.fetch(resource: .url(server.url("/private"))).text == "welcome GET ")
        await network.shutdown()
    }

    @Test("stores its cookies, also if it is answered")
    func cookies() async throws {
        let server = try ScriptedServer.responding { request in
            request["Authorization"] == nil
                ? .status(401, "", headers: [("WWW-Authenticate", "Basic realm=\"test\""), ("Set-Cookie", "s=1")])
                : .ok("welcome")
        }
        var configuration = Network.Configuration()
        let jar = HTTP.CookieJar()
        configuration.cookies = jar
        let handler = ClosureHandler { _, completion in completion(.useCredential, Self.right) }
        let stack = try Stack(configuration: configuration, authenticationChallengeHandler: handler)
        #expect(try await stack.fetch(resource: .url(server.url("/private"))).text == "welcome")
        #expect(jar.cookies.map(\.value) == ["1"])
    }

    @Test("may be answered several times")
    func attempts() async throws {
        let server = try Self.server()
        let network = try Self.stack { challenge, completion in
            completion(.useCredential, challenge.previousFailureCount < 2 ? Self.wrong : Self.right)
        }
        #expect(try await network.fetch(resource: .url(server.url("/private"))).text == "welcome GET ")
        #expect(server.requests.count == 4)
    }

    @Test(
        "that is declined is a 401 with its body",
        arguments: [
            URLSession.AuthChallengeDisposition.cancelAuthenticationChallenge, .rejectProtectionSpace,
            .performDefaultHandling,
            .useCredential,
        ]
    )
    func declined(disposition: URLSession.AuthChallengeDisposition) async throws {
        let server = try Self.server()
        let network = try Self.stack { _, completion in completion(disposition, nil) }
        #expect(try await Self.content(of: server, on: network) == "who are you")
        await network.shutdown()
    }

    @Test("that is declined after a wrong credential is a 401 with its body")
    func declinedLater() async throws {
        let server = try Self.server()
        let network = try Self.stack { challenge, completion in
            if challenge.previousFailureCount == 0 {
                completion(.useCredential, Self.wrong)
            } else {
                completion(.rejectProtectionSpace, nil)
            }
        }
        #expect(try await Self.content(of: server, on: network) == "who are you")
        #expect(server.requests.count == 2)
    }

    @Test("is answered by the first of several answers")
    func severalAnswers() async throws {
        let server = try Self.server()
        let network = try Self.stack { _, completion in
            completion(.useCredential, Self.right)
            completion(.cancelAuthenticationChallenge, nil)
            completion(.useCredential, Self.wrong)
        }
        #expect(try await network.fetch(resource: .url(server.url("/private"))).text == "welcome GET ")
        #expect(server.requests.count == 2)
    }

    @Test(
        "that is pending is a head: the first-byte timeout waits for the next one",
        arguments: ["", "who"]
    )
    func firstByte(content: String) async throws {
        let gate = Gate()
        let server = try ScriptedServer.responding { request in
            request["Authorization"] == nil
                ? .status(401, content, headers: [("WWW-Authenticate", "Basic realm=\"test\"")])
                : .steps([.wait(for: gate)])
        }
        let network = try Self.stack { _, completion in
            DispatchQueue.global().asyncAfter(deadline: .now() + 0.8) { completion(.useCredential, Self.right) }
        }
        var options = HTTP.Options()
        options.timeouts.firstByte = .milliseconds(400)
        let outcome = await network.outcome(of: try .url(server.url("/private"), options: options)).summary
        #expect(outcome == "timed out: firstByte")
        #expect(server.requests.count == 2)
        gate.open()
    }

    @Test("that is pending can be cancelled and times out, and a late answer changes nothing")
    func pondering() async throws {
        let server = try Self.server()
        let completions = Lock<[ClosureHandler.CompletionHandlerClosure]>([])
        let network = try Self.stack { _, completion in completions.withLock { $0.append(completion) } }
        let outcome = Lock<String?>(nil)
        let fetching = network.fetch(resource: try .url(server.url("/private"))) { result in
            outcome.withLock { $0 = result.summary }
        }
        #expect(try await eventually { completions.withLock { $0.count } == 1 })
        fetching.cancel()
        #expect(try await eventually { outcome.withLock { $0 } == "cancelled" })
        var options = HTTP.Options()
        options.timeouts.idle = .milliseconds(200)
        #expect(
            await network.outcome(of: try .url(server.url("/private"), options: options)).summary == "timed out: idle"
        )
        let late = completions.withLock { completions in
            defer { completions = [] }
            return completions
        }
        for completion in late { completion(.useCredential, Self.right) }
        await network.shutdown()
        #expect(server.requests.count == 2)
    }
}
