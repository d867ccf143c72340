import FoundationEssentials
import NetworkStack
import NetworkStackTesting

extension ConformanceCheck {
    /// Remote and local addresses that do not come from name lookups.
    static let addresses: [ConformanceCheck] = overriddenHosts + chosenFamilies + localEnds

    private static let overriddenHosts: [ConformanceCheck] = [
        ConformanceCheck("An escaped host is decoded, in a redirect too", needs: [.network]) {
            subject in
            let server = try ScriptedServer.responding { request in
                request.target == "/%61"
                    ? .redirect(to: "http://LOCALHOS%54:\(request["Host"]?.split(separator: ":").last ?? "")/b")
                    : .ok("done")
            }
            let fetched = try await subject.client().get(server.url("/%61", host: "127%2E0.0.1"))
            try expectBytes(fetched.value, "done".utf8)
            try expectEqual(server.requests.map(\.target), ["/%61", "/b"], "targets")
            let hosts = ["127.0.0.1:\(server.port)", "localhost:\(server.port)"]
            try expectEqual(server.requests.compactMap { $0["Host"]?.lowercased() }, hosts, "Host")
        },
        ConformanceCheck("A numeric host is its IPv4 address, in a redirect too", needs: [.network]) {
            subject in
            let server = try ScriptedServer.responding { request in
                let port = request["Host"]?.split(separator: ":").last ?? ""
                return request.path == "/" ? .redirect(to: "http://0x7f.1:\(port)/b?c=%20#d") : .ok("done")
            }
            for host in ["127.1", "2130706433", "0177.0.0.01"] {
                let fetched = try await subject.client().get(server.url("/", host: host))
                try expectBytes(fetched.value, "done".utf8)
            }
            try expectEqual(Set(server.requests.map(\.target)), ["/", "/b?c=%20"], "targets")
            try expectEqual(Set(server.requests.map { $0["Host"] }), ["127.0.0.1:\(server.port)"], "Host")
        },
        ConformanceCheck("A host override replaces the resolved address", needs: [.network, .hostOverrides]) {
            subject in
            let server = try ScriptedServer.responding { _ in .ok("done") }
            let client = try subject.client {
                $0.addresses.hostOverrides = [try .init("nowhere.invalid:\(server.port):127.0.0.1")]
            }
            try expectBytes(await client.get(server.url("/", host: "nowhere.invalid")).value, "done".utf8)
            try expectEqual(server.requests.first?["Host"], "nowhere.invalid:\(server.port)", "Host")
        },
        ConformanceCheck("A host override applies to its port only", needs: [.network, .hostOverrides]) { subject in
            let server = try ScriptedServer.responding { _ in .ok("done") }
            let client = try subject.client {
                $0.addresses.hostOverrides = [try .init("nowhere.invalid:1:127.0.0.1")]
            }
            let request = try HTTP.Request(url: server.url("/", host: "nowhere.invalid"))
            try await client.outcome(of: request).expectFailure(.dns)
        },
        ConformanceCheck(
            "TLS verifies the original name of an overridden host",
            needs: [.network, .hostOverrides, .customTrustRoots]
        ) { subject in
            let certificates = try TestCertificates.shared()
            let server = try ScriptedServer.responding(.init(tls: certificates.server)) { _ in .ok("done") }
            let client = try subject.client { configuration in
                configuration.tls.trustRoots = .file(path: certificates.caFile)
                configuration.addresses.hostOverrides = [
                    try .init("a.test:\(server.port):127.0.0.1"), try .init("c.test:\(server.port):127.0.0.1"),
                ]
            }
            try expectBytes(await client.get(server.url("/", host: "a.test")).value, "done".utf8)
            try expectEqual(server.connections.first?.tls?.serverName, "a.test", "SNI")
            // The certificate is for another name.
            try await client.outcome(of: HTTP.Request(url: server.url("/", host: "c.test"))).expectFailure(.tls)
        },
        ConformanceCheck(
            "A trailing dot in a host changes no override and no reroute",
            needs: [.network, .hostOverrides]
        ) { subject in
            let server = try ScriptedServer.responding { _ in .ok("done") }
            for name in ["nowhere.invalid", "nowhere.invalid."] {
                let overriding = try subject.client {
                    $0.addresses.hostOverrides = [
                        try .init(host: name, port: Int(server.port), addresses: ["127.0.0.1"])
                    ]
                }
                let rerouting = try subject.client {
                    $0.addresses.reroutes = [try .init(host: name, port: nil, toHost: "127.0.0.1", toPort: nil)]
                }
                for client in [overriding, rerouting] {
                    for host in ["nowhere.invalid", "nowhere.invalid."] {
                        try expectBytes(await client.get(server.url("/", host: host)).value, "done".utf8)
                    }
                }
            }
        },
        ConformanceCheck("All names can be overridden at once", needs: [.network, .hostOverrides]) { subject in
            let server = try ScriptedServer.responding { .ok($0["Host"] ?? "") }
            let client = try subject.client {
                $0.addresses.hostOverrides = [try .init("*:\(server.port):127.0.0.1")]
            }
            for host in ["a.invalid", "b.invalid"] {
                try expectBytes(await client.get(server.url("/", host: host)).value, "\(host):\(server.port)".utf8)
            }
        },
        ConformanceCheck("A reroute applies only to the host and port it names", needs: [.network, .hostOverrides]) {
            subject in
            let (here, there) = (
                try ScriptedServer.responding { .ok("here \($0["Host"] ?? "")") },
                try ScriptedServer.responding { .ok("there \($0["Host"] ?? "")") }
            )
            let client = try subject.client {
                $0.addresses.reroutes = [try .init("nowhere.invalid:81:127.0.0.1:\(there.port)")]
            }
            try expectBytes(await client.get("http://nowhere.invalid:81/").value, "there nowhere.invalid:81".utf8)
            try expectBytes(await client.get(here.url()).value, "here \(here.authority)".utf8)
        },
        ConformanceCheck(
            "A resolved address is cached for the configured time",
            needs: [.network, .dnsCacheAge, .heldLookups]
        ) {
            subject in
            let server = try ScriptedServer.responding { _ in .ok("done", headers: [("Connection", "close")]) }
            for (age, expected) in [(Duration.seconds(60), 1), (.zero, 3)] {
                let client = try subject.client { $0.addresses.dnsCacheAge = age }
                let name = HeldLookups.nameOfThisMachine
                let before = HeldLookups.count(of: name)
                _ = try await client.get(server.url("/", host: name))
                // Some libraries look up each family.
                let once = HeldLookups.count(of: name) - before
                try expect((1...2).contains(once), "One fetch made \(once) lookups")
                for _ in 2...3 { _ = try await client.get(server.url("/", host: name)) }
                try expectEqual(HeldLookups.count(of: name) - before, expected * once, "lookups, kept for \(age)")
            }
        },
    ]

