import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Fetches of one stack through a proxy, through a tunnel, and without a proxy, in every order.
    static let mixedWays: [ConformanceCheck] = [
        ConformanceCheck(
            "A fetch uses its proxy, whatever the fetch before used",
            needs: needsProxies.union([.customTrustRoots])
        ) { subject in
            let squid = try SquidServer()
            try await squid.start()
            let certificates = try TestCertificates.shared()
            let plain = try ScriptedServer.responding { .ok($0["Via"] == nil ? "unseen" : "by squid") }
            let secure = try ScriptedServer.responding(.init(tls: certificates.server)) {
                .ok($0["Via"] == nil ? "unseen" : "by squid")
            }
            let ways: [(url: String, text: String)] = [
                (plain.url(), "by squid"), (secure.url(), "unseen"),
                (plain.url(host: "localhost"), "unseen"), (secure.url(host: "localhost"), "unseen"),
            ]
            for first in ways {
                for second in ways {
                    let client = try subject.client {
                        $0.tls.trustRoots = .file(path: certificates.caFile)
                        try $0.use("http://127.0.0.1:\(squid.port)", except: "localhost")
                    }
                    for way in [first, second, first] {
                        let seen = try await client.get(way.url).value
                        try expectBytes(seen, way.text.utf8, "\(way.url) of \(first.url) and \(second.url)")
                    }
                }
            }
        }
    ]
}
