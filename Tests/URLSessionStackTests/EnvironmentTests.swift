import Foundation
import NetworkStack
import NetworkStackTesting
import Testing

@testable import URLSessionStack

/// Each test runs in a separate process, because the environment is process-wide.
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

    @Test("are refused if unrequested, as URLSession cannot ignore them")
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

    @Test("are used on request, and no others can be")
    func asked() async {
        await #expect(processExitsWith: .exitCode(7)) {
            Self.clear()
            let proxy = try ScriptedServer.responding { _ in .ok("by the proxy") }
            setenv("http_proxy", proxy.url(), 1)
            setenv("no_proxy", "excepted.test", 1)
            var configuration = Network.Configuration()
            configuration.proxies = try Network.Proxies.environment()
            let network = try Stack(configuration: configuration)
            let fetched = try await network.fetch(resource: .url("http://origin.test/"))
            #expect(fetched.text == "by the proxy")
            #expect(Self.refusal(.init(try Network.Proxy("http://127.0.0.1:9"))) != nil)
            exit(7)
        }
    }

    @Test("carry fetches to one host while another has all its connections")
    func busyHosts() async {
        await #expect(processExitsWith: .exitCode(7)) {
            Self.clear()
            let (hasCome, mayAnswer) = (Gate(), Gate())
            let proxy = try ScriptedServer.responding { request in
                guard request.target.contains("busy.test") else { return .ok("idle") }
                return .steps([
                    .open(hasCome), .wait(for: mayAnswer), .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbusy"),
                ])
            }
            setenv("http_proxy", proxy.url(), 1)
            var configuration = Network.Configuration()
            configuration.proxies = try Network.Proxies.environment()
            configuration.connections.perHost = 1
            configuration.options.timeouts.idle = .seconds(5)
            let network = try Stack(configuration: configuration)
            async let first = network.outcome(of: try .url("http://busy.test/1"))
            async let second = network.outcome(of: try .url("http://busy.test/2"))
            try await hasCome.opened()
            #expect(await network.outcome(of: try .url("http://idle.test/")).summary == "success idle")
            #expect(proxy.requests.count { $0.target.contains("busy.test") } == 1)
            mayAnswer.open()
            #expect(try await [first, second].map(\.summary) == ["success busy", "success busy"])
            exit(7)
        }
    }

    @Test("are not mistaken for the origin if they refuse a tunnel")
    func refusedTunnels() async {
        await #expect(processExitsWith: .exitCode(7)) {
            Self.clear()
            let status = Lock("")
            let proxy = try ScriptedServer { _ in
                let fields = "Set-Cookie: a=b\r\nStrict-Transport-Security: max-age=1000\r\n"
                let head = "HTTP/1.1 \(status.withLock { $0 })\r\n\(fields)Content-Length: 6\r\n\r\n"
                return [.receiveHead, .send(head + "secret"), .close]
            }
            var configuration = Network.Configuration()
            let earlier = try Stack(configuration: configuration)
            configuration.cookies = HTTP.CookieJar()
            configuration.strictTransport = HTTP.StrictTransportHosts()
            // One stack's values of the environment do not apply to the next.
            _ = await earlier.outcome(of: try .url("https://127.0.0.1:9/"))
            setenv("https_proxy", proxy.url(), 1)
            configuration.proxies = try Network.Proxies.environment()
            let network = try Stack(configuration: configuration)
            for refusal in [
                "101 Switching Protocols", "302 Found\r\nLocation: /", "400 Bad Request",
                "401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"a\"", "403 Forbidden",
                "407 Proxy Authentication Required", "502 Bad Gateway",
            ] {
                status.withLock { $0 = refusal }
                let outcome = await network.outcome(of: try .url("https://origin.test/"))
                guard case .failure(.transport(let error, _)) = outcome, error.kind == .proxy else {
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

    @Test("are expected wherever libcurl uses them, unless every version has an exception")
    func exceptions() async {
        await #expect(processExitsWith: .exitCode(7)) {
            Self.clear()
            let proxy = try ScriptedServer { _ in
                [.receiveHead, .send("HTTP/1.1 502 No\r\nContent-Length: 0\r\n\r\n"), .close]
            }
            let closed = try ClosedPort.reserve()
            setenv("ALL_PROXY", proxy.authority, 1)
            let rules: [(rule: String, isApplied: Bool)] = [
                ("", false), ("*", true), ("a, *", false), ("localhost,127.0.0.1", true),
                ("a.test , LOCALHOST,127.0.0.1", true), (".localhost,127.0.0.1", true),
                ("..localhost,.127.0.0.1", false), ("host,27.0.0.1,0.1", false),
                ("a.test localhost 127.0.0.1", false), ("*.localhost,127.1", false),
                ("localhost:\(closed.port),127.0.0.1:\(closed.port)", false), ("127.0.0.0/8,localhost/", false),
                (".", false), ("localhost b.test,127.0.0.1", false),
            ]
            for (rule, isApplied) in rules {
                setenv("no_proxy", rule, 1)
                let tunnels = Platform.tunnels()
                let network = Stack.injected()
                for host in ["localhost", "localhost.", "127.0.0.1", "127.1"] {
                    let url = "https://\(host):\(closed.port)/"
                    let before = proxy.requests.count
                    _ = await network.outcome(of: try .url(url))
                    let mayLead = tunnels.mayLead(to: try HTTP.Origin(of: URLText.parse(url)))
                    #expect(mayLead == !isApplied, "\(rule) for \(host)")
                    #expect(
                        mayLead || proxy.requests.count == before,
                        "libcurl uses the proxy for \(host) despite \(rule)"
                    )
                }
                await network.shutdown()
            }
            exit(7)
        }
    }

    @Test(
        "are expected for https only, unless they are SOCKS proxies",
        arguments: [
            (["https_proxy": "http://p:1"], true), (["HTTPS_PROXY": "https://p:1"], true), (["all_proxy": "p"], true),
            (["ALL_PROXY": "socks.test:1"], true), (["ALL_PROXY": "SOCKS5h://p:1"], false), ([:], false),
            (["https_proxy": "", "all_proxy": "socks4://p"], false), (["http_proxy": "http://p:1"], false),
            (["https_proxy": "http://p:1", "no_proxy": "a.test"], false),
            (["https_proxy": "http://p:1", "no_proxy": "test"], false),
            (["https_proxy": "http://p:1", "no_proxy": "b.a.test,.test.a"], true),
            (["https_proxy": "http://p:1", "no_proxy": "", "NO_PROXY": "a.test"], false),
        ]
    )
    func tunnels(environment: [String: String], isLed: Bool) throws {
        let tunnels = Tunnels(environment: environment)
        #expect(tunnels.mayLead(to: try HTTP.Origin(of: URLText.parse("https://a.test:81/"))) == isLed)
        #expect(!tunnels.mayLead(to: try HTTP.Origin(of: URLText.parse("http://a.test/"))))
    }
}