    private static let chosenFamilies: [ConformanceCheck] = [
        ConformanceCheck(
            "The chosen address family is used",
            needs: [.network, .addressFamily, .hostOverrides]
        ) {
            subject in
            let v4 = try ScriptedServer.responding { _ in .ok("v4") }
            var options = ScriptedServer.Options()
            (options.loopback, options.port) = (.v6, v4.port)
            let v6 = try ScriptedServer.responding(options) { _ in .ok("v6") }
            for (family, expected) in [(Network.Configuration.Addresses.Family.ipv4, "v4"), (.ipv6, "v6")] {
                let client = try subject.client { configuration in
                    configuration.addresses.family = family
                    configuration.addresses.hostOverrides = [try .init("dual.test:\(v4.port):[::1],127.0.0.1")]
                }
                try expectBytes(await client.get("http://dual.test:\(v4.port)/").value, expected.utf8)
            }
            withExtendedLifetime(v6) {}
        },
        ConformanceCheck(
            "An unresponsive address does not delay the other address family",
            needs: [.network, .addressFamily, .hostOverrides],
            rests: [.rfc(8305)]
        ) { subject in
            let dead = try UnresponsivePort(on: .v6)
            var options = ScriptedServer.Options()
            options.port = dead.port
            let server = try ScriptedServer.responding(options) { _ in .ok("v4") }
            let client = try subject.client { configuration in
                configuration.addresses.happyEyeballsDelay = .milliseconds(20)
                configuration.addresses.hostOverrides = [try .init("dual.test:\(dead.port):[::1],127.0.0.1")]
            }
            let fetched = try await client.get("http://dual.test:\(dead.port)/")
            try expectBytes(fetched.value, "v4".utf8)
            // The system would try the dead address for minutes.
            try expect(
                fetched.response.metrics.total < .seconds(10),
                "The fetch took \(fetched.response.metrics.total)"
            )
            withExtendedLifetime(server) {}
        },
        ConformanceCheck(
            "An IPv6 address with a zone is reached",
            needs: [.network, .addressFamily, .ipv6Literals],
            rests: [.rfc(9844, "6")]
        ) {
            subject in
            var options = ScriptedServer.Options()
            options.loopback = .v6
            let server = try ScriptedServer.responding(options) { _ in .ok("done") }
            let client = try subject.client()
            try expectBytes(await client.get("http://[::1%25lo]:\(server.port)/").value, "done".utf8)
            // The zone is only valid on this machine (RFC 9844 section 6).
            try expectEqual(server.requests.first?["Host"], "[::1]:\(server.port)", "Host")
        },
    ]

