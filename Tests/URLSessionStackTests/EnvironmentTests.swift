import Foundation
import NetworkStack
import NetworkStackTesting
import Testing
import URLSessionStack

/// Each in a process of its own, as the environment is everybody's.
@Suite("Proxies that the environment names", .timeLimit(.minutes(1)))
struct EnvironmentTests {
    private static let proxies = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]

    private static func clear() {
        for name in proxies + ["HTTP_PROXY", "no_proxy", "NO_PROXY"] { unsetenv(name) }
    }

    /// Why a stack cannot be made.
    private static func refusal(_ proxies: Network.Proxies = .none) -> String? {
        var configuration = Network.Configuration()
        configuration.proxies = proxies
        do { _ = try Stack(configuration: configuration) } catch .unsupported(.proxies, let reason) {
            return reason
        } catch { return "\(error)" }
        return nil
    }

    @Test("are refused where nobody asked for them, as URLSession cannot be told not to use them")
    func unasked() async {
        await #expect(processExitsWith: .exitCode(7)) {
            Self.clear()
            #expect(Self.refusal() == nil)
            for name in Self.proxies {
                setenv(name, "http://127.0.0.1:9", 1)
                #expect(Self.refusal()?.contains(name) == true)
                setenv("no_proxy", "*", 1)
                #expect(Self.refusal() == nil)
                Self.clear()
                setenv(name, "", 1)
                #expect(Self.refusal() == nil)
            }
            // libcurl does not read this one.
            setenv("HTTP_PROXY", "http://127.0.0.1:9", 1)
            #expect(Self.refusal() == nil)
            exit(7)
        }
    }

    @Test("are used where somebody asked for them, and no others can be")
    func asked() async {
        await #expect(processExitsWith: .exitCode(7)) {
            Self.clear()
            let proxy = try ScriptedServer.responding { _ in .ok("by the proxy") }
            setenv("http_proxy", proxy.url(), 1)
            setenv("no_proxy", "excepted.test", 1)
            var configuration = Network.Configuration()
            configuration.proxies = try Network.Proxies(environment: nil)
            let network = try Stack(configuration: configuration)
            let fetched = try await network.fetch(resource: .url("http://origin.test/"))
            #expect(fetched.text == "by the proxy")
            #expect(Self.refusal(.init(try Network.Proxy("http://127.0.0.1:9"))) != nil)
            exit(7)
        }
    }

    @Test("are not believed to be the origin where they refuse a tunnel: nothing of their answer is kept")
    func refusedTunnels() async {
        await #expect(processExitsWith: .exitCode(7)) {
            Self.clear()
            let status = Lock("")
            let proxy = try ScriptedServer { _ in
                let wishes = "Set-Cookie: a=b\r\nStrict-Transport-Security: max-age=1000\r\n"
                let head = "HTTP/1.1 \(status.withLock { $0 })\r\n\(wishes)Content-Length: 6\r\n\r\n"
                return [.receiveHead, .send(head + "secret"), .close]
            }
            setenv("https_proxy", proxy.url(), 1)
            var configuration = Network.Configuration()
            configuration.proxies = try Network.Proxies(environment: nil)
            configuration.cookies = HTTP.CookieJar()
            configuration.strictTransport = HTTP.StrictTransportHosts()
            let network = try Stack(configuration: configuration)
            for refusal in [
                "101 Switching Protocols", "302 Found\r\nLocation: /", "400 Bad Request",
                "401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"a\"", "403 Forbidden",
                "407 Proxy Authentication Required", "502 Bad Gateway",
            ] {
                status.withLock { $0 = refusal }
                let outcome = await network.outcome(of: try .url("https://origin.test/"))
                guard case .failure(.transport(let error)) = outcome, error.kind == .proxy else {
                    Issue.record("\(refusal): \(outcome.summary)")
                    continue
                }
            }
            #expect(configuration.cookies?.cookies.count == 0)
            #expect(configuration.strictTransport?.hosts.count == 0)
            #expect(Set(proxy.requests.map(\.method)) == ["CONNECT"])
            exit(7)
        }
    }
}
