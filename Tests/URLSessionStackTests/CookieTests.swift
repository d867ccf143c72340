import Foundation
import FoundationNetworking
import NetworkStack
import NetworkStackTesting
import Testing
import URLSessionStack

@Suite("The cookies of an injected session", .timeLimit(.minutes(1)))
struct CookieTests {
    /// A session's configuration whose jar has a cookie for a server.
    private static func configuration(_ properties: [HTTPCookiePropertyKey: Any]) throws -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        let all: [HTTPCookiePropertyKey: Any] = [.name: "own", .value: "1", .domain: "127.0.0.1", .path: "/"]
        let cookie = try #require(HTTPCookie(properties: all.merging(properties) { $1 }))
        configuration.httpCookieStorage?.setCookie(cookie)
        return configuration
    }

    @Test("are not sent over http if they are secure: the fetch is refused and releases its place")
    func secure() async throws {
        let server = try ScriptedServer.responding { _ in .ok("x") }
        let configuration = try Self.configuration([.secure: "TRUE"])
        configuration.httpMaximumConnectionsPerHost = 1
        let network = Stack.injected(configuration: configuration)
        for _ in 1...3 {
            guard case .failure(.invalidRequest) = await network.outcome(of: try .url(server.url())) else {
                Issue.record("The fetch was not refused")
                return
            }
        }
        #expect(server.requests.isEmpty)
        for cookie in configuration.httpCookieStorage?.cookies ?? [] {
            configuration.httpCookieStorage?.deleteCookie(cookie)
        }
        #expect(await network.outcome(of: try .url(server.url())).summary == "success x")
        await network.shutdown()
    }

    @Test("are ignored if the session sends none")
    func unsent() async throws {
        let server = try ScriptedServer.responding { _ in .ok("x") }
        let configuration = try Self.configuration([.secure: "TRUE"])
        configuration.httpShouldSetCookies = false
        let network = Stack.injected(configuration: configuration)
        #expect(await network.outcome(of: try .url(server.url())).summary == "success x")
        #expect(server.requests.map { $0["Cookie"] } == [nil])
        await network.shutdown()
    }

    /// Fails when the defect is gone: then the documentation of the stack has to change.
    @Test("are sent whatever their path, replacing a request's (known issue of URLSession)")
    func byHost() async throws {
        let server = try ScriptedServer.responding { _ in .ok("x") }
        let network = Stack.injected(configuration: try Self.configuration([.path: "/elsewhere"]))
        let resource = try Stack.Resource.url(server.url("/here")) {
            $0.setValue("mine=2", forHTTPHeaderField: "Cookie")
        }
        #expect(await network.outcome(of: resource).summary == "success x")
        #expect(server.requests.map { $0["Cookie"] } == ["own=1"])
        await network.shutdown()
    }
}