    private static let localEnds: [ConformanceCheck] = [
        ConformanceCheck("Connections come from the chosen local address", needs: [.network, .localAddress]) {
            subject in
            let server = try ScriptedServer.responding { _ in .ok("done") }
            let client = try subject.client { $0.addresses.localAddress = "127.0.0.9" }
            _ = try await client.get(server.url())
            try expect(
                server.connections.first?.peer.hasPrefix("127.0.0.9:") ?? false,
                "\(server.connections.map(\.peer))"
            )
        },
        ConformanceCheck("Connections come from a local address written in brackets", needs: [.network, .localAddress])
        {
            subject in
            var options = ScriptedServer.Options()
            options.loopback = .v6
            let server = try ScriptedServer.responding(options) { _ in .ok("done") }
            let client = try subject.client { $0.addresses.localAddress = "[::1]" }
            try expectBytes(await client.get(server.url()).value, "done".utf8)
        },
        ConformanceCheck("Connections come from the chosen interface", needs: [.network, .localAddress]) {
            subject in
            let server = try ScriptedServer.responding { _ in .ok("done") }
            _ = try await subject.client { $0.addresses.interface = "lo" }.get(server.url())
            let nowhere = try subject.client { $0.addresses.interface = "nowhere0" }
            _ = try await nowhere.breakdown(HTTP.Request(url: server.url()))
            try expectEqual(server.snapshot.accepted, 1, "connections")
        },
        ConformanceCheck("Connections come from the chosen local ports", needs: [.network, .localAddress]) {
            subject in
            let server = try ScriptedServer.responding { _ in .ok("done") }
            // Ten ports around a free one: another process may take one of them meanwhile.
            let base = Int(try ClosedPort.reserve().port)
            let ports = max(1024, base - 5)...min(65535, base + 5)
            _ = try await subject.client { $0.addresses.localPorts = ports }.get(server.url())
            let port = server.connections.first.flatMap { Int($0.peer.split(separator: ":").last ?? "") }
            try expect(port.map(ports.contains) ?? false, "The connection came from \(server.connections.map(\.peer))")
        },
    ]
}
