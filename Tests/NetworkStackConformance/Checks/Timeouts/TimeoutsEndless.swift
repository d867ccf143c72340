import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Timeouts beyond the range of clocks. Longer ones than `Duration` can represent in seconds would trap.
    static let endlessTimeouts: [ConformanceCheck] =
        [
            takes("A timeout", []) {
                $0.options.timeouts.total = $1
                $0.options.timeouts.attempt = $1
                $0.options.timeouts.firstByte = $1
                $0.options.timeouts.idle = $1
            },
            takes("A queue timeout", [.queueTimeout]) {
                $0.options.timeouts.queue = $1
                $0.connections.perHost = 1
            },
            takes("A connect timeout", [.connectTimeout]) { $0.options.timeouts.connect = $1 },
            takes("A wait for 100 Continue", [.expectContinue]) { $0.options.expectContinue = $1 },
            takes("An age of idle connections", [.idleConnectionAge]) { $0.connections.idleAge = $1 },
            takes("A lifetime of connections", [.connectionLifetime]) { $0.connections.lifetime = $1 },
            takes("A cache age of addresses", [.dnsCacheAge]) { $0.addresses.dnsCacheAge = $1 },
        ]

    private static func takes(
        _ name: String,
        _ needs: Set<HTTP.Capability>,
        _ set: @escaping @Sendable (inout Network.Configuration, Duration) -> Void
    ) -> ConformanceCheck {
        ConformanceCheck("\(name) may exceed the range of clocks", needs: needs.union([.network])) { subject in
            let longest = Duration.seconds(Int64.max)
            for duration in [longest, longest + .milliseconds(1), longest + longest] {
                let server = try ScriptedServer { _ in
                    [.receiveHead, .send("HTTP/1.1 100 Continue\r\n\r\n"), .receiveBody]
                        + [.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")]
                }
                let client = try subject.client { set(&$0, duration) }
                let request = try HTTP.Request(
                    method: .PUT,
                    url: server.url(host: "localhost"),
                    body: .bytes(Data("hello".utf8))
                )
                async let one = client.success(request)
                async let two = client.success(request)
                for fetched in try await [one, two] { try expectBytes(fetched.value, "ok".utf8) }
            }
        }
    }
}
